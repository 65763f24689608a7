"""Rounding to bins that keeps every mean exactly: upwards as often as the rest of the bin says."""

from collections.abc import Sequence
from hashlib import blake2b

import numpy as np

from shared.stats.anytime.bets import Floats

SIZE = 8
DENOMINATOR = 2.0**53


def uniforms(unit_ids: Sequence[str], salt: str = "") -> Floats:
    """Return each unit a number in [0, 1) that its id alone decides.

    So the same unit is rounded the same way whenever and wherever it is counted again. The salt
    (the feature, the comparison) makes the rounding of different numbers of a unit unrelated.
    """
    key = blake2b(salt.encode(), digest_size=16).digest()
    whole = [
        int.from_bytes(blake2b(unit.encode(), digest_size=SIZE, key=key).digest(), "big")
        for unit in unit_ids
    ]
    return (np.asarray(whole, dtype=np.uint64) >> np.uint64(11)).astype(np.float64) / DENOMINATOR


def binned(values: Floats, low: float, high: float, bins: int, jitter: Floats) -> tuple[int, ...]:
    """Count values into bins whose middles run from low to high.

    A value between two middles goes to the upper one with a probability in proportion to its
    distance from the lower one, so that its expectation is the value. Rounding to the nearest
    would shift means.

    Parameters
    ----------
    values
        Finite, in [low, high].
    bins
        At least 2.
    jitter
        One number in [0, 1) per value, from `uniforms` or a generator.

    Raises
    ------
    ValueError
        For a value that is outside the range or not finite, and for another number of jitter.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.shape != jitter.shape:
        raise ValueError(f"{values.size} values need as many numbers of jitter, not {jitter.size}")
    outside = values[~((values >= low) & (values <= high))]
    if outside.size:
        raise ValueError(f"a value lies in [{low:g}, {high:g}], not at {outside[0]:g}")
    place = (values - low) * ((bins - 1) / (high - low))
    below = np.floor(place)
    counts = np.bincount((below + (jitter < place - below)).astype(np.int64), minlength=bins)
    return tuple(int(count) for count in counts)
