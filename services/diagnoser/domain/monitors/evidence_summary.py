"""What counts of a comparison say: its gap, evidence, verdict, and what is still needed."""

from dataclasses import dataclass

from services.diagnoser.domain.monitors.method import BoundedEvidence, method_of
from services.diagnoser.domain.monitors.methods.matched import unadjusted_gap, user_counts_of
from services.diagnoser.domain.monitors.round_answers import Counts
from services.diagnoser.domain.monitors.selections import impact_ratio_of, selection_rates_of
from shared.contracts import Comparison, Estimate, SelectionRates, UserCounts, Verdict
from shared.stats.anytime.judging import judge

INTERVAL = "confidence sequence, valid at every look"


@dataclass(frozen=True)
class EvidenceSummary:
    """What the evidence says now."""

    units: int
    gap: Estimate
    log_e: float
    verdict: Verdict
    reason: str
    more_units: int | None
    expected_verdict: Verdict | None
    no_forecast: str | None
    impact_ratio: Estimate | None
    selection_rates: SelectionRates | None
    users: UserCounts | None
    unadjusted: Estimate | None


def summary_of(
    comparison: Comparison,
    tested: Counts,
    *,
    alpha: float,
    family: int,
    shown: Counts | None = None,
    shown_share: float = 1.0,
    later: float | None = None,
) -> EvidenceSummary:
    """Read the evidence of one comparison, a member of the monitor's family.

    Parameters
    ----------
    tested
        What the test has seen.
    alpha
        The share of this test, for the whole family.
    shown
        What units, gap and interval are about, where it is more than the test has seen.
    shown_share
        Of alpha, for that interval.
    later
        The log evidence of gaps that began after the test did, where it is gathered.
    """
    state_of = method_of(comparison.watched.method).evidence
    shown = tested if shown is None else shown
    state, whole = state_of(tested), state_of(shown)
    found = judge(
        state,
        tolerance=tolerance_of(comparison),
        alpha=alpha,
        family=family,
        shown=whole,
        shown_share=shown_share,
        later=later,
    )
    expected = found.forecast.decision
    interval_alpha = alpha / family * shown_share
    return EvidenceSummary(
        units=whole.units,
        gap=gap_of(comparison, whole, interval_alpha),
        log_e=found.log_e,
        verdict=Verdict(found.conclusion.verdict),
        reason=found.conclusion.reason,
        more_units=found.forecast.more_units,
        expected_verdict=None if expected is None else Verdict(expected),
        no_forecast=found.forecast.reason,
        impact_ratio=impact_ratio_of(shown, interval_alpha),
        selection_rates=selection_rates_of(shown),
        users=user_counts_of(shown),
        unadjusted=unadjusted_gap(comparison, shown, interval_alpha),
    )


def tolerance_of(comparison: Comparison) -> float:
    """Return the tolerance in the units of evidence: shares of the range, or log odds."""
    return comparison.watched.tolerance / span_of(comparison)


def span_of(comparison: Comparison) -> float:
    """Return what a gap of 1 is in the feature's units; log odds are their own."""
    watched = comparison.watched
    return 1.0 if watched.method.of_selections else watched.high - watched.low


def gap_of(comparison: Comparison, state: BoundedEvidence, alpha: float) -> Estimate:
    """Return the gap with its interval; None is no bound."""
    found, span = (state.estimate, *state.interval(alpha)), span_of(comparison)
    value, low, high = (None if each is None else each * span for each in found)
    why = "the odds ratio is infinite or 0 so far" if state.units else "there are no units yet"
    reason = why if value is None else None
    return Estimate(value=value, low=low, high=high, method=INTERVAL, reason=reason)
