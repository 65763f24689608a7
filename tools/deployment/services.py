"""Which services are deployed, and how each differs from the usual one."""

from dataclasses import dataclass
from pathlib import Path

from biaswatch.shared.contracts import ROUTES, Route
from biaswatch.shared.contracts.providers import key_variables

ROOT = Path(__file__).parents[2]
SIMULATOR, OPERATOR = "simulator", "operator"
NOT_ON_BUS = {SIMULATOR, OPERATOR}
"""Services without a key, a store and settings of the platform."""
OPERATOR_SECRET = "biaswatch-operator-token"  # noqa: S105 - the name of a Secret
OPERATOR_TOKEN, GATEWAY_OPERATOR_TOKEN = (
    "biaswatch_operator_token",
    "biaswatch_gateway_operator_token",
)
"""The operator's file and the gateway's, with the same token."""
UNREADY_S, GRACE_S, SPARE_S = 6, 30, 9
"""Seconds unready, longer than a readiness probe's period; then to finish; then to close."""
LONGEST_CALL_S = 130
"""Longer than the generator's BIASWATCH_GENERATOR_TIMEOUT_S, which a test holds it to."""

PROVIDER_KEYS = tuple(f"biaswatch_{name.lower()}" for name in key_variables())
"""The files with the keys of model providers."""
ARRAYS_GIVEN_BACK = (("MALLOC_MMAP_THRESHOLD_", str(2**20)),)
"""Arrays of more bytes go back to the system at once: else a seventh of the most is left over."""


@dataclass(frozen=True)
class ServiceSpec:
    """What a service needs; the defaults are those of one that only reads and writes records."""

    grace_s: int = GRACE_S
    cpu: str = "100m"
    memory: tuple[str, str] = ("128Mi", "384Mi")
    """Request and limit."""
    scratch: str = "64Mi"
    """The most that its temporary files may take."""
    port: int | None = None
    """The port of its HTTP API, beside the one for health and metrics."""
    secrets: tuple[str, ...] = ()
    """Files of secrets that only this service has."""
    variables: tuple[str, ...] = ()
    """Settings that the environment of `docker compose` may set."""
    environment: tuple[tuple[str, str], ...] = ()
    """What else the environment of its container in Kubernetes holds."""


SERVICE_SPECS = {
    "generator": ServiceSpec(
        grace_s=LONGEST_CALL_S, memory=("192Mi", "768Mi"), secrets=PROVIDER_KEYS
    ),
    "extractor": ServiceSpec(cpu="500m", memory=("192Mi", "768Mi")),
    "diagnoser": ServiceSpec(
        cpu="500m",
        memory=("384Mi", "2Gi"),
        scratch="4Gi",  # a window of traffic lies in files while it is counted
        environment=ARRAYS_GIVEN_BACK,
    ),
    "gateway": ServiceSpec(
        port=8080,
        secrets=(
            "biaswatch_gateway_run_token",
            GATEWAY_OPERATOR_TOKEN,
            "biaswatch_gateway_read_token",
            "biaswatch_gateway_ingest_token",
        ),
        memory=("160Mi", "512Mi"),  # benchmarks/gateway_memory.py: below 400 MiB
        scratch="1Gi",  # large requests, and readings of a window while answers are drawn of them
    ),
    "planner": ServiceSpec(variables=("BIASWATCH_PLANNER_RECONCILE_S",)),
    SIMULATOR: ServiceSpec(port=8090),
    OPERATOR: ServiceSpec(cpu="50m", memory=("96Mi", "256Mi"), grace_s=10),
}


def spec_of(service: str) -> ServiceSpec:
    """Return the spec of a service."""
    return SERVICE_SPECS.get(service, ServiceSpec())


def service_names() -> list[str]:
    """Return every service that can be started."""
    return sorted(path.parent.name for path in (ROOT / "services").glob("*/app.py"))


def bus_services() -> list[str]:
    """Return the services that have a key, a store, health and metrics, wherever they run."""
    return [name for name in service_names() if name not in NOT_ON_BUS]


def secrets_of(service: str) -> tuple[str, ...]:
    """Return the names of the secret files a service has beside its bus key."""
    return ("biaswatch_store_url", *spec_of(service).secrets)


def routes_read_by(service: str) -> list[Route]:
    """Return the routes a service reads wherever it runs."""
    return [
        route
        for route in ROUTES
        if service in route.consumers and service not in route.where_chosen
    ]
