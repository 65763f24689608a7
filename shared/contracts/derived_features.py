"""Names of features by turn, over turns, and by level of a stratum: `rating@3`, `rating@drift`."""

from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean

SEPARATOR = "@"
DRIFT = "drift"
"""The mean of the later half of the turns less that of the earlier half."""


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
