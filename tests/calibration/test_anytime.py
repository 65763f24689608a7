"""Seeded simulation: evidence looked at after every unit alarms falsely no more than it says.

The quick forms; `make calibration` runs the full ones.
"""

from math import inf, log

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.odds import Batch, CommonOdds
from tests.support import evidence_looks as looks
from tests.support.evidence_checks import (
    CLAIMS,
    DELAYS,
    FALSE_ALARMS,
    PAIRS,
    ROUNDS,
    Delay,
    FalseAlarmCheck,
    delay_ratio,
    most_allowed,
    share_alarmed,
)
from tests.support.evidence_claims import bank
from tests.support.evidence_streams import ALPHA
from tests.support.pair_histogram import PairHistogram

TIMES, FEW = 200, 40
MOST_DELAY = 2.5
UNITS = 400


@pytest.mark.parametrize("check", FALSE_ALARMS, ids=lambda check: check.name)
def test_evidence_without_a_difference_alarms_at_most_at_its_level(check: FalseAlarmCheck) -> None:
    times = FEW if check.dear else TIMES
    assert check.length == PAIRS
    result = share_alarmed(check, np.random.default_rng(1), times, PAIRS // 4)
    assert result <= most_allowed(times)


@pytest.mark.parametrize("check", CLAIMS, ids=lambda check: check.name)
def test_a_claim_alarms_at_most_at_its_level_over_a_year_of_rounds(check: FalseAlarmCheck) -> None:
    times = FEW if check.dear else TIMES
    result = share_alarmed(check, np.random.default_rng(2), times, ROUNDS)
    assert result <= most_allowed(times)


def test_a_bank_taken_for_the_population_alarms_falsely() -> None:
    """Why a monitor declares its claim: the same sets bring the same gaps again and again."""
    wrong = FalseAlarmCheck("bank taken for a population", bank(20, 0.1, centred=False), ROUNDS)
    assert share_alarmed(wrong, np.random.default_rng(3), 100, ROUNDS) > 0.3


def test_units_counted_twice_alarm_falsely() -> None:
    """Why increments are keyed: evidence is only as good as its counting."""
    rng = np.random.default_rng(4)

    def alarm() -> float:
        gaps = np.repeat(rng.binomial(1, 0.3, PAIRS // 2) - rng.binomial(1, 0.3, PAIRS // 2), 2)
        evidence = looks.pair_evidence(gaps.astype(float), np.zeros(len(gaps)))
        return looks.first_over(evidence, ALPHA)

    assert np.mean([alarm() < inf for _ in range(100)]) > 0.15


@pytest.mark.parametrize("delay", DELAYS, ids=lambda delay: delay.name)
def test_most_differences_are_found_soon_after_a_test_that_knows_them(delay: Delay) -> None:
    _, most = delay_ratio(delay, np.random.default_rng(5), TIMES)
    assert most <= MOST_DELAY


def test_what_is_simulated_is_what_the_states_say() -> None:
    rng = np.random.default_rng(7)
    values, jitter = rng.beta(0.5, 0.5, (2, UNITS)), rng.random(UNITS)
    gaps = values[0] - values[1]
    last = looks.pair_evidence(gaps, jitter, 0.02)[-1]
    assert last == pytest.approx(PairHistogram.of(gaps, jitter).log_e_beyond(0.02))

    first, second = rng.binomial(1, 0.3, (2, UNITS))
    counts = [int(((first == x) & (second == y)).sum()) for x in (1, 0) for y in (1, 0)]
    pairs = looks.selections_of_pairs(*counts)
    assert looks.four_fifths_evidence(first, second)[-1] == pytest.approx(pairs.log_e())

    n_1, totals = np.full(20, 8), first[:20] * 5 + 3
    selected = np.minimum(totals, 3)
    odds = CommonOdds.of(
        Batch(int(a), 8, int(m - a), 12) for a, m in zip(selected, totals, strict=True)
    )
    evidence = looks.odds_evidence(selected, n_1, totals, 20)[-1]
    assert evidence == pytest.approx(odds.log_e(), abs=1e-6)


def test_a_boundary_is_where_the_evidence_reaches_its_level() -> None:
    boundary = looks.odds_boundary(200, ALPHA)
    for n in (20, 100, 200):
        at, before = int(boundary[n]), int(boundary[n]) - 1
        batches = [Batch(1, 1, 0, 1)] * before + [Batch(0, 1, 1, 1)] * (n - at)
        odds = CommonOdds.of(batches)
        assert (odds + CommonOdds.of([Batch(1, 1, 0, 1)])).log_e() >= log(20)
        assert (odds + CommonOdds.of([Batch(0, 1, 1, 1)])).log_e() < log(20)
