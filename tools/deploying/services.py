"""Which services are deployed, and what is peculiar to each."""

from dataclasses import dataclass
from pathlib import Path

from shared.contracts import ROUTES, Route

ROOT = Path(__file__).parents[2]
SIMULATOR = "simulator"
UNREADY_S, GRACE_S, SPARE_S = 6, 30, 9
"""Unready longer than a readiness probe's period; then time to finish; then some to close."""
LONGEST_CALL_S = 130
"""Longer than the generator's BIASWATCH_GENERATOR_TIMEOUT_S, which a test holds it to."""


@dataclass(frozen=True)
class Peculiar:
    """What differs from a service that only reads and writes records."""

    grace_s: int = GRACE_S
    cpu: str = "100m"
    memory: tuple[str, str] = ("128Mi", "384Mi")
    """Asked for, and the most."""
    port: int | None = None
    """Where it is asked over HTTP, beside health and metrics."""
    secrets: tuple[str, ...] = ()
    """Settings in files that this service has and others have not."""
    variables: tuple[str, ...] = ()
    """Settings that whoever starts compose may give."""


PECULIAR = {
    "generator": Peculiar(
        grace_s=LONGEST_CALL_S,
        memory=("192Mi", "768Mi"),
        secrets=("biaswatch_openai_api_key", "biaswatch_anthropic_api_key"),
    ),
    "extractor": Peculiar(cpu="500m", memory=("192Mi", "768Mi")),
    "diagnoser": Peculiar(cpu="500m", memory=("384Mi", "2Gi")),
    "gateway": Peculiar(
        port=8080,
        secrets=(
            "biaswatch_gateway_run_token",
            "biaswatch_gateway_read_token",
            "biaswatch_gateway_ingest_token",
        ),
    ),
    "planner": Peculiar(variables=("BIASWATCH_PLANNER_RECONCILE_S",)),
    SIMULATOR: Peculiar(port=8090),
}


def peculiar(service: str) -> Peculiar:
    """Return what is peculiar to a service."""
    return PECULIAR.get(service, Peculiar())


def startable() -> list[str]:
    """Return every service that can be started."""
    return sorted(path.parent.name for path in (ROOT / "services").glob("*/app.py"))


def on_the_bus() -> list[str]:
    """Return every service but the simulator: each has a key, a store, health and metrics."""
    return [name for name in startable() if name != SIMULATOR]


def secrets_of(service: str) -> tuple[str, ...]:
    """Name the files of secrets a service has beside its key."""
    return ("biaswatch_store_url", *peculiar(service).secrets)


def read_by(service: str) -> list[Route]:
    """Return the routes a service reads."""
    return [route for route in ROUTES if service in route.consumers]
