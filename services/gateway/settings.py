"""The settings of the gateway, and the targets that requests may name."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult, urlsplit

from pydantic import AfterValidator, Field, SecretStr

from biaswatch.shared.contracts import Target, Token
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.contracts.suite_limits import (
    MOST_MONITORS,
    MOST_PROBES,
    MOST_RUNS,
    MOST_SEARCHES,
    MOST_SUITES,
)
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.settings import Settings

ANY = "*"
OWN_SERVERS = tuple(
    f"{name}:*" for name, provider in PROVIDERS.items() if provider.request_model is None
)
"""Patterns of targets without an address in the request: providers' own servers, the simulator
and recorded answers."""
PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True)
class AllowedTargets:
    """Patterns such as `openai:gpt-5*`, `openai:*@https://llm.example/v1`, `http:https://a.example`.

    A `*` matches any characters of a model or a host. A pattern without an address matches
    providers' own servers; one with an address allows everything below its path.
    """

    patterns: tuple[str, ...] = (ANY,)

    def check(self, targets: Iterable[Target]) -> None:
        """Raise UsageError for the first target that no pattern allows."""
        for target in targets:
            if not any(_allows(pattern, target) for pattern in self.patterns):
                raise UsageError(
                    f"This gateway does not allow the target {target.name!r}. Its operator can"
                    " allow it with BIASWATCH_GATEWAY_TARGETS; allowed are"
                    f" {', '.join(self.patterns) or 'none'}."
                )


EVERY_TARGET = AllowedTargets()


def check_pattern(pattern: str) -> str:
    """Return a valid pattern of targets; raise ValueError for an invalid one."""
    provider, _, rest = pattern.partition(":")
    if pattern != ANY and (not rest or (provider != ANY and provider not in PROVIDERS)):
        raise ValueError(f"{pattern!r} is not a pattern of targets; write openai:*, or * for all")
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


def _is_below(allowed: SplitResult, address: SplitResult) -> bool:
    """Return whether an address is on the allowed server, at or below its path."""
    same_server = allowed.scheme == address.scheme and _port(allowed) == _port(address)
    if not same_server or not _matches(allowed.hostname or "", address.hostname or ""):
        return False
    path = allowed.path.rstrip("/")
    climbs = ".." in address.path.split("/") or "%" in address.path
    return not path or address.path == path or (address.path.startswith(f"{path}/") and not climbs)


def _port(address: SplitResult) -> int | None:
    try:
        return address.port or PORTS.get(address.scheme)
    except ValueError:  # not a port
        return None


def _matches(pattern: str, text: str) -> bool:
    parts = (re.escape(part) for part in pattern.split("*"))
    return re.fullmatch(".*".join(parts), text, re.DOTALL) is not None


class GatewaySettings(Settings):
    """Settings of the gateway, in addition to those of every service."""

    gateway_host: str = "127.0.0.1"
    """Address to listen on; other than this machine only with tokens."""
    gateway_port: int = Field(default=8080, ge=0, le=65535)
    """Port to listen on; 0 takes a free one."""
    gateway_tokens_file: Path | None = None
    """The file that names tokens with their roles and tenants (`biaswatch admin tokens`); read
    again when it changes. Without it and the tokens below, every program on this machine may do
    everything.
    """
    gateway_read_token: SecretStr | None = None
    """Token to read, texts included, in the tenant `default`."""
    gateway_run_token: SecretStr | None = None
    """Token to read and to start runs, which spends money, in the tenant `default`."""
    gateway_operator_token: SecretStr | None = None
    """Token with the rights of the run token for the Kubernetes operator: a separate one, so that
    the audit trail shows its acts."""
    gateway_ingest_token: SecretStr | None = None
    """Token to send production answers, and for nothing else, in the tenant `default`."""
    gateway_oidc_issuer: str | None = Field(default=None, pattern=r"^https?://[^\s@?#]+$")
    """OpenID Connect issuer that signs people in, as it writes its own address. What they may do
    follows from `groups` in the tokens file."""
    gateway_oidc_client: str | None = None
    """Client of the issuer for pages, with a secret."""
    gateway_oidc_secret: SecretStr | None = None
    """Secret of that client; it also signs the sessions of pages."""
    gateway_oidc_cli_client: str | None = None
    """Public client of the issuer for `biaswatch login`, with the device flow."""
    gateway_oidc_audiences: tuple[str, ...] = ()
    """Audiences of accepted tokens in addition to these clients, as JSON."""
    gateway_oidc_groups_claim: str = Field(default="groups", min_length=1)
    """Claim with the groups of a person, or a path such as `realm_access.roles`."""
    gateway_oidc_scopes: str = "openid profile email"
    """Scopes to ask for, separated by spaces; some issuers need `groups` and `offline_access`."""
    gateway_redaction_file: Path | None = None
    """File of what is redacted in production answers before anything is stored."""
    gateway_mapping_file: Path | None = None
    """File of the span attributes that name the unit, the groups and the strata."""
    gateway_evaluations_url: str | None = Field(default=None, pattern=r"^https?://[^\s@?#]+$")
    """Complete address to which measurements of answers with a span are sent as OTLP log events,
    such as https://collector.example/v1/logs. Without it, nothing is sent."""
    gateway_evaluations_headers_file: Path | None = None
    """YAML file of the headers for that address, such as Authorization; read at every use."""
    gateway_evaluations_private_hosts: tuple[str, ...] = ()
    """Hosts of that address that may have private addresses, as JSON: `["otel-collector"]`."""
    gateway_evaluations_tenants: tuple[Token, ...] = ("default",)
    """Tenants whose measurements are sent there, as JSON."""
    gateway_extractor_age_s: float = Field(default=60, gt=0)
    """How long an extractor counts as running after its last announcement."""
    gateway_header_s: float = Field(default=20, gt=0)
    """Time limit for the head of a request; then its connection is closed."""
    gateway_body_s: float = Field(default=60, gt=0)
    """Time limit for the body of a request, plus a second for every 64 KiB of it."""
    gateway_run_probes: int = Field(default=MOST_PROBES, ge=1)
    """Maximum number of questions of a run, or of a round of a monitor: probes x targets x
    scaffolds x repeats. Each is a paid call, and about 6 KB of the store."""
    gateway_suites: int = Field(default=MOST_SUITES, ge=1)
    """Maximum number of suites of a tenant."""
    gateway_monitors: int = Field(default=MOST_MONITORS, ge=1)
    """Maximum number of monitors of a tenant, including paused and ended ones."""
    gateway_runs_under_way: int = Field(default=MOST_RUNS, ge=1)
    """Maximum number of runs of a tenant at one time; rounds of monitors do not count."""
    gateway_searches_under_way: int = Field(default=MOST_SEARCHES, ge=1)
    """Maximum number of searches of a tenant at one time; their rounds do not count as runs."""
    gateway_targets: tuple[Annotated[str, AfterValidator(check_pattern)], ...] | None = None
    """Targets that requests may name, as JSON: `["openai:gpt-5*", "openai:*@https://llm.example/v1",
    "http:https://app.example/ask"]`, or `["*"]`. Default: providers' own servers, the
    simulator and recorded answers; without any token (this machine only), every target."""

    @property
    def guarded(self) -> bool:
        """True if requests need a token."""
        credentials = (
            self.gateway_oidc_issuer,
            self.gateway_read_token,
            self.gateway_run_token,
            self.gateway_operator_token,
            self.gateway_ingest_token,
        )
        return self.gateway_tokens_file is not None or any(credentials)

    @property
    def evaluated_tenants(self) -> tuple[str, ...]:
        """Tenants whose measurements go back to the traces of their answers."""
        return self.gateway_evaluations_tenants if self.gateway_evaluations_url else ()

    @property
    def allowed_targets(self) -> AllowedTargets:
        """Targets that requests may name."""
        if self.gateway_targets is not None:
            return AllowedTargets(self.gateway_targets)
        return AllowedTargets(OWN_SERVERS if self.guarded else (ANY,))
