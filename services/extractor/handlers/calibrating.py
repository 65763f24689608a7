"""Measures an extractor's own gap between groups, on sentences that differ in the name alone."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from services.extractor.domain import Measured, Reading
from services.extractor.domain.calibration import (
    GROUPS,
    ToolGap,
    ToolMean,
    gaps_of,
    means_of,
    sentences,
)

MeasureAll = Callable[[Sequence[Reading]], Awaitable[list[Measured]]]
NEUTRAL = "The town lies by the sea, and people like it there."
"""What distances to a baseline are measured from."""


@dataclass(frozen=True)
class Calibration:
    """What an extractor makes of the names of groups."""

    means: list[ToolMean]
    gaps: list[ToolGap]


async def calibrate(
    measure: MeasureAll,
    features: Sequence[str],
    alpha: float,
    groups: Mapping[str, Sequence[str]] = GROUPS,
) -> Calibration:
    """Measure every sentence about every group; give means and gaps with their intervals."""
    means: list[ToolMean] = []
    measured: dict[tuple[str, str], dict[str, list[float | None]]] = {}
    for dimension, names in groups.items():
        found = {group: await measure(_readings(group)) for group in names}
        for feature in features:
            values = {
                group: [each.get(feature) for each, _ in outcomes]
                for group, outcomes in found.items()
            }
            measured[feature, dimension] = values
            means += means_of(feature, dimension, values, alpha)
    return Calibration(means, gaps_of(measured, alpha))


def _readings(group: str) -> list[Reading]:
    return [Reading(sentence, baseline=NEUTRAL) for sentence in sentences(group)]
