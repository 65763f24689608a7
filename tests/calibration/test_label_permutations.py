"""Under the null, permutation p-values reject as often as they say, whatever the data look like."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from biaswatch.shared.stats.groups.cells import Measurements
from biaswatch.shared.stats.groups.null_disparities import disparity_null
from biaswatch.shared.stats.groups.summary import Mean

TABLES = 1000
TIMES = 199
ALPHA = 0.05
SLACK = 0.015

SHAPES: dict[str, Callable[[np.random.Generator, tuple[int, int]], Any]] = {
    "skewed": lambda rng, shape: rng.gamma(0.5, 1, shape),
    "binary": lambda rng, shape: (rng.random(shape) < 0.3).astype(float),
}


def missing(rng: np.random.Generator, values: Any) -> Any:
    """Lose a tenth of the values, whatever they are."""
    return np.where(rng.random(values.shape) < 0.1, np.nan, values)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("in_sets", [False, True])
def test_null_tables_are_rejected_at_most_as_often_as_promised(shape: str, in_sets: bool) -> None:
    rng = np.random.default_rng(31)
    # A domain is a table of its own, with five groups of twelve; sets differ greatly in level.
    codes = np.tile(np.arange(TABLES * 5), 12)
    sets = np.repeat(np.arange(12), TABLES * 5)
    values = SHAPES[shape](rng, (len(codes), 1))
    if in_sets:
        values = values + 3.0 * sets[:, None]
    table = Measurements(
        missing(rng, values), codes, tuple(str(group) for group in range(TABLES * 5)), ("x",)
    )
    domain_of = np.repeat(np.arange(TABLES), 5)
    names = [str(domain) for domain in range(TABLES)]
    found = disparity_null(table, [Mean()], domain_of, names, rng, TIMES, sets if in_sets else None)
    rejected = {
        metric: float(np.mean(found.p_values[place] <= ALPHA))
        for place, metric in enumerate(found.metrics)
    }
    assert max(rejected.values()) <= ALPHA + SLACK
    assert min(rejected.values()) > 0 if shape == "binary" else min(rejected.values()) > 0.03
    if shape == "skewed":
        mean = np.nanmean(found.p_values, axis=(1, 2, 3))
        assert mean == pytest.approx(np.full(len(found.metrics), 0.5), abs=0.04)
