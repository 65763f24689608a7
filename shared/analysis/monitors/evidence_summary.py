"""What counts of comparisons say: their gaps, evidence, verdicts, and what is still needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from biaswatch.shared.analysis.monitors.method import method_of
from biaswatch.shared.analysis.monitors.methods.matched import unadjusted_gap, user_counts_of
from biaswatch.shared.analysis.monitors.round_answers import Counts
from biaswatch.shared.analysis.monitors.selections import impact_ratio_of, selection_rates_of
from biaswatch.shared.contracts import (
    Comparison,
    Estimate,
    Method,
    SelectionRates,
    UserCounts,
    Verdict,
)
from biaswatch.shared.stats.anytime.bets import Floats
from biaswatch.shared.stats.anytime.judging import Asked, CurrentDecision, GapTable, judge

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


@dataclass(frozen=True)
class EvidenceRead:
    """The counts of one comparison, a member of the monitor's family, and how to read them."""

    comparison: Comparison
    tested: Counts
    """What the test has seen."""
    alpha: float
    """The share of this test, for the whole family."""
    shown: Counts | None = None
    """What units, gap and interval are about, where it is more than the test has seen."""
    shown_share: float = 1.0
    """Of alpha, for that interval."""
    later: float | None = None
    """The log evidence of gaps that began after the test did, where it is gathered."""

    @property
    def told(self) -> Counts:
        """Return the counts that units, gap and interval are about."""
        return self.tested if self.shown is None else self.shown


def summaries_of(reads: Sequence[EvidenceRead], family: int) -> list[EvidenceSummary]:
    """Return what the evidence of comparisons says, in their order: those of one method at once."""
    found: dict[int, EvidenceSummary] = {}
    for method, places in by_method([each.comparison for each in reads]):
        mine = [reads[place] for place in places]
        found |= zip(places, _of_method(method, mine, family), strict=True)
    return [found[place] for place in range(len(reads))]


def by_method(comparisons: Sequence[Comparison]) -> Iterator[tuple[Method, list[int]]]:
    """Return the places of the comparisons of each method."""
    found: dict[Method, list[int]] = {}
    for place, each in enumerate(comparisons):
        found.setdefault(each.watched.method, []).append(place)
    yield from found.items()


def _of_method(
    method: Method, reads: Sequence[EvidenceRead], family: int
) -> Iterator[EvidenceSummary]:
    table_of = method_of(method).evidence
    tested = shown = table_of([each.tested for each in reads])
    if any(each.shown is not None for each in reads):
        shown = table_of([each.told for each in reads])
    asked = Asked(
        tolerances=np.array([tolerance_of(each.comparison) for each in reads]),
        alphas=np.array([each.alpha for each in reads]),
        family=family,
        shown_shares=np.array([each.shown_share for each in reads]),
        later=np.array([np.nan if each.later is None else each.later for each in reads]),
    )
    alphas = asked.alphas / family * asked.shown_shares
    gaps = gaps_of([each.comparison for each in reads], shown, alphas)
    units, decisions = shown.units.tolist(), judge(tested, asked, shown)
    for each, n, gap, found, alpha in zip(
        reads, units, gaps, decisions, alphas.tolist(), strict=True
    ):
        yield _summary(each, int(n), gap, found, alpha)


def _summary(
    read: EvidenceRead, units: int, gap: Estimate, found: CurrentDecision, alpha: float
) -> EvidenceSummary:
    expected = found.forecast.decision
    return EvidenceSummary(
        units=units,
        gap=gap,
        log_e=found.log_e,
        verdict=Verdict(found.conclusion.verdict),
        reason=found.conclusion.reason,
        more_units=found.forecast.more_units,
        expected_verdict=None if expected is None else Verdict(expected),
        no_forecast=found.forecast.reason,
        impact_ratio=impact_ratio_of(read.told, alpha),
        selection_rates=selection_rates_of(read.told),
        users=user_counts_of(read.told),
        unadjusted=unadjusted_gap(read.comparison, read.told, alpha),
    )


def tolerance_of(comparison: Comparison) -> float:
    """Return the tolerance in the units of evidence: shares of the range, or log odds."""
    return comparison.watched.tolerance / span_of(comparison)


def span_of(comparison: Comparison) -> float:
    """Return what a gap of 1 is in the feature's units; log odds are their own."""
    watched = comparison.watched
    return 1.0 if watched.method.of_selections else watched.high - watched.low


def gaps_of(comparisons: Sequence[Comparison], states: GapTable, alphas: Floats) -> list[Estimate]:
    """Return the gap of each comparison with its interval; None is no bound."""
    found = np.column_stack([states.estimates, states.intervals(alphas)]).tolist()
    rows = zip(comparisons, found, states.units.tolist(), strict=True)
    return [_gap(each, numbers, units) for each, numbers, units in rows]


def _gap(comparison: Comparison, numbers: Sequence[float], units: float) -> Estimate:
    span = span_of(comparison)
    value, low, high = (None if isnan(each) else each * span for each in numbers)
    why = "no set has an answer of both groups so far"
    if comparison.watched.method.of_selections:
        why = "the odds ratio is infinite or 0 so far"
    reason = None if value is not None else why if units else "there are no units yet"
    return Estimate(value=value, low=low, high=high, method=INTERVAL, reason=reason)
