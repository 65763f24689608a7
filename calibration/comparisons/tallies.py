"""Counts of what a procedure did in the runs of a shape; counts of parts add up."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from typing import Any


@dataclass
class MeanOverRuns:
    """A mean over runs, of the share of a run's comparisons of which something holds."""

    runs: int = 0
    total: float = 0.0

    def add(self, holds: Iterable[bool]) -> None:
        """Add a run, unless it has none of the comparisons in question."""
        values = list(holds)
        if values:
            self.runs += 1
            self.total += sum(values) / len(values)

    @property
    def share(self) -> float | None:
        """Return the mean; None where no run was in question."""
        return self.total / self.runs if self.runs else None


@dataclass
class Tally:
    """What one procedure did."""

    runs: int = 0
    comparisons: int = 0
    seconds: float = 0.0
    false_disparities: int = 0
    """Runs with any disparity where there is none, or in the wrong direction."""
    beyond: int = 0
    """Runs in which any true gap is at the tolerance or beyond it."""
    false_equivalences: int = 0
    """Those of them in which any of these gaps is called none."""
    disparities: MeanOverRuns = field(default_factory=MeanOverRuns)
    equivalences: MeanOverRuns = field(default_factory=MeanOverRuns)
    shown: MeanOverRuns = field(default_factory=MeanOverRuns)
    covered: MeanOverRuns = field(default_factory=MeanOverRuns)
    all_covered: MeanOverRuns = field(default_factory=MeanOverRuns)
    contradictions: MeanOverRuns = field(default_factory=MeanOverRuns)
    """Verdicts that the interval beside them does not say."""

    def __add__(self, other: Tally) -> Tally:
        """Return both together."""
        sums: dict[str, Any] = {
            f.name: _sum(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        }
        return Tally(**sums)

    @classmethod
    def of(cls, record: dict[str, Any]) -> Tally:
        """Return what was stored."""
        values: dict[str, Any] = {
            name: MeanOverRuns(**value) if isinstance(value, dict) else value
            for name, value in record.items()
        }
        return cls(**values)

    @property
    def disparity_error(self) -> float:
        """Return the share of runs with a false disparity."""
        return self.false_disparities / self.runs

    @property
    def equivalence_error(self) -> float | None:
        """Return the share of runs with a false equivalence; None where none can be false."""
        return self.false_equivalences / self.beyond if self.beyond else None


def _sum(one: Any, other: Any) -> Any:
    if isinstance(one, MeanOverRuns):
        return MeanOverRuns(one.runs + other.runs, one.total + other.total)
    return one + other
