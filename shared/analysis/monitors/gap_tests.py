"""The tests of gaps, one after another: an alarm ends a test, and its clearing begins the next.

While no alarm stands, a test looks at all rounds since it began, and at gaps that began later.
While one stands, recovery is looked for: rounds since the gap last exceeded a limit have to show
that it lies within. So an alarm is raised and cleared by evidence alone, and a relapse meets a test
that has seen nothing else.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite, log

import numpy as np

from biaswatch.shared.analysis.monitors.alpha_shares import share_beyond
from biaswatch.shared.analysis.monitors.change_detection import (
    bets_columns,
    kept_pairs,
    late_starts_in,
    pairs_of,
)
from biaswatch.shared.analysis.monitors.gap_evidence import (
    EvidenceRead,
    EvidenceSummary,
    GapUnderWay,
    gaps_of,
    next_test,
    span_of,
    summaries_of,
    tolerance_of,
)
from biaswatch.shared.analysis.monitors.group_effects import BeyondTwins, beyond_twins
from biaswatch.shared.analysis.monitors.method import by_method, method_of
from biaswatch.shared.analysis.monitors.pair_counts import REPEATED
from biaswatch.shared.analysis.monitors.same_treatment import SameTreatment
from biaswatch.shared.contracts import (
    Bets,
    Comparison,
    Estimate,
    GapTest,
    Recovery,
    Stretch,
    Verdict,
)
from biaswatch.shared.contracts.columns import columns_of, fields_in
from biaswatch.shared.formatting import number
from biaswatch.shared.stats.anytime.judging import later_weighs_more, share_of_attempt
from biaswatch.shared.stats.estimate import DIFFERS

EXCEEDED = log(4)
"""The log evidence that the gap exceeds the limit of its recovery: then it is looked for anew."""


@dataclass(frozen=True)
class TestedGap:
    """How a gap stands after a round."""

    __test__ = False

    test: GapTest
    """The test under way; where the round has cleared an alarm, the one that begins next."""
    shown: Stretch
    recovery: Recovery | None
    summary: EvidenceSummary
    beyond: BeyondTwins
    same: SameTreatment


def tested_gaps(gaps: Sequence[GapUnderWay]) -> list[TestedGap]:
    """Return how gaps stand after a round; each depends on its earlier rounds and nothing else."""
    tested: dict[int, TestedGap] = {}
    for recovering, after in ((False, _watched), (True, _recovering)):
        places = [n for n, gap in enumerate(gaps) if gap.recovering is recovering]
        tested |= zip(places, after([gaps[n] for n in places]), strict=True)
    return [tested[n] for n in range(len(gaps))]


ABOUT_ROUNDS_SHOWN = ("units", "gap", "impact_ratio", "selection_rates", "users", "unadjusted")
"""Fields of a summary that are about the rounds shown, not about those tested."""


def _watched(gaps: Sequence[GapUnderWay]) -> list[TestedGap]:
    """Return the summaries of gaps without an open alarm: one may be raised."""
    late = _late(gaps)
    reads = [
        gap.read(gap.test, gap.shown, late_gap.log_evidence)
        for gap, late_gap in zip(gaps, late, strict=True)
    ]
    summaries = _summaries(gaps, reads)
    tested = []
    for gap, late_gap, twins in zip(gaps, late, summaries, strict=True):
        summary, beyond = beyond_twins(gap, twins)
        test = _dated(gap, late_gap, summary)
        tested.append(TestedGap(test, gap.shown, None, summary, beyond, gap.same))
    alarmed = [n for n, test in enumerate(tested) if test.summary.verdict is Verdict.DISPARITY]
    alarmed_tests = _raised([gaps[n] for n in alarmed], [tested[n] for n in alarmed])
    for place, raised in zip(alarmed, alarmed_tests, strict=True):
        tested[place] = raised
    return tested


def _raised(gaps: Sequence[GapUnderWay], tested: Sequence[TestedGap]) -> list[TestedGap]:
    """Return the summaries of gaps that alarm, over the rounds since their most likely start."""
    since = [gap.since_it_began(test.test) for gap, test in zip(gaps, tested, strict=True)]
    reads = [
        gap.read(test.test, rounds) for gap, test, rounds in zip(gaps, tested, since, strict=True)
    ]
    raised = []
    for gap, gap_test, rounds, alone in zip(
        gaps, tested, since, _summaries(gaps, reads), strict=True
    ):
        names = ABOUT_ROUNDS_SHOWN if gap.blocks is None else ("units",)
        about = {name: getattr(alone, name) for name in names}
        summary = replace(gap_test.summary, **about)
        test = gap_test.test.model_copy(update={"late": Bets()})
        sought = gap.sought(summary.gap)
        raised.append(TestedGap(test, rounds, sought, summary, gap_test.beyond, gap.same))
    return raised


@dataclass(frozen=True)
class LateGap:
    """The bets on a gap that began after its test, and what they say."""

    bets: Bets
    log_evidence: float | None = None
    """None where rounds keep no pairs, or none is gathered yet."""
    likeliest: int = -1
    """The round with which it began, most likely; -1 where no bet has earned anything."""


def _late(gaps: Sequence[GapUnderWay]) -> list[LateGap]:
    """Return bets after a round; where it keeps no pairs, and in a test's first, as they were."""
    kept = [gap.test.late for gap in gaps]
    bets = late_starts_in(columns_of(kept), len(gaps))
    places = np.array([n for n, gap in enumerate(gaps) if _begins_late(gap)], dtype=np.int64)
    if places.size:
        own_gaps = [gaps[n] for n in places]
        tolerances = np.array([tolerance_of(gap.comparison) for gap in own_gaps])
        pairs = pairs_of([gap.counts.added for gap in own_gaps], level=False)
        factors = pairs.wealths_beyond(tolerances)
        weights = np.log([share_of_attempt(gap.rounds_before) for gap in own_gaps])
        after = bets.of_rows(places).after(factors, weights, gaps[0].round)
        kept_fields = fields_in(bets_columns(after), len(places))
        for place, fields in zip(places.tolist(), kept_fields, strict=True):
            kept[place] = Bets.model_validate(fields)
        bets = bets.with_rows(places, after)
    columns = zip(bets.log_evidence.tolist(), bets.likeliest.tolist(), strict=True)
    return [
        LateGap(late_bets, evidence, likeliest) if isfinite(evidence) else LateGap(late_bets)
        for late_bets, (evidence, likeliest) in zip(kept, columns, strict=True)
    ]


def _begins_late(gap: GapUnderWay) -> bool:
    selections = gap.comparison.watched.method.of_selections
    pairs = kept_pairs(gap.counts.added, level=False)
    is_of_units = gap.blocks is None and REPEATED not in gap.counts.added
    return is_of_units and gap.rounds_before > 0 and not selections and pairs is not None


def _dated(gap: GapUnderWay, late: LateGap, summary: EvidenceSummary) -> GapTest:
    """Return a test that has seen this round, too, and since when its gap is there."""
    since = gap.test.rounds.since_round
    later = late.likeliest >= 0 and later_weighs_more(summary.log_e, late.log_evidence)
    return gap.test.model_copy(
        update={"late": late.bets, "since_round": late.likeliest if later else since}
    )


@dataclass(frozen=True)
class RecoveryRead:
    """The evidence of the rounds that may show a recovery."""

    gap: Estimate
    over: bool
    given_up: bool
    """Later rounds alone can show it: the gap is likely to exceed the limit again, or did in the
    first of these rounds, so that all of them together still speak for a gap."""


def _recovering(gaps: Sequence[GapUnderWay]) -> list[TestedGap]:
    """Return how gaps stand whose alarm stood: it may be cleared."""
    sought = [gap.recovery for gap in gaps if gap.recovery is not None]
    recoveries = _recoveries(gaps, sought)
    tests = [
        next_test(gap.test.number + 1, gap.next_round()) if recovery_read.over
        else gap.test.model_copy(update={"rounds": gap.shown})
        for gap, recovery_read in zip(gaps, recoveries, strict=True)
    ]  # fmt: skip
    shown = [
        recovery.rounds if recovery_read.over else gap.shown
        for gap, recovery, recovery_read in zip(gaps, sought, recoveries, strict=True)
    ]
    reads = [gap.read(test, rounds) for gap, test, rounds in zip(gaps, tests, shown, strict=True)]
    with_recovery = []
    for gap, recovery, recovery_read, test, rounds, summary in zip(
        gaps, sought, recoveries, tests, shown, _summaries(gaps, reads), strict=True
    ):
        now = recovery.model_copy(update={"gap": recovery_read.gap, "over": recovery_read.over})
        beyond = BeyondTwins(clusters=None if recovery_read.over else gap.clusters)
        if gap.blocks is not None:
            beyond = replace(beyond, group_effect=None if recovery_read.over else DIFFERS)
            beyond = replace(beyond, group_effect_reason=None, these=summary.gap)
        if recovery_read.over:
            with_recovery.append(TestedGap(test, rounds, now, summary, beyond, gap.same))
            continue
        shown_summary = _with_recovery(summary, now, gap.comparison)
        if recovery_read.given_up:
            again = gap.next_round((recovery.rounds.attempt or 1) + 1)
            now = now.model_copy(update={"rounds": again})
        with_recovery.append(TestedGap(gap.test, rounds, now, shown_summary, beyond, gap.same))
    return with_recovery


def _recoveries(gaps: Sequence[GapUnderWay], sought: Sequence[Recovery]) -> list[RecoveryRead]:
    reads: dict[int, RecoveryRead] = {}
    counts = [gap.counts_of(recovery.rounds) for gap, recovery in zip(gaps, sought, strict=True)]
    for method, places in by_method([gap.comparison for gap in gaps]):
        table = method_of(method).evidence([counts[n] for n in places])
        comparisons = [gaps[n].comparison for n in places]
        alphas = np.array(
            [gaps[n].plan.alpha * share_of_attempt(sought[n].rounds.attempt or 1) for n in places]
        )
        limits = np.array([sought[n].limit / span_of(gaps[n].comparison) for n in places])
        tolerances = np.array([tolerance_of(comparison) for comparison in comparisons])
        # Beside a limit above the tolerance: nothing may speak for a gap beyond the tolerance.
        silent = table.log_es_beyond(tolerances) <= 0
        within = table.within(limits, -np.log(alphas))
        given_up = (table.log_es_beyond(limits) > EXCEEDED) | (within & ~silent)
        columns = (
            gaps_of(comparisons, table, alphas),
            (within & silent).tolist(),
            given_up.tolist(),
        )
        reads |= zip(
            places, (RecoveryRead(*row) for row in zip(*columns, strict=True)), strict=True
        )
    return [reads[n] for n in range(len(gaps))]


def _with_recovery(
    summary: EvidenceSummary, recovery: Recovery, comparison: Comparison
) -> EvidenceSummary:
    """Return a summary whose verdict is that of the active alarm."""
    gap, span = recovery.gap, span_of(comparison)
    since = f"answers since round {recovery.rounds.since_round}"
    if gap.value is None or gap.low is None or gap.high is None or gap.high - gap.low >= span:
        shown = f"only {since} count for this, and they are too few"
    else:
        interval = f"{number(gap.low)} to {number(gap.high)}"
        shown = f"by the {since} it is {number(gap.value)} ({interval})"
    reason = (
        f"the alarm of round {recovery.alarm_round} is over once the gap is shown to lie within"
        f" {_limit_words(recovery.limit, comparison)}: {shown}"
    )
    return replace(
        summary,
        verdict=Verdict.DISPARITY,
        reason=reason,
        more_units=None,
        expected_verdict=None,
        no_forecast=None,
    )


def _limit_words(limit: float, comparison: Comparison) -> str:
    """Return the limit of a recovery, and where it comes from."""
    watched, size = comparison.watched, number(limit)
    origin = "set by the alarm's gap" if watched.method.of_selections else "half of the alarm's gap"
    larger = f"{origin}, which is more than the tolerance of {number(watched.tolerance)}"
    return f"-{size} to {size} ({larger if limit > watched.tolerance else 'the tolerance'})"


def _summaries(gaps: Sequence[GapUnderWay], reads: Sequence[EvidenceRead]) -> list[EvidenceSummary]:
    if not gaps:
        return []
    plan = gaps[0].plan
    return summaries_of(reads, len(plan.all_comparisons), share_beyond(plan))
