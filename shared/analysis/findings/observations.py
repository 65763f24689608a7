"""Observations, one row per answer, and the measured responses that runs make them of."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.contracts import Claim
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds, implied_bounds
from biaswatch.shared.stats.samples import chunks

Whole = NDArray[np.integer]
"""Codes, of a run in as few bytes as they need."""
Labels = Sequence[str | None]
EVERYTHING = ""
"""The domain's name where no domains are given."""


@dataclass(frozen=True)
class Observations:
    """A table of answers; nan and infinities are missing values."""

    features: tuple[str, ...]
    values: Floats
    """[rows, features]"""
    groups: Mapping[str, Labels]
    """By dimension, the level of each row; None where a row has none."""
    units: Labels | None = None
    """The prompt of each row; without it, every row is a unit."""
    sets: Labels | None = None
    """The counterfactual set of each row; without it, groups are paired by prompts they share."""
    domains: Labels | None = None
    """The domain of each row; groups of different domains are never compared."""
    baseline: Floats | None = None
    """[rows, features]: the baseline's value in the same row, where there is a baseline."""
    random: Mapping[str, Labels] = field(default_factory=dict)
    """By random factor, its value in each row: the name, the text, the template."""
    ranges: Mapping[str, Bounds | None] = field(default_factory=dict)
    """By feature: the least and the largest possible value, where a range is declared.

    None is declared as well: the range is not known, and the values are not asked for it.
    """
    truth: Floats | None = None
    """[rows]: the right answer, nan where it is not known."""
    selected_at_least: Mapping[str, float] = field(default_factory=dict)
    """By feature: the lowest value that counts as selected; of the truth, as positive."""
    rated: tuple[str, ...] | None = None
    """Features whose error rates are computed; all, where it is None."""
    drawn: bool = True
    """False for values that a repeat would not change, such as expected ratings."""

    def at(self, rows: Whole) -> "Observations":
        """Return some rows."""
        return replace(
            self,
            values=self.values[rows],
            groups={name: _at(labels, rows) for name, labels in self.groups.items()},
            units=self.units if self.units is None else _at(self.units, rows),
            sets=self.sets if self.sets is None else _at(self.sets, rows),
            domains=self.domains if self.domains is None else _at(self.domains, rows),
            random={name: _at(labels, rows) for name, labels in self.random.items()},
            baseline=self.baseline if self.baseline is None else self.baseline[rows],
            truth=self.truth if self.truth is None else self.truth[rows],
        )

    def claimed(self, claim: Claim) -> Claim:
        """Return the claim that the values allow: texts are the only units if none is drawn."""
        return claim if self.drawn else Claim.POPULATION

    def bounds(self, feature: int) -> list[Bounds | None]:
        """Return the range of a feature in each domain, in the order of their names.

        It is the declared one, or else what the values of the domain speak of by themselves.

        Raises
        ------
        ValueError
            A value lies outside the declared range.
        """
        name, values = self.features[feature], self.values[:, feature]
        codes, domains = self.domain_codes
        if name not in self.ranges and len(domains) == 1 and not self.domains:
            return [implied_bounds(values)]
        if name not in self.ranges:
            return [implied_bounds(values[codes == code]) for code in range(len(domains))]
        if (declared := self.ranges[name]) is None:
            return [None] * len(domains)
        low, high = declared
        if any(_beyond(values[chunk], low, high) for chunk in chunks(len(values))):
            raise ValueError(f"{name} has values outside its range from {low:g} to {high:g}")
        return [(low, high)] * len(domains)

    def is_guessed(self, feature: int) -> bool:
        """Return whether `bounds` come from the values, since no range is declared."""
        return self.features[feature] not in self.ranges

    @property
    def rows(self) -> int:
        """How many answers there are."""
        return len(self.values)

    @cached_property
    def domain_codes(self) -> tuple[Whole, tuple[str, ...]]:
        """The domain of each row as a code, and the names of domains."""
        if not self.domains:
            one = np.broadcast_to(np.intp(0), self.rows)  # a code for each row takes no memory
            return one, (EVERYTHING,) if self.rows else ()
        return coded(self.domains)

    @cached_property
    def unit_codes(self) -> Whole:
        """Each row's unit as a code; a row without one is a unit of its own."""
        if self.units is None:
            return np.arange(self.rows)
        codes, levels = coded(self.units)
        if (codes >= 0).all():
            return codes
        return np.where(codes >= 0, codes, len(levels) + np.arange(self.rows))

    @cached_property
    def factor_codes(self) -> dict[str, Whole]:
        """The value of each random factor in each row as a code, -1 for none."""
        return {name: coded(labels)[0] for name, labels in self.random.items()}

    @cached_property
    def set_codes(self) -> Whole:
        """Each row's set as a code, -1 where it has none."""
        if self.sets is not None:
            return coded(self.sets)[0]
        if self.units is None:
            return np.full(self.rows, -1)
        codes = coded(self.units)[0]
        return self.unit_codes if (codes >= 0).all() else codes


@dataclass(frozen=True)
class CodedLabels(Sequence[str | None]):
    """Labels that are kept as their codes."""

    codes: Whole
    """[rows]: positions among the levels, -1 for None; ranks, where names are not kept."""
    levels: tuple[str, ...]
    """Sorted levels of the rows; empty where names are not kept."""

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: Any) -> Any:
        code = int(self.codes[row])
        return None if code < 0 else self.levels[code]


def _at(labels: Labels, rows: Whole) -> Labels:
    codes, levels = coded(labels)
    return CodedLabels(codes[rows], levels)


def coded(labels: Labels) -> tuple[Whole, tuple[str, ...]]:
    """Return each label's place among the sorted different ones, -1 for None; and these."""
    if isinstance(labels, CodedLabels):
        return labels.codes, labels.levels
    levels = tuple(sorted({label for label in labels if label is not None}))
    place = {level: code for code, level in enumerate(levels)}
    codes = [-1 if label is None else place[label] for label in labels]
    return np.array(codes, dtype=np.intp), levels


def _beyond(values: Floats, low: float, high: float) -> bool:
    return bool((np.isfinite(values) & ((values < low) | (values > high))).any())


Values = Sequence[float | None]


def ends_of(bounds: Bounds | None, values: Floats) -> Bounds:
    """Return a known range, or else the least and the largest finite value."""
    if bounds is not None:
        return bounds
    present = values[np.isfinite(values)]
    return (float(present.min()), float(present.max())) if len(present) else (0.0, 0.0)


def within(values: Values | Floats, ends: Bounds | None) -> Floats:
    """Return values, those outside a range as missing."""
    column = np.asarray(values, dtype=np.float64)
    if ends is None:
        return column
    outside = (column < ends[0]) | (column > ends[1])
    return np.where(outside, np.nan, column) if outside.any() else column
