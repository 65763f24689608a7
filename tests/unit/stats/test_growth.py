"""Evidence read from a table is that of the histogram, and so are the intervals from it."""

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.bets import LogGrowth
from biaswatch.shared.stats.anytime.inversion import invert
from biaswatch.shared.stats.anytime.pair_histograms import STEPS_PER_SE
from biaswatch.shared.stats.arrays import Floats
from tests.support.pair_histogram import PairHistogram


def states() -> list[PairHistogram]:
    """Make some of every kind: few units and many, flat ones, incomplete ones."""
    rng = np.random.default_rng(1)
    rows = [PairHistogram.of(np.full(n, g), np.zeros(n)) for n in (1, 50) for g in (0, 1, -1)]
    rows += [PairHistogram.unknown(3), PairHistogram.of(np.zeros(100_000), np.zeros(100_000))]
    for number in range(30):
        n = int(rng.integers(1, 3000))
        gaps = np.clip(rng.normal(rng.uniform(-0.5, 0.5), rng.uniform(0, 0.4), n), -1, 1)
        state = PairHistogram.of(gaps, rng.random(n))
        if number % 3 == 0:
            state = state.bounded(np.full(5, -0.1), np.full(5, 0.2), rng.random(5))
        rows.append(state + PairHistogram.unknown(number % 4))
    return rows


def test_evidence_read_from_a_table_is_that_of_the_histogram_and_never_more() -> None:
    nulls = np.concatenate([np.linspace(-1, 1, 41), [1e-9, -1e-9]])
    for state in states():
        exact = np.array([state.log_e(float(null)) for null in nulls])
        lower, upper = (np.tile(end, (len(nulls), 1)) for end in state.ends)
        lost = (exact - LogGrowth(lower, upper).log_es(np.arange(len(nulls)), nulls)) / state.units
        assert lost.min() > 0
        assert lost.max() < 3e-8


@pytest.mark.parametrize("alpha", [0.05, 1e-6])
def test_an_interval_is_that_of_exact_evidence_rounded_outwards(alpha: float) -> None:
    for state in states():
        low, high = state.interval(alpha)
        scale = state.standard_error + 1 / state.units
        step, centre = scale / STEPS_PER_SE, sum(state.limits or (0.0, 0.0)) / 2

        def exact(nulls: Floats, one: PairHistogram = state) -> Floats:
            return np.array([one.log_e(float(null)) for null in nulls])

        least, most = invert(exact, centre, step, (-1.0, 1.0), alpha)
        assert low == pytest.approx(least, abs=0.01 * scale)
        assert high == pytest.approx(most, abs=0.01 * scale)
        for end in (low, high):
            assert abs(end) == 1 or state.log_e(end) >= -np.log(alpha)
