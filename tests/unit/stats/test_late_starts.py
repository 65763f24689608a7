"""Bets that may begin with any round."""

from itertools import product
from math import exp

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.bets import STAKES, both_ways
from biaswatch.shared.stats.anytime.judging import share_of_attempt
from biaswatch.shared.stats.anytime.late_starts import LateStarts
from biaswatch.shared.stats.arrays import Floats


def factors(gaps: list[float], gap: float = 0.0, tolerance: float = 0.0) -> Floats:
    """Return the log factor of each gap (a row) for each bet that it is beyond the tolerance."""
    bets = both_ways(STAKES) / (1 + abs(gap) + tolerance)
    payoffs = np.multiply.outer(np.array(gaps) - gap, bets) - np.abs(bets) * tolerance
    return np.asarray(np.log1p(payoffs))


def after(gaps: list[float], gap: float = 0.0, tolerance: float = 0.0) -> LateStarts:
    bets = LateStarts.none(1, 2 * len(STAKES))
    for round_, row in enumerate(factors(gaps, gap, tolerance)):
        bets = bets.after(row[None], np.log([share_of_attempt(round_ + 1)]), round_)
    return bets


def directly(gaps: list[float], gap: float, tolerance: float) -> float:
    """Return the sum over beginnings of their weight times the mean over bets of the product."""
    logs = factors(gaps, gap, tolerance)
    return sum(
        share_of_attempt(begin + 1) * float(np.exp(logs[begin:].sum(axis=0)).mean())
        for begin in range(len(gaps))
    )


def test_the_evidence_is_the_weighted_sum_over_all_beginnings() -> None:
    gaps = np.random.default_rng(1).uniform(-1, 1, 40).tolist()
    for baseline in ((0.0, 0.0), (0.1, 0.05)):
        [evidence] = after(gaps, *baseline).log_evidence
        assert exp(evidence) == pytest.approx(directly(gaps, *baseline), rel=1e-4)
        assert exp(evidence) <= directly(gaps, *baseline)  # rounded down


def test_it_expects_at_most_one_where_there_is_no_gap() -> None:
    expected = 0.0
    for gaps in product((-1.0, 0.0, 1.0), repeat=5):
        expected += exp(after(list(gaps)).log_evidence[0]) / 3**5
    assert 0.8 < expected <= 1


def test_the_likeliest_beginning_is_where_the_gap_began() -> None:
    rng = np.random.default_rng(2)
    gaps = np.concatenate([rng.uniform(-0.5, 0.5, 200), rng.uniform(0.2, 0.9, 25)]).tolist()
    [likeliest] = after(gaps, tolerance=0.1).likeliest
    assert abs(likeliest - 200) <= 3


def test_before_any_round_and_without_any_gain_there_is_no_beginning() -> None:
    none = LateStarts.none(2, 4)
    assert none.likeliest.tolist() == [-1, -1]
    assert none.log_evidence.tolist() == [-np.inf, -np.inf]
    assert after([0.0] * 5, tolerance=0.1).likeliest.tolist() == [-1]
