"""Which models a request may name: what is asked over HTTP reaches what the operator allows."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.errors import UsageError

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
