"""What a drill reports, and whether it passed."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class NotRunError(Exception):
    """The machine lacks what a drill needs; the message says what."""


@dataclass(frozen=True)
class Outcome:
    """Counts of a drill."""

    checked: int = 0
    """Records that were looked for, or attacks that were made."""
    lost: int = 0
    twice: int = 0
    exits: int = 0
    """Processes that ended unexpectedly, or did not end when told to."""
    faults: tuple[str, ...] = ()
    """Everything else that is wrong, a sentence each."""
    note: str = ""

    def __add__(self, other: "Outcome") -> "Outcome":
        return Outcome(
            self.checked + other.checked,
            self.lost + other.lost,
            self.twice + other.twice,
            self.exits + other.exits,
            self.faults + other.faults,
            "; ".join(filter(None, (self.note, other.note))),
        )


@dataclass(frozen=True)
class Drill:
    """A scripted fault."""

    name: str
    what: str
    """The fault, in a few words."""
    run: Callable[[Path, int], Awaitable[Outcome]]
    """Called with an empty folder, and with how often to repeat a fault."""
    times: int = 10
    """Repetitions unless told otherwise; 1 where the fault happens once."""
    limit_s: float = 900.0
    """Duration after which the drill counts as hung."""


class State(StrEnum):
    """What became of a drill."""

    PASSED = "passed"
    FAILED = "FAILED"
    NOT_RUN = "not run"


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    drill: str
    state: State
    seconds: float
    outcome: Outcome = Outcome()
    peaks_mib: Mapping[str, float] = field(default_factory=dict)
    """Peak of resident memory by program."""


def over_limits(peaks: Mapping[str, float], limits: Mapping[str, int]) -> list[str]:
    """Return a sentence for each service whose peak exceeds its limit in the chart."""
    return [
        f"The {name} took {peaks[name]:.0f} MiB; the chart allows {limit} MiB."
        for name, limit in limits.items()
        if peaks.get(name, 0) > limit
    ]


def state_of(outcome: Outcome) -> State:
    """Return whether all numbers are 0; a drill without a check has not passed."""
    wrong = outcome.lost or outcome.twice or outcome.exits or outcome.faults
    return State.FAILED if wrong or not outcome.checked else State.PASSED


def exit_code(rows: Sequence[Row]) -> int:
    """Return 1 if a drill failed, 3 if one was not run, else 0."""
    states = {row.state for row in rows}
    return 1 if State.FAILED in states else 3 if State.NOT_RUN in states else 0
