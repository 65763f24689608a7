"""What a closed round brought, in whole numbers that add up, and what stands behind them."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from services.diagnoser.domain.monitors.round_answers import ComparedSets
from shared.contracts import Claim, Description

Counts = dict[str, tuple[int, ...]]
"""The state of one comparison's evidence, by the name of each part."""


@dataclass(frozen=True)
class RoundCounts:
    """What a round adds to one comparison, and how many units it could not count."""

    counts: Counts
    missing: int


@dataclass(frozen=True)
class RoundScope:
    """Which round of which claim is counted."""

    claim: Claim
    round: int

    def unit_id(self, set_id: str) -> str:
        """Return the id of what counts as one unit: (set, round) of a bank, else the set."""
        return f"{set_id}@{self.round}" if self.claim is Claim.BANK else set_id


@dataclass(frozen=True)
class RoundData:
    """A round by comparison, whether a suite was asked or traffic was watched."""

    counted: Mapping[str, RoundCounts]
    outside: Mapping[str, int]
    """Values beyond the declared range."""
    sets: Mapping[str, ComparedSets] = field(default_factory=dict)
    """The twins, for alarms to show; traffic has none."""
    described: tuple[Description, ...] = ()
    """What a window of traffic looked like."""


def summed(a: Counts, b: Counts) -> Counts:
    """Return the counts of disjoint units together."""
    both = {name: zip(a[name], b[name], strict=True) for name in sorted(a)}
    return {name: tuple(x + y for x, y in places) for name, places in both.items()}
