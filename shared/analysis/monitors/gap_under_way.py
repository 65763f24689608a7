"""The test of one gap as a round meets it: what the round before has left, and how it is read."""

from dataclasses import dataclass

from biaswatch.shared.analysis.monitors.alpha import gap_alpha
from biaswatch.shared.analysis.monitors.evidence_summary import EvidenceRead
from biaswatch.shared.analysis.monitors.round_answers import ClosedCounts, Counts, less
from biaswatch.shared.contracts import (
    Comparison,
    Estimate,
    Evidence,
    GapTest,
    MonitorPlan,
    Recovery,
    Stretch,
    Verdict,
)
from biaswatch.shared.stats.anytime.judging import share_left, share_of_attempt, share_of_test

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
    recovery: Recovery | None

    @classmethod
    def of(
        cls, comparison: Comparison, last: Evidence | None, counts: ClosedCounts, plan: MonitorPlan
    ) -> "GapUnderWay":
        """Return where a gap stands; evidence of version 0.1 says it by its verdict."""
        if last is None or last.epoch < counts.round.epoch:
            # Version 0.1 had one test in every epoch.
            tests = 0 if last is None else last.epoch + 1 if last.test is None else last.test.number
            began = Stretch(since_round=counts.round.round)
            return cls(comparison, counts, plan, next_test(tests + 1, began), began, None)
        if last.test is not None and last.shown is not None:
            return cls(comparison, counts, plan, last.test, last.shown, last.recovery)
        began = Stretch(since_round=last.round - last.rounds + 1)
        alarmed = last.verdict is Verdict.DISPARITY
        sought = recovery_sought(last.gap, last.round, last.counts, comparison) if alarmed else None
        return cls(comparison, counts, plan, next_test(last.epoch + 1, began), began, sought)

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
    nothing = Estimate(reason="there are no units yet")
    return Recovery(alarm_round=round_, limit=limit, rounds=since, gap=nothing)
