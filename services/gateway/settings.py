"""The settings of the gateway, and the targets that requests may name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, SecretStr

from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.identity import Token
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.contracts.suite_limits import (
    MOST_MONITORS,
    MOST_PROBES,
    MOST_RUNS,
    MOST_SUITES,
)
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.settings import Settings

ANY = "*"
OWN_SERVERS = tuple(
    f"{name}:*" for name, provider in PROVIDERS.items() if provider.request_model is None
)
"""The providers' own servers, the simulator and recorded answers: no address of a request's own."""
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class AllowedTargets:
    """Patterns such as `openai:gpt-5*`, `openai:*@https://llm.example/v1`, `http:https://a.example`.

    A `*` stands for any characters of a model, or of a host; without an address, a pattern is about
    providers' own servers. An address allows everything below its path.
    """

    patterns: tuple[str, ...] = (ANY,)

    def check(self, targets: Iterable[Target]) -> None:
        """Refuse targets that no pattern allows.

        Raises
        ------
        UsageError
            With the first of them, and who can change that.
        """
        for target in targets:
            if not any(_allows(pattern, target) for pattern in self.patterns):
                raise UsageError(
                    f"This gateway does not allow the target {target.name!r}. Whoever operates it"
                    " can allow it with BIASWATCH_GATEWAY_TARGETS; allowed are"
                    f" {', '.join(self.patterns) or 'none'}."
                )


EVERY_TARGET = AllowedTargets()


def check_pattern(pattern: str) -> str:
    """Return a pattern that can allow something; raise ValueError for another."""
    provider, _, rest = pattern.partition(":")
    if pattern != ANY and (not rest or (provider != ANY and provider not in PROVIDERS)):
        raise ValueError(f"{pattern!r} is no pattern of targets; write openai:*, or * for all")
    return pattern


def _allows(pattern: str, target: Target) -> bool:
    if pattern == ANY:
        return True
    provider, _, rest = pattern.partition(":")
    if provider not in {ANY, target.provider} or target.provider not in PROVIDERS:
        return False
    described = PROVIDERS[target.provider].request_model is not None
    model, at, address = (ANY, "@", rest) if described else rest.partition("@")
    if not _matches(model, target.model):
        return False
    if target.base_url is None:
        return not at
    return bool(at) and _is_below(urlsplit(address), urlsplit(target.base_url))


def _is_below(allowed: SplitResult, named: SplitResult) -> bool:
    """Return whether an address is on the allowed server, and at or below its path."""
    same_server = allowed.scheme == named.scheme and _port(allowed) == _port(named)
    if not same_server or not _matches(allowed.hostname or "", named.hostname or ""):
        return False
    path = allowed.path.rstrip("/")
    climbs = ".." in named.path.split("/") or "%" in named.path
    return not path or named.path == path or (named.path.startswith(f"{path}/") and not climbs)


def _port(address: SplitResult) -> int | None:
    try:
        return address.port or PORTS.get(address.scheme)
    except ValueError:  # not a port
        return None


def _matches(pattern: str, text: str) -> bool:
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), text, re.DOTALL) is not None


class GatewaySettings(Settings):
    """The gateway's own settings, beside those of every service."""

    gateway_host: str = "127.0.0.1"
    """The address it listens on; beyond this machine only with tokens."""
    gateway_port: int = Field(default=8080, ge=0, le=65535)
    """The port it listens on; 0 takes a free one."""
    gateway_tokens_file: Path | None = None
    """The file that names tokens with their roles and tenants (`biaswatch tokens`); read again when
    it changes. Without it and the three tokens below, everybody on this machine may do everything.
    """
    gateway_read_token: SecretStr | None = None
    """Allows reading, texts too, in the tenant `default`."""
    gateway_run_token: SecretStr | None = None
    """Allows reading and starting runs, which spends money, in the tenant `default`."""
    gateway_operator_token: SecretStr | None = None
    """Allows what the run token does, to the operator of Kubernetes resources: a token of its own,
    so that the audit trail tells what it did."""
    gateway_ingest_token: SecretStr | None = None
    """Allows sending production answers, and nothing else, in the tenant `default`."""
    gateway_redaction_file: Path | None = None
    """The file that names what is replaced in production answers before anything is stored."""
    gateway_mapping_file: Path | None = None
    """The file that says which attributes of spans name the unit, the groups and the strata."""
    gateway_evaluations_url: str | None = Field(default=None, pattern=r"^https?://[^\s@?#]+$")
    """Where measurements of answers that came with a span are sent as OTLP log events: the whole
    address, such as https://collector.example/v1/logs. Without it, nothing is sent."""
    gateway_evaluations_headers_file: Path | None = None
    """YAML: the headers that address asks for, such as Authorization; read at every use."""
    gateway_evaluations_private_hosts: tuple[str, ...] = ()
    """Hosts of that address that may have private addresses, as JSON: `["otel-collector"]`."""
    gateway_evaluations_tenants: tuple[Token, ...] = ("default",)
    """The tenants whose measurements are sent there, as JSON."""
    gateway_extractor_age_s: float = Field(default=60, gt=0)
    """How long after its last announcement an extractor still counts as running."""
    gateway_header_s: float = Field(default=20, gt=0)
    """How long a client may take for the head of a request before its connection is closed."""
    gateway_body_s: float = Field(default=60, gt=0)
    """How long a request's body may take, beside a second for every 64 KiB of it."""
    gateway_run_probes: int = Field(default=MOST_PROBES, ge=1)
    """How many questions one run, or one round of a monitor, may ask: probes x targets x scaffolds
    x repeats; each is a question that somebody pays for, and about 6 KB of the store."""
    gateway_suites: int = Field(default=MOST_SUITES, ge=1)
    """How many suites each tenant may keep."""
    gateway_monitors: int = Field(default=MOST_MONITORS, ge=1)
    """How many monitors each tenant may have, those that are paused or have ended included."""
    gateway_runs_under_way: int = Field(default=MOST_RUNS, ge=1)
    """How many runs of each tenant may be under way at once; rounds of monitors do not count."""
    gateway_targets: tuple[Annotated[str, AfterValidator(check_pattern)], ...] | None = None
    """The targets that requests may name, as JSON: `["openai:gpt-5*", "openai:*@https://llm.example/v1",
    "http:https://app.example/ask"]`, or `["*"]`. Unless set: the providers' own servers, the
    simulator and recorded answers; without any token, which is this machine alone, every target."""

    @property
    def guarded(self) -> bool:
        """Whether requests need a token."""
        tokens = (
            self.gateway_read_token,
            self.gateway_run_token,
            self.gateway_operator_token,
            self.gateway_ingest_token,
        )
        return self.gateway_tokens_file is not None or any(tokens)

    @property
    def evaluated_tenants(self) -> tuple[str, ...]:
        """Return the tenants whose measurements go back to the traces of their answers."""
        return self.gateway_evaluations_tenants if self.gateway_evaluations_url else ()

    @property
    def allowed_targets(self) -> AllowedTargets:
        """Return which targets requests may name."""
        unless_set = OWN_SERVERS if self.guarded else (ANY,)
        given = self.gateway_targets
        return AllowedTargets(unless_set if given is None else given)
