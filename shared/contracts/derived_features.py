"""Names of derived features: by turn, level or scale, as `rating@3`, `log(words)`."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from math import log
from statistics import fmean

SEPARATOR = "@"
DRIFT = "drift"
"""The mean of the later half of the turns less that of the earlier half."""


class Scale(StrEnum):
    """The scale that a feature is compared on."""

    LOG = "log"
    """Natural logarithms: gaps are those of logarithms, ratios of geometric means."""
    RANK = "rank"
    """Midranks among the answers of a domain, as shares from 0 to 1."""


def on_scale(feature: str, scale: Scale) -> str:
    """Return the name of a feature on a scale: `log(words)@3` of `words@3`."""
    name, separator, rest = feature.partition(SEPARATOR)
    return f"{scale}({name}){separator}{rest}"


@lru_cache(maxsize=1000)
def scale_of(feature: str) -> tuple[Scale, str] | None:
    """Return a feature's scale, and the feature that is on it; None for a feature as measured.

    >>> scale_of("log(words)@3")
    (<Scale.LOG: 'log'>, 'words@3')
    """
    match = _ON_SCALE.fullmatch(feature)
    return match and (Scale(match[1]), match[2] + (match[3] or ""))


def measured_name(feature: str, scales: Mapping[str, Scale]) -> str:
    """Return a feature as it is measured, where it is named on its declared scale."""
    for name, scale in scales.items():
        feature = feature.replace(on_scale(name, scale), name)
    return feature


def value_among(values: Mapping[str, float | None], feature: str) -> float | None:
    """Return the value of a feature as measured, or its logarithm; None without a value."""
    scaled = scale_of(feature)
    if scaled is None or scaled[0] is not Scale.LOG or feature in values:
        return values.get(feature)
    value = values.get(scaled[1])
    return log(value) if value is not None and value > 0 else None


_ON_SCALE = re.compile(rf"({'|'.join(Scale)})\(([^{SEPARATOR}]+)\)({SEPARATOR}.*)?")


def base_of(feature: str) -> str:
    """Return the feature that an extractor measures: `rating` of `rating@3`."""
    return feature.partition(SEPARATOR)[0]


def is_among(feature: str, names: Iterable[str]) -> bool:
    """Tell whether a feature is named, itself or by the feature that it is derived from."""
    return feature in names or base_of(feature) in names


def is_drift(feature: str) -> bool:
    """Tell whether a feature is the drift of another."""
    return DRIFT in feature.split(SEPARATOR)[1:]


def by_turn(feature: str, turn: int | str) -> str:
    """Return the name of a feature in one turn, or of its drift."""
    return f"{feature}{SEPARATOR}{turn}"


def at_level(feature: str, level: str) -> str:
    """Return the name of a feature under one level of a stratum: `rating@culture`."""
    return f"{feature}{SEPARATOR}{level}"


def without_level(feature: str, levels: Iterable[str]) -> str:
    """Return the feature as it is measured under one of these levels.

    >>> without_level("rating@drift@culture", ["culture"])
    'rating@drift'
    """
    for level in levels:
        if feature.endswith(f"{SEPARATOR}{level}"):
            return feature.removesuffix(f"{SEPARATOR}{level}")
    return feature


def range_of(
    feature: str, ranges: Mapping[str, tuple[float, float] | None]
) -> tuple[float, float] | None:
    """Return the range of a feature: its own, or the one that follows from its base; or None.

    A drift lies between minus the width of the range and the width.
    """
    ends = ranges.get(base_of(feature))
    if feature in ranges or ends is None:
        return ranges.get(feature)
    low, high = ends
    return (low - high, high - low) if is_drift(feature) else (low, high)


def over_conversation(
    features: Sequence[str], turns: Mapping[int, Mapping[str, float | None]], count: int
) -> dict[str, float | None]:
    """Return features over a conversation: the mean of its turns, each turn, and the drift.

    Parameters
    ----------
    features
        The names that the extractor measures.
    turns
        The values in each turn that took place, by its number from 1.
    count
        The turns that the conversation may have.

    Mean and drift are null where a turn that took place has no value; a turn that was left out
    has none, and changes neither.
    """
    values: dict[str, float | None] = {}
    for name in features:
        column = {turn: turns[turn].get(name) for turn in sorted(turns)}
        known = [value for value in column.values() if value is not None]
        complete = len(known) == len(column) and bool(known)
        values[name] = fmean(known) if complete else None
        values |= {by_turn(name, turn): column.get(turn) for turn in range(1, count + 1)}
        if count > 1:
            values[by_turn(name, DRIFT)] = drift(known) if complete else None
    return values


def drift(values: Sequence[float]) -> float | None:
    """Return the mean of the later half less that of the earlier half; None for one value.

    The middle one of an odd number of values belongs to neither half.

    >>> drift([3, 3, 3, 2, 2])
    -1.0
    """
    half = len(values) // 2
    return fmean(values[-half:]) - fmean(values[:half]) if half else None
