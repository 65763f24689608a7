"""Notes on a monitor before it asks anything: the gaps it can find, and points to consider."""

from collections.abc import Iterator
from math import ceil, log

from biaswatch.shared.analysis.findings.scales import scale_notes
from biaswatch.shared.analysis.monitors.alpha_shares import gap_bound
from biaswatch.shared.analysis.monitors.plans import AskedSets
from biaswatch.shared.contracts import Method, MonitorPlan, WatchedPair
from biaswatch.shared.formatting import number
from biaswatch.shared.parsing.english_texts import READ_ENGLISH
from biaswatch.shared.stats.anytime.change_search import planned_change
from biaswatch.shared.stats.anytime.judging import alpha_of_search
from biaswatch.shared.stats.estimate import MIN_FACTOR_LEVELS, too_few

ROUNDS = 30
"""Before a change, and after it."""
LARGE_CHANGE = 0.2
"""Share of the range: a monitor that cannot find such a change gets a note."""
SD = 0.25
"""Assumed standard deviation of the sets' gaps, as a share of the range."""


NO_CLUSTER = (
    "Users are taken to be independent. Where several belong to one company or account, declare"
    " `cluster: FACT`, the fact of the answers that names it: otherwise alarms may be false far"
    " more often than alpha."
)


def notes_of(plan: MonitorPlan, suite: AskedSets | None) -> list[str]:
    """Return what to know of a monitor; traffic has no alarms for changes."""
    notes = list(_tolerances(plan))
    notes += dict.fromkeys(n for watched in plan.features for n in scale_notes(watched.feature))
    notes += _languages(plan)
    if plan.traffic is not None and plan.traffic.cluster is None:
        notes.append(NO_CLUSTER)
    if suite is not None:
        notes += dict.fromkeys(_random_factors(plan, suite))
        notes += dict.fromkeys(_changes(plan, suite))
        notes += _methods(plan, suite)
    return notes


def _random_factors(plan: MonitorPlan, suite: AskedSets) -> Iterator[str]:
    """Say where a suite has too few names or texts for a verdict beyond them."""
    blocks = suite.blocks(plan.random)
    for pair in plan.comparisons if plan.random else ():
        own = blocks.of(pair)
        sides = f"{pair.a} and {pair.b or 'the others'}"
        if own is not None and own.lacking is not None:
            yield (
                f"The suite has {too_few(own.lacking)} of {sides} for a verdict about more than"
                f" these (at least {MIN_FACTOR_LEVELS} a group): no gap alarms. Add some, or write"
                " `random: []` for verdicts about these alone."
            )
        elif own is not None and own.count < (needed := least_blocks(plan)):
            yield (
                f"The suite has {own.count} blocks of {sides} that share no"
                f" {' and no '.join(plan.random)}: {needed} or more are needed before a gap can"
                " alarm. Add some."
            )


def least_blocks(plan: MonitorPlan) -> int:
    """Return how many blocks a gap needs to alarm: each at most doubles the evidence."""
    return 1 + ceil(gap_bound(plan, 1) / log(2))


def _methods(plan: MonitorPlan, suite: AskedSets) -> Iterator[str]:
    """Say what a method takes for granted that the suite may not keep."""
    methods = {watched.method for watched in plan.features}
    if Method.ODDS in methods or Method.DISCORDANT in methods:
        yield (
            "Sets with all answers or none selected carry no information: where sets differ in"
            " difficulty, it takes longer, and `plan --config spread=` says how long."
        )
    if Method.TWO_GROUPS in methods and any(suite.twins(pair) for pair in plan.comparisons):
        yield (
            "Sets that have both groups are compared as twins by `two_groups`, the others as"
            " independent answers; the gap is taken to be the same in both."
        )


def _tolerances(plan: MonitorPlan) -> Iterator[str]:
    zero = [
        f"{watched.extractor}.{watched.feature}"
        for watched in plan.features
        if not watched.tolerance
    ]
    if zero:
        yield (
            f"The tolerance of {', '.join(dict.fromkeys(zero))} is 0: any gap will alarm in time,"
            " however small, and one that wobbles around 0 from round to round may, too."
        )


def _languages(plan: MonitorPlan) -> Iterator[str]:
    english = sorted({watched.extractor for watched in plan.features} & READ_ENGLISH)
    if english:
        verb = "reads" if len(english) == 1 else "read"
        yield (
            f"{', '.join(english)} {verb} English: answers in other languages are left out as"
            " missing where they are recognized, and measured wrongly where they are not."
        )


def _changes(plan: MonitorPlan, suite: AskedSets) -> Iterator[str]:
    alpha = alpha_of_search(plan.alpha, len(plan.all_comparisons), 1)
    for pair in plan.comparisons:
        units = _units(plan, suite, pair)
        planned = planned_change(
            units,
            SD,
            first=plan.reference_rounds,
            before=max(ROUNDS, plan.reference_rounds),
            after=ROUNDS,
            alpha=alpha,
            tolerance=plan.change_tolerance,
        )
        pairs = f"{number(units)} pair{'' if units == 1 else 's'} of answers a round"
        if planned is None:
            yield (
                f"With {pairs}, no change of the gap is found within {ROUNDS} rounds. Ask more sets"
                " a round, or compare fewer groups."
            )
            continue
        sentence = (
            f"With {pairs}, a change of the gap after {max(ROUNDS, plan.reference_rounds)} rounds"
            f" is found within {ROUNDS} more in about half of the cases if it is"
            f" {number(planned, 2)} of the range, where gaps deviate by a quarter of the range"
        )
        small = planned <= LARGE_CHANGE
        yield sentence + ("." if small else ": ask more sets a round, or compare fewer groups.")


def _units(plan: MonitorPlan, suite: AskedSets, pair: WatchedPair) -> float:
    """Return the pairs of a round: sets with both groups, or as many as the smaller side has."""
    twins = suite.twins(pair) or min(len(set(side.tolist())) for side in suite.sides(pair))
    if plan.sets_per_round is None:
        return twins
    return twins * plan.sets_per_round / suite.different
