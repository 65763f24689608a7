"""A simulated study whose truth is known, and the shape that studies are drawn from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.contracts import Claim

Floats = NDArray[np.float64]
Rng = np.random.Generator
Bounds = tuple[float, float]
Labels = Sequence[str | None]


class Kind(StrEnum):
    """Kinds of data; a comparator must hold its errors on all shapes of a kind to be a bar."""

    BINARY = "binary"
    BOUNDED = "bounded"
    UNBOUNDED = "unbounded"
    PAIRED_BINARY = "paired binary"
    PAIRED_BOUNDED = "paired bounded"
    PAIRED_UNBOUNDED = "paired unbounded"
    PARTLY_PAIRED = "partly paired"
    CLUSTERED = "clustered"
    CLUSTERED_UNBOUNDED = "clustered unbounded"
    BANK = "bank"
    RARE_FAR_BANK = "bank, rare far answers"
    MISSING = "missing answers"


@dataclass(frozen=True)
class Study:
    """One row per answer, and the true gap of every two groups."""

    values: Floats
    """[rows, features]; nan is a missing answer."""
    groups: Labels
    truth: Mapping[tuple[str, str], Floats]
    """By groups in alphabetical order: the true gap of each feature."""
    units: Labels | None = None
    sets: Labels | None = None

    def gap(self, a: str, b: str, feature: int) -> float:
        """Return the true gap of two groups, or of a group and all others together.

        The latter is known where the others are all alike.
        """
        if (a, b) in self.truth:
            return float(self.truth[a, b][feature])
        with_signs = [
            sign * float(gaps[feature])
            for (one, other), gaps in self.truth.items()
            for sign, group in ((1, one), (-1, other))
            if group == a
        ]
        if len(set(with_signs)) != 1:
            raise ValueError(f"the true gap of {a} and {b} is not known")
        return with_signs[0]


Draw = Callable[[Rng], Study]


@dataclass(frozen=True)
class Shape:
    """What is simulated, and how it is diagnosed."""

    name: str
    kind: Kind
    draw: Draw
    bounds: Bounds | None = None
    tolerance: float = 0.0
    claim: Claim = Claim.POPULATION
    least_power: float | None = None
    """Where the right verdict must be found this often, whatever comparators find."""
    declared: bool = True
    """Whether the product is told the bounds; comparators are always."""
    most_runs: int | None = None
    """Where more would take minutes."""


def two_groups(a: Floats, b: Floats, gap: float) -> Study:
    """Return independent answers of two groups, each a unit of its own."""
    return Study(
        np.concatenate([a, b])[:, None],
        ["a"] * len(a) + ["b"] * len(b),
        {("a", "b"): np.array([gap])},
    )


def twins(a: Floats, b: Floats, gap: float) -> Study:
    """Return counterfactual sets, each with one answer of both groups."""
    sets: Labels = [f"set{place}" for place in range(len(a))]
    return Study(
        np.concatenate([a, b])[:, None],
        ["a"] * len(a) + ["b"] * len(b),
        {("a", "b"): np.array([gap])},
        sets=[*sets, *sets],
    )


def partly_twins(
    paired: tuple[Floats, Floats], alone: tuple[Floats, Floats], gap: float, *, own_sets: bool
) -> Study:
    """Return sets of both groups and answers of one group only.

    With `own_sets` such an answer has a set of its own, without a twin; else it has none.
    """
    shared: Labels = [f"set{place}" for place in range(len(paired[0]))]
    rest: list[Labels] = [
        [f"{side}{place}" if own_sets else None for place in range(len(values))]
        for side, values in zip("ab", alone, strict=True)
    ]
    return Study(
        np.concatenate([paired[0], alone[0], paired[1], alone[1]])[:, None],
        ["a"] * (len(shared) + len(rest[0])) + ["b"] * (len(shared) + len(rest[1])),
        {("a", "b"): np.array([gap])},
        sets=[*shared, *rest[0], *shared, *rest[1]],
    )


def clusters(a: Floats, b: Floats, gap: float, *, sets: bool, shared: bool = False) -> Study:
    """Return rows of answers that belong together: [clusters, answers] of each group.

    With `sets` a cluster is a set of prompts, else a prompt with repeats; with `shared` the n-th
    of both groups is the same set, else each belongs to one group.
    """
    names: Labels = [
        f"set{place}" if shared else f"{side}{place}"
        for side, rows in zip("ab", (a, b), strict=True)
        for place in range(len(rows))
        for _ in range(rows.shape[1])
    ]
    return Study(
        np.concatenate([a.ravel(), b.ravel()])[:, None],
        ["a"] * a.size + ["b"] * b.size,
        {("a", "b"): np.array([gap])},
        units=None if sets else names,
        sets=names if sets else None,
    )


def several_groups(answers: Mapping[str, Floats], means: Mapping[str, Floats]) -> Study:
    """Return groups with several features: [answers, features] of each, and the true means."""
    names = sorted(answers)
    return Study(
        np.concatenate([answers[name] for name in names]),
        [name for name in names for _ in range(len(answers[name]))],
        {(a, b): means[a] - means[b] for place, a in enumerate(names) for b in names[place + 1 :]},
    )


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
