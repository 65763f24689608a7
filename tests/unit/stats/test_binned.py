"""Bins: where an edge belongs, and what divergences promise."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats
from scipy.spatial.distance import jensenshannon

from biaswatch.shared.stats.groups.baseline import (
    binned_mode,
    js_divergence,
    kl_divergence,
    smoothed,
)
from biaswatch.shared.stats.groups.cells import clean

counts = arrays(np.float64, (2, 7), elements=st.integers(0, 30).map(float))


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(-20, 20), min_size=1, max_size=30), st.sampled_from([0.1, 0.25, 0.5]))
def test_the_mode_of_values_on_the_edges_is_that_of_numpys_digitize(
    grid: list[int], width: float
) -> None:
    x = np.array(grid) / 10
    edges = np.arange(x.min(), x.max() + width, width)
    modal = stats.mode(np.digitize(x, edges)).mode
    result = binned_mode(clean(x[None]), width)[0]
    assert result == pytest.approx(edges[modal - 1] + width / 2, abs=1e-9)


def test_of_bins_equally_full_the_lowest_is_the_mode() -> None:
    assert binned_mode(clean(np.array([[2.0, 0.0, 1.0, 2.1, 0.1]])), 0.5)[0] == 0.25


@settings(deadline=None, max_examples=50)
@given(counts)
def test_divergences_are_scipys_and_within_their_bounds(both: np.ndarray) -> None:
    p, q = smoothed(both)
    assert kl_divergence(p, q) == pytest.approx(stats.entropy(p, q), abs=1e-9)
    assert js_divergence(p, q) == pytest.approx(jensenshannon(p, q) ** 2, abs=1e-9)
    assert -1e-12 <= js_divergence(p, q) <= np.log(2)
    assert js_divergence(p, q) == pytest.approx(js_divergence(q, p))
    assert kl_divergence(p, p) == 0
