"""The Shiryaev-Roberts detector."""

from math import exp, log

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.bets import STAKES
from biaswatch.shared.stats.anytime.change import Baseline, Detector, likeliest_start
from biaswatch.shared.stats.anytime.pairs import PairHistogram


def stepwise(gaps: list[float], gap: float, tolerance: float) -> float:
    """Return the statistic by its recursion, one bet after another."""
    reached = []
    for stake in STAKES:
        for sign in (1, -1):
            bet, value = stake / (1 + abs(gap) + tolerance), 0.0
            for seen in gaps:
                value = (1 + bet * (sign * (seen - gap) - tolerance)) * (value + 1)
            reached.append(value)
    return float(np.mean(reached))


def test_the_statistic_is_its_recursion() -> None:
    gaps = np.random.default_rng(1).uniform(-1, 1, 30)
    detector = Detector.of_units(gaps, Baseline(0.1, 0.02))
    assert exp(detector.log_statistic) == pytest.approx(stepwise(gaps.tolist(), 0.1, 0.02))
    assert detector.steps == 30


def test_stretches_compose_in_the_order_of_time_however_they_are_grouped() -> None:
    baseline, gaps = Baseline(), np.random.default_rng(2).uniform(-1, 1, 90)
    a, b, c = (Detector.of_units(part, baseline) for part in np.split(gaps, 3))
    whole = Detector.of_units(gaps, baseline)
    for grouped in (a.then(b).then(c), a.then(b.then(c))):
        assert grouped.log_b == pytest.approx(whole.log_b, abs=1e-10)
    assert Detector.start(baseline).then(a) == a.then(Detector.start(baseline)) == a
    assert a.then(b).log_statistic != pytest.approx(b.then(a).log_statistic)


def test_the_same_rounds_give_the_same_digits() -> None:
    baseline = Baseline(0.05, 0.01)
    rng = np.random.default_rng(3)
    rounds = [PairHistogram.of(rng.uniform(-1, 1, 20), rng.random(20)) for _ in range(12)]
    again = [sum([one], PairHistogram.empty()) for one in rounds]
    assert Detector.of_rounds(rounds, baseline) == Detector.of_rounds(again, baseline)
    resumed = Detector.of_rounds(rounds[:5], baseline)
    for one in rounds[5:]:
        resumed = resumed.then(Detector.step(baseline.of_round(one)))
    assert resumed == Detector.of_rounds(rounds, baseline)


def test_without_change_the_statistic_expects_the_number_of_steps() -> None:
    """So that its mean time to a false alarm is at least 1/alpha."""
    shares = {-1.0: 0.25, 0.0: 0.5, 1.0: 0.25}
    expected = 0.0
    for first, p in shares.items():
        for second, q in shares.items():
            for third, r in shares.items():
                gaps = np.array([first, second, third])
                expected += p * q * r * exp(Detector.of_units(gaps, Baseline()).log_statistic)
    assert expected == pytest.approx(3)


def test_weights_that_sum_to_one_bound_false_alarms_for_ever() -> None:
    baseline, rng = Baseline(), np.random.default_rng(4)
    detector = Detector.start(baseline)
    for t in range(1, 200):
        factors = baseline.logs(rng.choice([-1.0, 1.0], 1))[0]
        detector = detector.then(Detector.step(factors, log_weight=-log(t * (t + 1))))
    assert detector.log_statistic < log(20)


def test_a_change_is_found_and_dated() -> None:
    rng = np.random.default_rng(7)
    rounds = [
        PairHistogram.of(np.clip(rng.normal(shift, 0.2, 40), -1, 1), rng.random(40))
        for shift in [0.0] * 20 + [0.15] * 10
    ]
    assert Detector.of_rounds(rounds[:20], Baseline()).log_statistic < log(1000)
    assert Detector.of_rounds(rounds, Baseline()).log_statistic > log(1000)
    assert likeliest_start(rounds, Baseline()) in range(17, 23)
    assert likeliest_start([], Baseline()) is None
    assert Detector.start(Baseline()).log_statistic == -np.inf


def test_a_gap_that_was_always_there_is_no_change() -> None:
    rng = np.random.default_rng(6)
    gaps = np.clip(rng.normal(0.3, 0.2, 2000), -1, 1)
    assert Detector.of_units(gaps, Baseline(0.3, 0.02)).log_statistic < log(1000)
    assert Detector.of_units(gaps, Baseline(0.2, 0.02)).log_statistic > log(1000)


def test_absent_units_lose_every_bet() -> None:
    baseline = Baseline(0.1, 0.02)
    whole = PairHistogram.of_binary(3, 4, 5)
    lost = baseline.of_round(whole + PairHistogram.unknown(2, whole.bins))
    for gap in (-1.0, 1.0):
        gained = baseline.of_round(whole) + 2 * baseline.logs(np.array([gap]))[0]
        assert (lost <= gained + 1e-9).all()
