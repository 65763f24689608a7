"""The test of one gap as a round meets it: what the round before has left, and how it is read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from biaswatch.shared.analysis.monitors.alpha_shares import gap_alpha
from biaswatch.shared.analysis.monitors.blocks import PairBlocks
from biaswatch.shared.analysis.monitors.method import by_method, method_of
from biaswatch.shared.analysis.monitors.methods.matched import unadjusted_gap, user_counts_of
from biaswatch.shared.analysis.monitors.round_answers import ClosedCounts, Counts, less
from biaswatch.shared.analysis.monitors.same_treatment import (
    UNANSWERED,
    SameTreatment,
    same_treatment,
)
from biaswatch.shared.analysis.monitors.selections import impact_ratio_of, selection_rates_of
from biaswatch.shared.contracts import (
    ClusteredEvidence,
    Comparison,
    Estimate,
    Evidence,
    GapTest,
    Method,
    MonitorPlan,
    Recovery,
    SelectionRates,
    Stretch,
    UserCounts,
    Verdict,
)
from biaswatch.shared.stats.anytime.gap_tables import GapTable
from biaswatch.shared.stats.anytime.judging import (
    CurrentDecision,
    TestParameters,
    judge,
    share_left,
    share_of_attempt,
    share_of_test,
)
from biaswatch.shared.stats.arrays import Floats

INTERVAL = "confidence sequence, valid at every look"
NO_SETS, NO_UNITS = "no set has an answer of both groups yet", "there are no units yet"


@dataclass(frozen=True)
class EvidenceSummary:
    """The verdict and the intervals of the evidence to date."""

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
    """The counts of the test."""
    alpha: float
    """The share of this test, for the whole family."""
    shown: Counts | None = None
    """The counts behind units, gap and interval, where they are more than those of the test."""
    shown_share: float = 1.0
    """The share of alpha for that interval."""
    later: float | None = None
    """The log evidence of gaps that began after the test did, where it is gathered."""

    @property
    def shown_counts(self) -> Counts:
        """Return the counts that units, gap and interval are about."""
        return self.tested if self.shown is None else self.shown


def summaries_of(
    reads: Sequence[EvidenceRead], family: int, disparity_share: float = 1.0
) -> list[EvidenceSummary]:
    """Return what the evidence of comparisons says, in their order: those of one method at once."""
    summaries: dict[int, EvidenceSummary] = {}
    for method, places in by_method([read.comparison for read in reads]):
        own_reads = [reads[place] for place in places]
        summaries |= zip(
            places, _of_method(method, own_reads, family, disparity_share), strict=True
        )
    return [summaries[place] for place in range(len(reads))]


def _of_method(
    method: Method, reads: Sequence[EvidenceRead], family: int, disparity_share: float
) -> Iterator[EvidenceSummary]:
    table_of = method_of(method).evidence
    tested = shown = table_of([read.tested for read in reads])
    if any(read.shown is not None for read in reads):
        shown = table_of([read.shown_counts for read in reads])
    parameters = TestParameters(
        tolerances=np.array([tolerance_of(read.comparison) for read in reads]),
        alphas=np.array([read.alpha for read in reads]),
        family=family,
        shown_shares=np.array([read.shown_share for read in reads]),
        disparity_share=disparity_share,
        later=np.array([np.nan if read.later is None else read.later for read in reads]),
    )
    alphas = parameters.alphas / family * parameters.shown_shares
    gaps = gaps_of([read.comparison for read in reads], shown, alphas)
    units, decisions = shown.units.tolist(), judge(tested, parameters, shown).rows()
    for read, n, gap, decision, alpha in zip(
        reads, units, gaps, decisions, alphas.tolist(), strict=True
    ):
        yield _summary(read, int(n), gap, decision, alpha)


def _summary(
    read: EvidenceRead, units: int, gap: Estimate, decision: CurrentDecision, alpha: float
) -> EvidenceSummary:
    expected = decision.forecast.decision
    return EvidenceSummary(
        units=units,
        gap=gap,
        log_e=decision.log_e,
        verdict=Verdict(decision.conclusion.verdict),
        reason=decision.conclusion.reason,
        more_units=decision.forecast.more_units,
        expected_verdict=None if expected is None else Verdict(expected),
        no_forecast=decision.forecast.reason,
        impact_ratio=impact_ratio_of(read.shown_counts, alpha),
        selection_rates=selection_rates_of(read.shown_counts),
        users=user_counts_of(read.shown_counts),
        unadjusted=unadjusted_gap(read.comparison, read.shown_counts, alpha),
    )


def tolerance_of(comparison: Comparison) -> float:
    """Return the tolerance in the units of evidence: shares of the range, or log odds."""
    return comparison.watched.tolerance / span_of(comparison)


def span_of(comparison: Comparison) -> float:
    """Return what a gap of 1 is in the feature's units; log odds are their own."""
    watched = comparison.watched
    return 1.0 if watched.method.of_selections else watched.high - watched.low


def gaps_of(comparisons: Sequence[Comparison], states: GapTable, alphas: Floats) -> list[Estimate]:
    """Return the gap of each comparison with its interval; None means unbounded."""
    columns = np.column_stack([states.estimates, states.intervals(alphas)]).tolist()
    rows = zip(comparisons, columns, states.units.tolist(), strict=True)
    return [_gap(comparison, numbers, units) for comparison, numbers, units in rows]


def _gap(comparison: Comparison, numbers: Sequence[float], units: float) -> Estimate:
    span = span_of(comparison)
    value, low, high = (None if isnan(number) else number * span for number in numbers)
    why = NO_SETS
    if comparison.watched.method.of_selections:
        why = "the odds ratio is infinite or 0 to date"
    reason = None if value is not None else why if units else NO_UNITS
    return Estimate(value=value, low=low, high=high, method=INTERVAL, reason=reason)


FURTHEST_LOG_ODDS = 3.9
"""A limit of log odds: evidence is computed up to 4."""


@dataclass(frozen=True)
class GapUnderWay:
    """A closed round of a comparison, and where its gap stood before."""

    comparison: Comparison
    counts: ClosedCounts
    plan: MonitorPlan
    test: GapTest
    shown: Stretch
    recovery: Recovery | None = None
    blocks: PairBlocks | None = None
    """The blocks of names and texts; None without random factors."""
    same: SameTreatment = UNANSWERED
    """The answer to the first question, of all rounds of the epoch."""
    clusters: ClusteredEvidence | None = None
    """The evidence of blocks after the round before."""

    @classmethod
    def of(
        cls,
        comparison: Comparison,
        last: Evidence | None,
        counts: ClosedCounts,
        plan: MonitorPlan,
        blocks: PairBlocks | None = None,
    ) -> "GapUnderWay":
        """Return where a gap stands before its round is read."""
        same = same_treatment(comparison, counts, last, plan)
        if last is None or last.test is None or last.epoch < counts.round.epoch:
            tests = last.test.number if last and last.test else 0
            began = Stretch(since_round=counts.round.round)
            test = next_test(tests + 1, began)
            return cls(comparison, counts, plan, test, began, blocks=blocks, same=same)
        return cls(
            comparison, counts, plan, last.test, last.shown or last.test.rounds, last.recovery,
            blocks, same, last.clusters,
        )  # fmt: skip

    @property
    def recovering(self) -> bool:
        """Tell whether an alarm stands, whose end is looked for."""
        return self.recovery is not None and not self.recovery.over

    @property
    def round(self) -> int:
        """Return the number of this round."""
        return self.counts.round.round

    @property
    def rounds_before(self) -> int:
        """Return how many rounds of the test there were before this one."""
        return self.round - self.test.rounds.since_round

    def read(self, test: GapTest, shown: Stretch, later: float | None = None) -> EvidenceRead:
        """Return how the evidence of a test is read."""
        return EvidenceRead(
            self.comparison,
            self.counts_of(test.rounds),
            alpha=gap_alpha(self.plan, test.number),
            shown=None if shown == test.rounds else self.counts_of(shown),
            shown_share=share_of_attempt(shown.attempt) if shown.attempt else 1.0,
            later=later,
        )

    def counts_of(self, rounds: Stretch) -> Counts:
        """Return the sum of rounds up to this one."""
        return less(self.counts.total, rounds.before)

    def since_it_began(self, test: GapTest) -> Stretch:
        """Return the rounds since the gap began, most likely."""
        if test.since_round == test.rounds.since_round:
            return test.rounds
        place = test.since_round - test.rounds.since_round
        before = self.counts.up_to(test.since_round - 1)
        return Stretch(since_round=test.since_round, before=before, attempt=place)

    def next_round(self, attempt: int | None = None) -> Stretch:
        """Return the rounds after this one."""
        return Stretch(since_round=self.round + 1, before=self.counts.total, attempt=attempt)

    def sought(self, gap: Estimate) -> Recovery:
        """Return the recovery that is looked for after an alarm of this round."""
        return recovery_sought(gap, self.round, self.counts.total, self.comparison)


def next_test(number: int, rounds: Stretch) -> GapTest:
    """Return a test before its first round."""
    share, left = share_of_test(number), share_left(number)
    since = rounds.since_round
    return GapTest(number=number, share=share, left=left, rounds=rounds, since_round=since)


def recovery_sought(gap: Estimate, round_: int, total: Counts, comparison: Comparison) -> Recovery:
    """Return the recovery that is looked for after an alarm of this gap.

    The gap must be shown to lie within the tolerance, or within half of what it was, if that is
    more: so that an alarm at tolerance 0 can be cleared, too. Where it is infinite, the end of its
    interval nearer to 0 takes its place.
    """
    if gap.value is not None:
        half = abs(gap.value) / 2
    else:
        half = gap.low if gap.low is not None and gap.low > 0 else -(gap.high or 0.0)
    limit = max(comparison.watched.tolerance, half)
    if comparison.watched.method.of_selections:
        limit = min(limit, FURTHEST_LOG_ODDS)
    since = Stretch(since_round=round_ + 1, before=total, attempt=1)
    no_units = Estimate(reason=NO_UNITS)
    return Recovery(alarm_round=round_, limit=limit, rounds=since, gap=no_units)
