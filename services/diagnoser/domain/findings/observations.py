"""Observations, one row per answer, and the measured responses that runs make them of."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from shared.stats.comparisons.compared_samples import Bounds, implied_bounds

Floats = NDArray[np.float64]
Whole = NDArray[np.intp]
Labels = Sequence[str | None]


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
    ranges: Mapping[str, Bounds] = field(default_factory=dict)
    """By feature: the least and the largest value there can be, where somebody declared them."""

    def bounds(self, feature: int) -> Bounds | None:
        """Return the range of a feature: as declared, or as its values speak of it by themselves.

        Raises
        ------
        ValueError
            A value lies outside the declared range.
        """
        name = self.features[feature]
        if name not in self.ranges:
            return implied_bounds(self.values[:, feature])
        low, high = self.ranges[name]
        there = self.values[np.isfinite(self.values[:, feature]), feature]
        if len(there) and not low <= float(there.min()) <= float(there.max()) <= high:
            raise ValueError(f"{name} has values outside its range from {low:g} to {high:g}")
        return low, high

    @property
    def rows(self) -> int:
        """How many answers there are."""
        return len(self.values)

    def unit_codes(self) -> Whole:
        """Return each row's unit as a code; a row without one is a unit of its own."""
        rows = np.arange(self.rows)
        if self.units is None:
            return rows
        codes, levels = coded(self.units)
        return np.where(codes >= 0, codes, len(levels) + rows)

    def set_codes(self) -> Whole:
        """Return each row's set as a code, -1 where it has none."""
        shared = self.sets if self.sets is not None else self.units
        return np.full(self.rows, -1) if shared is None else coded(shared)[0]


def coded(labels: Labels) -> tuple[Whole, tuple[str, ...]]:
    """Return each label's place among the sorted different ones, -1 for None; and these."""
    levels = tuple(sorted({label for label in labels if label is not None}))
    place = {level: code for code, level in enumerate(levels)}
    codes = [-1 if label is None else place[label] for label in labels]
    return np.array(codes, dtype=np.intp), levels


Values = Sequence[float | None]


@dataclass(frozen=True)
class MeasuredResponse:
    """One response as one extractor measured it."""

    target: str
    scaffold: str
    unit: str
    set: str | None
    groups: Mapping[str, str]
    extractor: str
    values: Mapping[str, float | None]
    why_missing: str | None
    """Why the response has no value of any feature."""
    expected: str | None = None
    """The right answer, where there is one."""
    criteria: Mapping[str, float | None] = field(default_factory=dict)
    """The ratings of a scaffold that judges criteria one by one."""
    strata: Mapping[str, str] = field(default_factory=dict)
    """Conditions of the question, by name: described and never compared."""


def by_extractor(responses: Sequence[MeasuredResponse]) -> list[list[MeasuredResponse]]:
    """Return the responses of each target, scaffold and extractor, sorted by these names."""
    found: dict[tuple[str, str, str], list[MeasuredResponse]] = defaultdict(list)
    for response in responses:
        found[response.target, response.scaffold, response.extractor].append(response)
    return [found[key] for key in sorted(found)]


def dimensions_of(responses: Sequence[MeasuredResponse]) -> tuple[str, ...]:
    """Return the dimensions that any response has a group in, sorted."""
    return tuple(sorted({dimension for each in responses for dimension in each.groups}))


def observations_of(
    responses: Sequence[MeasuredResponse], features: Mapping[str, Values]
) -> Observations:
    """Return one row for each response, with one value of each feature; None is missing."""
    sets = [each.set for each in responses]
    return Observations(
        features=tuple(features),
        values=np.array(list(features.values()), dtype=np.float64).T,
        groups={d: [each.groups.get(d) for each in responses] for d in dimensions_of(responses)},
        units=[each.unit for each in responses],
        sets=sets if any(sets) else None,
    )
