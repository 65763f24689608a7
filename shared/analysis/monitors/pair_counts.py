"""Histograms of pairs among the counts of a comparison: complete units, and what bounds others."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from biaswatch.shared.analysis.monitors.round_answers import Counts, less
from biaswatch.shared.contracts.columns import Columns
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS, binned_columns
from biaswatch.shared.stats.arrays import Bools, Floats, Ints

GAPS = "counts"
"""The differences of twins, from -1 to 1."""
REPEATED = "repeated"
"""The differences of twins with an answer of an earlier round; these add no evidence."""
BLOCK_UNITS, BLOCK_SUMS = "block_units", "block_sums"
"""The sets of each block of names and texts, and the sum of their differences in millionths."""
MILLION = 1_000_000
UNBALANCED = "unbalanced"
"""Sets whose sides have different numbers of answers: their labels are not exchanged."""
MATCHED = "matched"
"""The differences of pairs, from -1 to 1, of methods that keep no histogram of them."""
LEVEL = "level"
"""The means over both groups, from -1 to 1: a model may change and its gap stay."""
INCOMPLETE = ("seen", "lower", "upper")
"""Counts of units with missing answers; rounds without any do not keep these parts."""


@dataclass(frozen=True)
class PairBounds:
    """Bounds of pairs, in [-1, 1]: a row for each pair, a column for each comparison."""

    lower: Floats
    upper: Floats
    seen: Floats
    """By the answers that came; NaN where a side has none."""
    complete: Bools
    """Nothing is missing, so that all three are the number."""
    incomplete: Bools
    """True where an answer is missing; a pair that is neither complete nor incomplete is absent."""

    def of_rows(self, chosen: Bools) -> "PairBounds":
        """Return the bounds with some pairs alone; [pairs] tells which."""
        complete, incomplete = (mask & chosen[:, None] for mask in (self.complete, self.incomplete))
        return replace(self, complete=complete, incomplete=incomplete)


def pair_counts(name: str, bounds: PairBounds, jitter: Floats, *, with_incomplete: bool) -> Columns:
    """Return the parts of all columns: without incomplete pairs where they are no evidence."""
    complete, incomplete = bounds.complete, bounds.incomplete
    parts: Columns = {name: {"array": _histograms(bounds.lower, complete, jitter)}}
    columns = np.flatnonzero(incomplete.any(axis=0)) if with_incomplete else np.array([], int)
    if columns.size:
        jitter, missing = jitter[:, columns], incomplete[:, columns]
        for part in INCOMPLETE:
            values = getattr(bounds, part)[:, columns]
            rows = _histograms(values, missing & np.isfinite(values), jitter)
            parts[f"{name}_{part}"] = {"some": [columns, {"array": rows}]}
    return parts


def _histograms(values: Floats, known: Bools, jitter: Floats) -> Ints:
    return binned_columns(values, known, DIFFERENCE_BINS, jitter)


def block_counts(gaps: Floats, complete: Bools, blocks: Ints, size: int) -> Counts:
    """Return the sets of each block and the sum of their differences, of one comparison.

    Parameters
    ----------
    gaps, complete, blocks
        [sets]: differences as shares of the range, and the number of the block of each, -1 for
        none.
    size
        The number of blocks.
    """
    mask = complete & (blocks >= 0)
    units = np.bincount(blocks[mask], minlength=size)
    sums = np.bincount(blocks[mask], weights=gaps[mask], minlength=size)
    millionths = np.rint(sums * MILLION).astype(np.int64)
    return {BLOCK_UNITS: tuple(units.tolist()), BLOCK_SUMS: tuple(millionths.tolist())}


def differences_of(counts: Counts) -> Floats:
    """Return [bins]: the counts of complete twins that are evidence."""
    return np.array(new_counts(counts).get(GAPS, ()), dtype=np.float64)


def new_counts(counts: Counts) -> Counts:
    """Return counts without the differences of repeated answers."""
    repeated = {
        name.replace(REPEATED, GAPS, 1): row
        for name, row in counts.items()
        if name.startswith(REPEATED)
    }
    return less(counts, repeated) if repeated else counts


def block_differences(counts: Counts) -> Floats:
    """Return [blocks]: the mean difference of each block that has any, as a share of the range."""
    units, sums = (np.array(counts.get(name, ())) for name in (BLOCK_UNITS, BLOCK_SUMS))
    return np.asarray(sums[units > 0] / MILLION / units[units > 0], dtype=np.float64)


def pair_table(counts: Sequence[Counts], names: Sequence[str]) -> PairHistograms:
    """Return the states that summed counts are, those of a comparison a row.

    Parameters
    ----------
    names
        Of each comparison, what its histogram of pairs is called.

    Raises
    ------
    ValueError
        Some comparison keeps no such pairs.
    """
    for row, name in zip(counts, names, strict=True):
        if name not in row:
            raise ValueError(f"these counts keep no histogram of pairs called {name!r}")
    bins = len(counts[0][names[0]]) if counts else DIFFERENCE_BINS
    complete = _rows_of(counts, names, bins)
    seen, lower, upper = (
        _rows_of(counts, [f"{name}_{part}" for name in names], bins) for part in INCOMPLETE
    )
    return PairHistograms(complete + lower, complete + upper, complete + seen)


def _rows_of(counts: Sequence[Counts], names: Sequence[str], bins: int) -> Floats:
    """Return one part of the counts; zeros where it is not kept."""
    histograms = np.zeros((len(counts), bins))
    kept = [row.get(name) for row, name in zip(counts, names, strict=True)]
    filled = [place for place, row in enumerate(kept) if row]
    if filled:
        histograms[filled] = _numbers_of([row for row in kept if row])
    return histograms


def _numbers_of(rows: Sequence[tuple[int, ...]]) -> Floats:
    """Return rows as numbers; those of bytes, as most counts of a round are, four times as fast."""
    try:
        packed = b"".join(map(bytes, rows))
    except ValueError:  # some count is above 255
        return np.array(rows, dtype=np.float64)
    return np.frombuffer(packed, dtype=np.uint8).reshape(len(rows), -1).astype(np.float64)
