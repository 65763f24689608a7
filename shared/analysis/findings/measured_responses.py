"""Responses as one extractor measured them, before they are columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from biaswatch.shared.analysis.findings.observations import Observations, Values, within
from biaswatch.shared.lookup import grouped
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds


@dataclass(frozen=True, slots=True)
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
    reservation: str | None = None
    """A reservation about its values: the answer was cut off, or held to a schema."""
    expected: str | None = None
    """The right answer, where there is one."""
    criteria: Mapping[str, float | None] = field(default_factory=dict)
    """The ratings of a scaffold that judges criteria one by one."""
    strata: Mapping[str, str] = field(default_factory=dict)
    """Conditions of the question, by name: described and never compared."""
    random: Mapping[str, str] = field(default_factory=dict)
    """The value of each random factor: its name, its text."""


def by_extractor(responses: Sequence[MeasuredResponse]) -> list[list[MeasuredResponse]]:
    """Return the responses of each target, scaffold and extractor, sorted by these names."""
    by_key = grouped(
        ((response.target, response.scaffold, response.extractor), response)
        for response in responses
    )
    return [by_key[key] for key in sorted(by_key)]


def dimensions_of(responses: Sequence[MeasuredResponse]) -> tuple[str, ...]:
    """Return the dimensions that any response has a group in, sorted."""
    return tuple(sorted({dimension for response in responses for dimension in response.groups}))


def observations_of(
    responses: Sequence[MeasuredResponse],
    features: Mapping[str, Values | Floats],
    ranges: Mapping[str, Bounds | None] | None = None,
) -> Observations:
    """Return one row for each response, with one value of each feature.

    None is missing, and so is a value outside a declared range.
    """
    sets = [response.set for response in responses]
    ranges = {name: ends for name, ends in (ranges or {}).items() if name in features}
    columns = [within(column, ranges.get(name)) for name, column in features.items()]
    return Observations(
        features=tuple(features),
        values=np.array(columns, dtype=np.float64).T,
        groups={
            d: [response.groups.get(d) for response in responses] for d in dimensions_of(responses)
        },
        units=[response.unit for response in responses],
        sets=sets if any(sets) else None,
        random={
            name: [response.random.get(name) for response in responses]
            for name in sorted({name for response in responses for name in response.random})
        },
        ranges=ranges,
    )
