"""Counts of comparisons as a table: the same numbers, however large they are."""

import numpy as np
import pytest

from biaswatch.shared.analysis.monitors.pair_counts import GAPS, pair_table
from biaswatch.shared.stats.anytime.units import DIFFERENCE_BINS


@pytest.mark.parametrize("largest", [1, 255, 256, 10**9])
def test_a_table_holds_the_counts_of_each_comparison_however_large(largest: int) -> None:
    rng = np.random.default_rng(largest)
    drawn = rng.integers(0, largest, (3, DIFFERENCE_BINS), endpoint=True)
    drawn[:, 7] = largest
    counts = [{GAPS: tuple(row)} for row in drawn.tolist()]
    table = pair_table(counts, [GAPS] * 3)
    assert np.array_equal(table.lower, drawn)
    assert np.array_equal(table.upper, drawn)


def test_a_part_that_only_some_comparisons_keep_is_zero_for_the_others() -> None:
    whole, bounded = [0] * DIFFERENCE_BINS, [0] * DIFFERENCE_BINS
    whole[3], bounded[5] = 300, 2
    counts = [
        {GAPS: tuple(whole)},
        {GAPS: tuple(whole), f"{GAPS}_lower": tuple(bounded), f"{GAPS}_upper": tuple(bounded)},
    ]
    table = pair_table(counts, [GAPS] * 2)
    assert table.lower[:, [3, 5]].tolist() == [[300, 0], [300, 2]]
    assert table.units.tolist() == [300, 302]


def test_counts_without_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match="keep no histogram"):
        pair_table([{"other": (1,)}], [GAPS])
