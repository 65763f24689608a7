"""What one reader of the store may see: one tenant or all, with texts or without."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Scope:
    """A part of the store; what lies outside is as if it were not there."""

    tenant: str | None = None
    """The only tenant whose records are seen and written; None for every tenant, for services."""
    texts: bool = True
    """Whether texts are seen; without them, records read as if their texts had been purged."""


EVERYTHING = Scope()
ScopeNow = Callable[[], Scope]
"""Returns the scope of whoever reads at this moment."""


def everything() -> Scope:
    """Return the scope of a service: it sees all there is."""
    return EVERYTHING
