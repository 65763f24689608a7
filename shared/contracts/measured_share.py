"""How many answers about each side of a comparison gave a number, and how many are enough."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

LEAST_MEASURED_SHARE = 0.8
"""With a smaller share of measured answers in a group, a gate counts as not measured."""
MOST_REASONS = 3
"""Reasons for missing answers that one sentence names, the most frequent first."""


class CountedGroup(Protocol):
    """A group whose answers are counted."""

    @property
    def group(self) -> str:
        """Its name."""

    @property
    def responses(self) -> int:
        """Answers asked for."""

    @property
    def missing(self) -> int:
        """Answers without a number."""

    @property
    def missing_reasons(self) -> Mapping[str, int]:
        """Why numbers are missing, with counts."""


@dataclass(frozen=True)
class GroupCounts:
    """The counts of a group alone."""

    group: str
    responses: int
    missing: int
    missing_reasons: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class MeasuredAnswers:
    """The answers about one side of a comparison."""

    group: str
    measured: int
    """Answers that gave a number."""
    requested: int
    reasons: Mapping[str, int] = field(default_factory=dict)
    """Why the others gave none, with counts."""

    @property
    def is_empty(self) -> bool:
        """True where answers are missing and none gave a number."""
        return self.requested > 0 and not self.measured

    def is_enough(self, least_share: float) -> bool:
        """Return whether at least this share of the answers gave a number, and not none."""
        return self.measured > 0 and self.measured / self.requested >= least_share

    def without(self, part: "MeasuredAnswers", name: str) -> "MeasuredAnswers":
        """Return these answers less those about a part of them."""
        return MeasuredAnswers(
            name,
            self.measured - part.measured,
            self.requested - part.requested,
            Counter(self.reasons) - Counter(part.reasons),
        )

    def in_words(self) -> str:
        """Return the counts in words: `3 of 10 answers about b gave a number (7 refused)`."""
        if not self.requested:
            return f"0 answers about {self.group}"
        frequent = sorted(self.reasons.items(), key=lambda item: (-item[1], item[0]))
        listed = ", ".join(f"{n} {why.replace('_', ' ')}" for why, n in frequent[:MOST_REASONS])
        because = f" ({listed})" if listed else ""
        counts = f"{self.measured:,} of {self.requested:,} answers"
        return f"{counts} about {self.group} gave a number{because}"


class GroupAnswerCounts:
    """The groups of one finding, whose answers are counted once for all its comparisons."""

    def __init__(self, groups: Iterable[CountedGroup]) -> None:
        counted = list(groups)
        self._groups = {group.group: _combined(group.group, [group]) for group in counted}
        self._total = _combined("", counted)
        self._rests: dict[tuple[str, str], MeasuredAnswers] = {}
        self._has_empty = any(group.is_empty for group in self._groups.values())

    def sides(self, a: str, b: str) -> tuple[MeasuredAnswers, MeasuredAnswers]:
        """Return the answers of both sides of a comparison of `a` with `b`.

        A second side with another name than a group's is all other groups together.
        """
        first = self._groups.get(a) or _combined(a, [])
        if b in self._groups:
            return first, self._groups[b]
        if (a, b) not in self._rests:
            self._rests[a, b] = self._total.without(first, b)
        return first, self._rests[a, b]

    def is_unmeasured(self, a: str, b: str) -> bool:
        """Return whether one side of a comparison has no measured answer at all."""
        return self._has_empty and any(side.is_empty for side in self.sides(a, b))


def _combined(name: str, groups: Iterable[CountedGroup]) -> MeasuredAnswers:
    measured, requested, reasons = 0, 0, Counter[str]()
    for group in groups:
        measured += group.responses - group.missing
        requested += group.responses
        reasons.update(group.missing_reasons)
    return MeasuredAnswers(name, measured, requested, reasons)
