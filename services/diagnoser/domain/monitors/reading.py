"""The sum of a monitor's increments, read: gap, interval, verdict, forecast."""

from dataclasses import dataclass

from services.diagnoser.domain.monitors.counting import SELECTIONS, Counts
from shared.contracts import Comparison, Estimate, Method, MonitorPlan, Verdict
from shared.stats.anytime.discordant import DiscordantPairs
from shared.stats.anytime.four_fifths import SelectionPairs
from shared.stats.anytime.judging import judge
from shared.stats.anytime.odds import CommonOdds
from shared.stats.anytime.pairs import PairHistogram
from shared.stats.anytime.two_groups import TwoHistograms

State = PairHistogram | CommonOdds | DiscordantPairs | TwoHistograms
INTERVAL = "confidence sequence, valid at every look"


@dataclass(frozen=True)
class Read:
    """What the evidence says now."""

    units: int
    gap: Estimate
    log_e: float
    log_supremum: float
    verdict: Verdict
    reason: str
    more_units: int | None
    expected_verdict: Verdict | None
    no_forecast: str | None
    impact_ratio: Estimate | None


def state_of(method: Method, counts: Counts) -> State:
    """Return the state of evidence that the counts are."""
    if method is Method.PAIRS:
        return PairHistogram(counts["counts"], counts["absent"][0])
    if method is Method.DISCORDANT:
        return DiscordantPairs(*counts["pairs"])
    if method is Method.TWO_GROUPS:
        return TwoHistograms(counts["first"], counts["second"])
    single = (counts[name][0] for name in ("units", "silent"))
    return CommonOdds(counts["selected"][0], counts["normalisers"], *single)


def read(comparison: Comparison, counts: Counts, plan: MonitorPlan, log_supremum: float) -> Read:
    """Read the evidence of one comparison, a member of the monitor's family."""
    watched = comparison.watched
    state, span = state_of(watched.method, counts), span_of(comparison)
    alpha, family = plan.alpha / 2, len(plan.watched)
    found = judge(
        state,
        tolerance=watched.tolerance / span,
        alpha=alpha,
        family=family,
        log_supremum=log_supremum,
    )
    expected = found.forecast.decision
    return Read(
        units=state.units,
        gap=gap_of(comparison, state, alpha / family),
        log_e=found.log_e,
        log_supremum=found.log_supremum,
        verdict=Verdict(found.conclusion.verdict),
        reason=found.conclusion.reason,
        more_units=found.forecast.more_units,
        expected_verdict=None if expected is None else Verdict(expected),
        no_forecast=found.forecast.reason,
        impact_ratio=_impact_ratio(counts, alpha / family),
    )


def span_of(comparison: Comparison) -> float:
    """Return what a gap of 1 is in the feature's units; log odds are their own."""
    watched = comparison.watched
    return 1.0 if watched.method.of_selections else watched.high - watched.low


def gap_of(comparison: Comparison, state: State, alpha: float) -> Estimate:
    """Return the gap with its interval; None is no bound."""
    value, span = state.estimate, span_of(comparison)
    low, high = state.interval(alpha)
    return Estimate(
        value=None if value is None else value * span,
        low=None if low is None else low * span,
        high=None if high is None else high * span,
        method=INTERVAL,
        reason=None if value is not None else _why(state),
    )


def _why(state: State) -> str:
    if not state.units:
        return "there are no units yet"
    return "the odds ratio is infinite or 0 so far"


def _impact_ratio(counts: Counts, alpha: float) -> Estimate | None:
    if SELECTIONS not in counts:
        return None
    pairs = SelectionPairs(*counts[SELECTIONS])
    if pairs.ratio is None:
        return Estimate(reason="nobody of the second group was selected", method=INTERVAL)
    low, high = pairs.interval(alpha)
    return Estimate(value=pairs.ratio, low=low, high=high, method=INTERVAL)
