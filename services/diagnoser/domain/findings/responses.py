"""Measured responses, as the diagnosis sees them, and the table of observations they make."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from services.diagnoser.domain.findings.observations import Observations

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
