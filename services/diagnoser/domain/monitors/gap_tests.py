"""The tests of one gap, one after another: an alarm ends a test, and its clearing begins the next.

While no alarm stands, a test looks at all rounds since it began, and at gaps that began later.
While one stands, recovery is looked for: rounds since the gap last exceeded a limit have to show
that it lies within. So an alarm is raised and cleared by evidence alone, and a relapse meets a test
that has seen nothing else.
"""

from dataclasses import dataclass, replace
from math import log

from services.diagnoser.domain.monitors.alpha import gap_alpha
from services.diagnoser.domain.monitors.change_detection import kept_pairs
from services.diagnoser.domain.monitors.evidence_summary import (
    EvidenceSummary,
    gap_of,
    span_of,
    summary_of,
    tolerance_of,
)
from services.diagnoser.domain.monitors.method import method_of
from services.diagnoser.domain.monitors.round_answers import ClosedCounts, Counts, less
from shared.contracts import (
    Bets,
    Comparison,
    Estimate,
    Evidence,
    GapTest,
    MonitorPlan,
    Recovery,
    Stretch,
    Verdict,
)
from shared.formatting import number
from shared.stats.anytime.change import Baseline
from shared.stats.anytime.judging import later_weighs_more
from shared.stats.anytime.late_starts import LateStarts
from shared.stats.anytime.spending import share_left, share_of_attempt, share_of_test

EXCEEDED = log(4)
"""The log evidence that the gap exceeds the limit of its recovery: then it is looked for anew."""
FURTHEST_LOG_ODDS = 3.9
"""A limit of log odds: evidence is computed up to 4."""


@dataclass(frozen=True)
class TestedGap:
    """How a gap stands after a round."""

    test: GapTest
    """The test under way; where the round has cleared an alarm, the one that begins next."""
    shown: Stretch
    recovery: Recovery | None
    summary: EvidenceSummary


def tested_gap(
    last: Evidence | None, counts: ClosedCounts, plan: MonitorPlan, comparison: Comparison
) -> TestedGap:
    """Return how a gap stands after a round; it depends on earlier rounds and on nothing else.

    Parameters
    ----------
    last
        The evidence before this round; None before the first.
    """
    rounds = _Rounds(counts, plan, comparison)
    if last is None or last.epoch < counts.round.epoch:
        # Version 0.1 had one test in every epoch.
        tests = 0 if last is None else last.epoch + 1 if last.test is None else last.test.number
        began = Stretch(since_round=counts.round.round)
        return rounds.watched(_test(tests + 1, began), began)
    test, shown, recovery = _under_way(last)
    if recovery is None or recovery.over:
        return rounds.watched(test, shown)
    return rounds.recovering(test, shown, recovery)


def _test(number_: int, rounds: Stretch) -> GapTest:
    share, left = share_of_test(number_), share_left(number_)
    since = rounds.since_round
    return GapTest(number=number_, share=share, left=left, rounds=rounds, since_round=since)


def _under_way(last: Evidence) -> tuple[GapTest, Stretch, Recovery | None]:
    """Return what the round before has left; evidence of version 0.1 says it by its verdict."""
    if last.test is not None and last.shown is not None:
        return last.test, last.shown, last.recovery
    began = Stretch(since_round=last.round - last.rounds + 1)
    alarmed = last.verdict is Verdict.DISPARITY
    recovery = _sought(last.gap, last.round, last.counts, last.comparison) if alarmed else None
    return _test(last.epoch + 1, began), began, recovery


def _sought(gap: Estimate, round_: int, total: Counts, comparison: Comparison) -> Recovery:
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


ABOUT_ROUNDS_SHOWN = ("units", "gap", "impact_ratio", "selection_rates", "users", "unadjusted")
"""What a summary says of the rounds that are shown, and not of those tested."""


@dataclass(frozen=True)
class _Rounds:
    """A closed round and those before it, and how to read them."""

    counts: ClosedCounts
    plan: MonitorPlan
    comparison: Comparison

    def watched(self, test: GapTest, shown: Stretch) -> TestedGap:
        """Return how a gap stands of which no alarm stood: one may be raised."""
        test, summary = self._looked(test, shown)
        if summary.verdict is not Verdict.DISPARITY:
            return TestedGap(test, shown, None, summary)
        since = self._since(test)
        alone = self._summary(test, since)
        told = replace(summary, **{name: getattr(alone, name) for name in ABOUT_ROUNDS_SHOWN})
        recovery = _sought(told.gap, self._round, self.counts.total, self.comparison)
        return TestedGap(test.model_copy(update={"late": Bets()}), since, recovery, told)

    def recovering(self, test: GapTest, shown: Stretch, sought: Recovery) -> TestedGap:
        """Return how a gap stands whose alarm stood: it may be cleared."""
        found = method_of(self.comparison.watched.method).evidence(self._counts(sought.rounds))
        attempt = sought.rounds.attempt or 1
        alpha = self.plan.alpha * share_of_attempt(attempt)
        limit = sought.limit / span_of(self.comparison)
        now = sought.model_copy(update={"gap": gap_of(self.comparison, found, alpha)})
        # Beside a limit above the tolerance: nothing may speak for a gap beyond the tolerance.
        harmless = found.log_e_beyond(tolerance_of(self.comparison)) <= 0
        if harmless and found.within(limit, -log(alpha)):
            return self._cleared(test, now)
        since_then = test.model_copy(update={"rounds": shown})
        summary = _standing(self._summary(since_then, shown), now)
        if found.log_e_beyond(limit) > EXCEEDED:
            now = now.model_copy(update={"rounds": self._next_round(attempt + 1)})
        return TestedGap(test, shown, now, summary)

    def _looked(self, test: GapTest, shown: Stretch) -> tuple[GapTest, EvidenceSummary]:
        """Return a test that has seen this round, too, and what it says."""
        late = self._late(test)
        summary = self._summary(test, shown, late.log_evidence)
        since = test.rounds.since_round
        if late.likeliest is not None and later_weighs_more(summary.log_e, late.log_evidence):
            since = late.likeliest
        bets = Bets(**vars(late))
        return test.model_copy(update={"late": bets, "since_round": since}), summary

    def _late(self, test: GapTest) -> LateStarts:
        """Return the bets on a gap that began after the test; none where rounds keep no pairs."""
        late, place = LateStarts(**dict(test.late)), self._place(test)
        pairs = kept_pairs(self.counts.added, level=False)
        if self.comparison.watched.method.of_selections or pairs is None or not place:
            return late
        factors = Baseline(tolerance=tolerance_of(self.comparison)).of_round(pairs)
        return late.after(factors, log(share_of_attempt(place)), self._round)

    def _since(self, test: GapTest) -> Stretch:
        """Return the rounds since the gap began, most likely."""
        if test.since_round == test.rounds.since_round:
            return test.rounds
        place = test.since_round - test.rounds.since_round
        before = self.counts.up_to(test.since_round - 1)
        return Stretch(since_round=test.since_round, before=before, attempt=place)

    def _place(self, test: GapTest) -> int:
        """Return how many rounds of the test there were before this one."""
        return self._round - test.rounds.since_round

    @property
    def _round(self) -> int:
        return self.counts.round.round

    def _cleared(self, test: GapTest, recovery: Recovery) -> TestedGap:
        """Begin the next test with the next round; what cleared the alarm is shown on."""
        then, over = _test(test.number + 1, self._next_round()), {"over": True}
        summary = self._summary(then, recovery.rounds)
        return TestedGap(then, recovery.rounds, recovery.model_copy(update=over), summary)

    def _next_round(self, attempt: int | None = None) -> Stretch:
        return Stretch(since_round=self._round + 1, before=self.counts.total, attempt=attempt)

    def _summary(
        self, test: GapTest, shown: Stretch, later: float | None = None
    ) -> EvidenceSummary:
        return summary_of(
            self.comparison,
            self._counts(test.rounds),
            alpha=gap_alpha(self.plan, test.number),
            family=len(self.plan.watched),
            shown=None if shown == test.rounds else self._counts(shown),
            shown_share=share_of_attempt(shown.attempt) if shown.attempt else 1.0,
            later=later,
        )

    def _counts(self, rounds: Stretch) -> Counts:
        return less(self.counts.total, rounds.before)


def _standing(summary: EvidenceSummary, recovery: Recovery) -> EvidenceSummary:
    """Return a summary whose verdict is that of the alarm that stands."""
    gap, limit = recovery.gap, number(recovery.limit)
    since = f"since round {recovery.rounds.since_round} the gap is {number(gap.value)}"
    reason = (
        f"the alarm of round {recovery.alarm_round} stands until the gap is shown to lie between"
        f" -{limit} and {limit}: {since} ({number(gap.low)} to {number(gap.high)})"
    )
    return replace(
        summary,
        verdict=Verdict.DISPARITY,
        reason=reason,
        more_units=None,
        expected_verdict=None,
        no_forecast=None,
    )
