"""Verdicts at any moment, forecasts and claims."""

from math import log

import numpy as np
import pytest

from biaswatch.shared.stats.anytime.discordant import DiscordantPairs
from biaswatch.shared.stats.anytime.gap_tables import GapState, GapTable, StateTable
from biaswatch.shared.stats.anytime.judging import CurrentDecision, TestParameters
from biaswatch.shared.stats.anytime.judging import judge as judge_all
from biaswatch.shared.stats.anytime.odds import Batch, CommonOdds
from biaswatch.shared.stats.anytime.two_groups import TwoHistograms
from biaswatch.shared.stats.estimate import Verdict
from tests.support.pair_histogram import PairHistogram

State = GapState | PairHistogram


def judge(
    evidence: State,
    *,
    tolerance: float,
    alpha: float,
    family: int = 1,
    shown: State | None = None,
    shown_share: float = 1.0,
) -> CurrentDecision:
    """Judge one state alone; that many at once are judged like each alone has its own tests."""
    parameters = TestParameters(np.array([tolerance]), np.array([alpha]), family, shown_share)
    [decision] = judge_all(table_of(evidence), parameters, table_of(shown or evidence)).rows()
    return decision


def table_of(evidence: State) -> GapTable:
    return evidence.table if isinstance(evidence, PairHistogram) else StateTable([evidence])


def gaps(mean: float, units: int, seed: int = 1) -> PairHistogram:
    rng = np.random.default_rng(seed)
    return PairHistogram.of(np.clip(rng.normal(mean, 0.2, units), -1, 1), rng.random(units))


def groups(shift: float, units: int) -> TwoHistograms:
    rng = np.random.default_rng(2)
    first = np.clip(rng.beta(4, 4, units) + shift, 0, 1)
    return TwoHistograms.of(first, rng.beta(4, 4, units), rng.random(units), rng.random(units))


STATES: list[tuple[State, float, Verdict]] = [
    (gaps(0.1, 2000), 0.02, Verdict.DISPARITY),
    (gaps(0.0, 20_000), 0.02, Verdict.NO_DISPARITY),
    (gaps(0.02, 50), 0.02, Verdict.INCONCLUSIVE),
    (PairHistogram.empty(), 0.02, Verdict.INCONCLUSIVE),
    (CommonOdds.of([Batch(6, 10, 4, 10)] * 200), 0.2, Verdict.DISPARITY),
    (CommonOdds.of([Batch(5, 10, 5, 10)] * 200), 0.25, Verdict.NO_DISPARITY),
    (CommonOdds.of([Batch(6, 10, 4, 10)]), 0.2, Verdict.INCONCLUSIVE),
    (DiscordantPairs(200, 100, 900), 0.2, Verdict.DISPARITY),
    (DiscordantPairs(1000, 1010, 900), 0.25, Verdict.NO_DISPARITY),
    (DiscordantPairs(7, 5, 90), 0.2, Verdict.INCONCLUSIVE),
    (groups(0.1, 2000), 0.02, Verdict.DISPARITY),
    (groups(0.0, 8000), 0.05, Verdict.NO_DISPARITY),
    (groups(0.0, 40), 0.02, Verdict.INCONCLUSIVE),
]


@pytest.mark.parametrize(("evidence", "tolerance", "verdict"), STATES)
def test_a_verdict_follows_from_the_evidence(
    evidence: State, tolerance: float, verdict: Verdict
) -> None:
    decision = judge(evidence, tolerance=tolerance, alpha=0.05)
    assert decision.conclusion.verdict == verdict
    assert decision.conclusion.reason
    decided = verdict is not Verdict.INCONCLUSIVE
    assert decided == (decision.forecast.more_units is None and decision.forecast.reason is None)


def test_a_verdict_is_about_now_whatever_was_shown_before() -> None:
    strong, weak = gaps(0.15, 200), gaps(-0.1, 300)
    assert judge(strong, tolerance=0.02, alpha=0.05).conclusion.verdict is Verdict.DISPARITY
    now = judge(strong + weak, tolerance=0.02, alpha=0.05)
    assert now.conclusion.verdict is Verdict.INCONCLUSIVE


def test_an_interval_may_be_about_more_than_the_test_has_seen() -> None:
    long, empty = gaps(0.0, 20_000), PairHistogram.empty()
    decision = judge(empty, tolerance=0.02, alpha=0.05, shown=long)
    assert decision.conclusion.verdict is Verdict.NO_DISPARITY
    assert decision.log_e == 0
    few = gaps(0.0, 1300)
    assert judge(few, tolerance=0.03, alpha=0.05).conclusion.verdict is Verdict.NO_DISPARITY
    strict = judge(few, tolerance=0.03, alpha=0.05, shown=few, shown_share=1e-6)
    assert strict.conclusion.verdict is Verdict.INCONCLUSIVE


def test_a_larger_family_asks_for_more() -> None:
    alone = gaps(0.1, 120)
    bound = alone.log_e_beyond(0.02)
    assert log(20) < bound < log(20 * 1000)
    assert judge(alone, tolerance=0.02, alpha=0.05).conclusion.verdict is Verdict.DISPARITY
    one_of_many = judge(alone, tolerance=0.02, alpha=0.05, family=1000)
    assert one_of_many.conclusion.verdict is Verdict.INCONCLUSIVE


def test_that_there_is_no_gap_at_all_cannot_be_shown() -> None:
    decision = judge(gaps(0.0, 20_000), tolerance=0.0, alpha=0.05)
    assert decision.conclusion.verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("units", [60, 100])
def test_a_forecast_is_about_when_the_decision_comes_if_things_go_on(units: int) -> None:
    early = gaps(0.08, units, seed=3)
    decision = judge(early, tolerance=0.02, alpha=0.05).forecast
    assert decision.decision is Verdict.DISPARITY
    assert decision.more_units is not None
    factor = 1 + decision.more_units / units
    times = factor * np.array([0.9, 1.03])
    first = early.table.first_beyond(np.array([0.02]), np.array([log(20)]), times)
    assert first.tolist() == [times[1]]


def test_equality_is_forecast_too_and_a_gap_at_the_tolerance_is_not() -> None:
    small = judge(gaps(0.0, 500), tolerance=0.02, alpha=0.05).forecast
    assert small.decision is Verdict.NO_DISPARITY
    even = PairHistogram.of_binary(51, 0, 49)
    assert judge(even, tolerance=0.02, alpha=0.05).forecast.more_units is None
    assert "too near" in (judge(even, tolerance=0.02, alpha=0.05).forecast.reason or "")
    assert "no units" in (judge(CommonOdds(), tolerance=0.2, alpha=0.05).forecast.reason or "")


def test_what_is_no_tolerance_or_family_is_refused() -> None:
    with pytest.raises(ValueError, match="tolerance"):
        judge(gaps(0, 5), tolerance=-0.1, alpha=0.05)
    with pytest.raises(ValueError, match="family"):
        judge(gaps(0, 5), tolerance=0.1, alpha=0.05, family=0)
