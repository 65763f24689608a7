"""Units of evidence: shapes of sets, missing answers, and values rounded to bins at random."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.arrays import Bools, Floats, Ints

DIFFERENCE_BINS = 129
"""Bins of differences in [-1, 1]: odd, so that no difference at all has a bin of its own."""
CELLS = 64
"""Number of cells for missing parts of the range."""
MIN_PATTERN_SHARE = 1e-6
"""Share of sets below which a pattern is left out of a plan."""


@dataclass(frozen=True)
class SetShape:
    """Sets with these numbers of answers of the first and the second group."""

    first: int = 1
    second: int = 1
    share: float = 1.0
    """Share of all sets; the shares of all shapes sum to 1."""


ONE_AND_ONE = (SetShape(),)


@dataclass(frozen=True)
class MissingAnswers:
    """A share of all answers that will be missing at random."""

    share: float = 0.0
    shapes: Sequence[SetShape] = ONE_AND_ONE

    def __post_init__(self) -> None:
        """Raise ValueError for a share outside [0, 1)."""
        if not 0 <= self.share < 1:
            raise ValueError(f"the share of missing answers lies in [0, 1), not at {self.share:g}")

    @property
    def complete_sets(self) -> float:
        """Return the share of complete sets."""
        kept = 1 - self.share
        return sum(shape.share * kept ** (shape.first + shape.second) for shape in self.shapes)

    @property
    def complete_sides(self) -> float:
        """Return the share of complete sides of sets."""
        kept = 1 - self.share
        return (
            sum(shape.share * (kept**shape.first + kept**shape.second) for shape in self.shapes) / 2
        )

    def open_parts(self) -> dict[float, float]:
        """Return the share of sets with each missing part of the gap, from 0 to 2 ranges.

        A part is the missing share of the first side's answers plus that of the second's.
        """
        from scipy.stats import binom  # slow to load

        shares_of_cells: dict[int, float] = defaultdict(float)
        for shape in self.shapes:
            sides = [np.arange(n + 1) for n in (shape.first, shape.second)]
            parts = np.add.outer(sides[0] / shape.first, sides[1] / shape.second)
            shares = [
                binom.pmf(missing, n, self.share)
                for missing, n in zip(sides, (shape.first, shape.second), strict=True)
            ]
            cells = np.ceil(parts * CELLS - 1e-9).astype(int).ravel().tolist()
            for cell, share in zip(cells, np.outer(*shares).ravel().tolist(), strict=True):
                shares_of_cells[cell] += shape.share * share
        likely = {
            cell: share for cell, share in shares_of_cells.items() if share >= MIN_PATTERN_SHARE
        }
        total = sum(likely.values())
        return {cell / CELLS: share / total for cell, share in sorted(likely.items())}


Hashes = NDArray[np.uint64]
SIZE = 8
DENOMINATOR = 2.0**53
MULTIPLIERS = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))


def uniforms(unit_ids: Sequence[str], salt: str = "") -> Floats:
    """Return a number in [0, 1) for each unit, determined by its id alone.

    So the same unit is rounded the same way whenever and wherever it is counted again. The salt
    (the feature, the comparison) makes the rounding of different numbers of a unit unrelated.
    """
    return uniform_table(hashes(unit_ids), hashes([salt]))[:, 0]


def hashes(names: Sequence[str]) -> Hashes:
    """Return 64 bits of each name, of units or of salts."""
    digests = b"".join(blake2b(name.encode(), digest_size=SIZE).digest() for name in names)
    return np.frombuffer(digests, dtype=">u8").astype(np.uint64)


def uniform_table(units: Hashes, salts: Hashes) -> Floats:
    """Return a number in [0, 1) for each unit (a row) under each salt (a column).

    The bits of a unit and of a salt, each mixed, are mixed again together.

    References
    ----------
    Steele, Lea and Flood (2014), Fast splittable pseudorandom number generators: the mixer.
    """
    both = _mixed(units)[:, None] ^ _mixed(~salts)
    return np.asarray((_mixed(both) >> np.uint64(11)).astype(np.float64) / DENOMINATOR)


def _mixed(bits: Hashes) -> Hashes:
    for shift, multiplier in zip(SHIFTS[:2], MULTIPLIERS, strict=True):
        bits = (bits ^ (bits >> shift)) * multiplier
    return bits ^ (bits >> SHIFTS[2])


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
    places = _places((values - low) * ((bins - 1) / (high - low)), jitter)
    return tuple(np.bincount(places, minlength=bins).tolist())


def binned_differences(differences: Floats, jitter: Floats) -> tuple[int, ...]:
    """Count differences in [-1, 1] as `binned` does, into `DIFFERENCE_BINS`."""
    return binned(differences, -1.0, 1.0, DIFFERENCE_BINS, jitter)


def binned_columns(values: Floats, present: Bools, bins: int, jitter: Floats) -> Ints:
    """Count present values in [-1, 1] by column, as `binned` does.

    Parameters
    ----------
    values, present, jitter
        [units, columns]; a rounding error beyond the range is put at its end.
    bins
        At least 2.

    Returns
    -------
    Ints
        [columns, bins]
    """
    columns = np.nonzero(present)[1]
    steps = (np.clip(values[present], -1.0, 1.0) + 1.0) * ((bins - 1) / 2)
    cells = _places(steps, jitter[present]) + columns * bins
    return np.bincount(cells, minlength=values.shape[1] * bins).reshape(values.shape[1], bins)


def _places(steps: Floats, jitter: Floats) -> Ints:
    below = np.floor(steps)
    return (below + (jitter < steps - below)).astype(np.int64)
