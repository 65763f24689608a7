"""Which alarms a round raises, and which it clears."""

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from biaswatch.shared.analysis.monitors.alarm_words import (
    AlarmedGap,
    Sides,
    change_sentence,
    cleared_sentence,
    gap_sentence,
    group_means,
)
from biaswatch.shared.analysis.monitors.alpha_shares import promise_of
from biaswatch.shared.analysis.monitors.change_search import are_found, is_found
from biaswatch.shared.analysis.monitors.round_answers import ComparedSets, less
from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    AlarmState,
    Change,
    Evidence,
    Monitor,
    MonitorPlan,
    Round,
    comparison_titles,
    open_alarms_of,
)
from biaswatch.shared.contracts import Twins as SentTwins
from biaswatch.shared.contracts.columns import are_known
from biaswatch.shared.contracts.evidence_rows import ComparisonRows
from biaswatch.shared.contracts.round_evidence import HEADER
from biaswatch.shared.formatting import number
from biaswatch.shared.requests.evidence import scope_words

MAX_TWINS = 5
Raised = Mapping[tuple[str, AlarmKind], Alarm]
"""The alarms that stand, by comparison and kind."""


@dataclass(frozen=True)
class AlarmChange:
    """The change of one comparison's alarms in a round."""

    evidence: Evidence
    what: AlarmKind
    state: AlarmState
    reason: str
    epoch: int
    occasion: int = 0


def alarms(
    monitor: Monitor,
    closed: Round,
    evidence: Sequence[Evidence],
    seen: Mapping[str, ComparedSets],
    history: Collection[Alarm],
    began_at: Callable[[int], datetime | None],
) -> list[Alarm]:
    """Return the alarms that a round raises, and those that it clears.

    Parameters
    ----------
    began_at
        Return the start of a round, or of its window.
    """
    open_alarms = open_alarms_of(history)
    raised = Counter(
        (alarm.comparison_key, alarm.what, alarm.epoch)
        for alarm in history
        if alarm.state is AlarmState.RAISED
    )
    alarms: list[Alarm] = []
    for shown in _concerned(ComparisonRows.of(evidence), {key for key, _ in open_alarms}):
        cleared = _cleared(shown, open_alarms, closed)
        alarms.extend(_alarm(news, monitor, closed, seen, began_at) for news in cleared)
        for news in _raised(shown, monitor.plan):
            occasion = raised[shown.comparison_key, news.what, news.epoch]
            alarms.append(_alarm(replace(news, occasion=occasion), monitor, closed, seen, began_at))
    return alarms


def _concerned(
    evidence: ComparisonRows[Evidence], alarmed: Collection[str]
) -> ComparisonRows[Evidence]:
    """Return the evidence that may raise an alarm or clear one."""
    concerned = are_known(evidence.column("recovery"), len(evidence))
    for name in ("change", "level_change"):
        concerned |= are_found(evidence, name)
    if alarmed:
        concerned |= np.array([key in alarmed for key in evidence.keys], dtype=np.bool_)
    return evidence.of_rows(np.flatnonzero(concerned))


def _raised(evidence: Evidence, plan: MonitorPlan) -> Iterator[AlarmChange]:
    sought, raised = evidence.recovery, AlarmState.RAISED
    if sought is not None and sought.alarm_round == evidence.round:
        words = (
            f"{evidence.reason}: its logarithm reached {evidence.log_e:.2f} of the"
            f" {evidence.bound:.2f} needed; the gap {_beginning(evidence)}"
        )
        yield AlarmChange(evidence, AlarmKind.DISPARITY, raised, words, evidence.epoch)
    for what, change in _changes(evidence).items():
        if change is not None and is_found(change):
            words = "gap" if what is AlarmKind.CHANGE else "level of both groups"
            reason = (
                f"the {words} is not what it was before, most likely since round"
                f" {change.since_round}: the log evidence is {change.log_evidence:.2f} of the"
                f" {change.bound:.2f} needed"
            )
            yield AlarmChange(evidence, what, raised, reason, evidence.epoch)


def _beginning(evidence: Evidence) -> str:
    """Return since when the gap is there; the first rounds of a test may be empty."""
    test = evidence.test
    if test and test.since_round == test.rounds.since_round:
        return "was there, most likely, from the start of its test"
    return f"began, most likely, with round {test.since_round if test else evidence.round}"


def _changes(evidence: Evidence) -> dict[AlarmKind, Change | None]:
    return {AlarmKind.CHANGE: evidence.change, AlarmKind.LEVEL: evidence.level_change}


def _cleared(evidence: Evidence, raised: Raised, closed: Round) -> Iterator[AlarmChange]:
    """Clear what a new epoch makes out of date, what is over, and a change that has settled."""
    for what in AlarmKind:
        alarm = raised.get((evidence.comparison_key, what))
        if alarm is None:
            continue
        if alarm.epoch < closed.epoch:
            reason = "a new epoch has begun: " + "; ".join(closed.changed or ("see its rounds",))
        elif what is AlarmKind.DISPARITY:
            reason = _over(evidence)
        elif what is AlarmKind.LABELLED:
            reason = ""  # only labels of later rounds say that
        else:
            reason = _settled(_changes(evidence)[what])
        if reason:
            yield AlarmChange(
                evidence, what, AlarmState.CLEARED, reason, alarm.epoch, alarm.occasion
            )


def _over(evidence: Evidence) -> str:
    """Say why an alarm of a disparity is over; nothing where it is not."""
    recovery = evidence.recovery
    if recovery is None or not recovery.over:
        return ""
    limit, gap = number(recovery.limit), recovery.gap
    return (
        f"the gap lies between -{limit} and {limit} again: since round"
        f" {recovery.rounds.since_round} it is {number(gap.value)}"
        f" ({number(gap.low)} to {number(gap.high)})"
    )


def _settled(change: Change | None) -> str:
    """Say why an alarm of a change is over: what followed it is the new reference."""
    if change is None or not change.references or change.steps or change.rounds is None:
        return ""
    rounds = change.references[0].rounds
    return (
        f"{rounds} rounds have followed the change; later ones are compared with these, from round"
        f" {change.rounds.since_round} on"
    )


def _alarm(
    news: AlarmChange,
    monitor: Monitor,
    closed: Round,
    seen: Mapping[str, ComparedSets],
    began_at: Callable[[int], datetime | None],
) -> Alarm:
    evidence, key = news.evidence, news.evidence.comparison_key
    raised = news.state is AlarmState.RAISED
    change = _changes(evidence).get(news.what)
    log_evidence = evidence.log_e if change is None else change.log_evidence or 0.0
    source = None if news.what is AlarmKind.LABELLED else change or evidence.test
    since_round = source.since_round if source and raised else None
    since = None if since_round is None else began_at(since_round)
    sides = _sides(evidence) if raised and news.what is AlarmKind.DISPARITY else None
    return Alarm(
        **closed.model_dump(include=set(HEADER - {"epoch"})),
        monitor=monitor.name,
        epoch=news.epoch,
        comparison_key=key,
        title=comparison_titles(monitor.plan).get(key, ""),
        what=news.what,
        state=news.state,
        occasion=news.occasion,
        since_round=since_round,
        since=since,
        first_mean=sides[0] if sides else None,
        second_mean=sides[1] if sides else None,
        test=source.number if source else None,
        reason=news.reason,
        words=_words(monitor.plan, news, sides, since),
        promise=_promise(monitor.plan, news, source.number, closed) if source and raised else "",
        gap=evidence.gap,
        log_evidence=log_evidence,
        owners=monitor.upkeep.owners,
        webhook=monitor.upkeep.webhook,
        channels=monitor.upkeep.channels,
        twins=tuple(_twins(seen[key], evidence.gap.value)) if raised and seen else (),
    )


def _words(
    plan: MonitorPlan, news: AlarmChange, sides: Sides | None, since: datetime | None
) -> str:
    """Return the alarm for people; None if the comparison has been removed from the monitor."""
    evidence = news.evidence
    comparison = next((c for c in plan.all_comparisons if c.key == evidence.comparison_key), None)
    if comparison is None:
        return ""
    if news.state is AlarmState.CLEARED:
        return cleared_sentence(comparison, news.reason, plan.numbers)
    if news.what is not AlarmKind.DISPARITY:
        level = news.what is AlarmKind.LEVEL
        return change_sentence(comparison, plan.numbers, level=level, reference=None, allowed=None)
    shown = evidence.shown
    rounds = evidence.rounds if shown is None else evidence.round - shown.since_round + 1
    alarmed = AlarmedGap(evidence.gap, sides, evidence.units, rounds, since)
    about = f"The alarm is about {scope_words(evidence)}."
    return f"{gap_sentence(comparison, alarmed, plan.numbers)} {about}"


def _sides(evidence: Evidence) -> Sides | None:
    """Return the means of both groups in the rounds that the gap is about."""
    before = evidence.shown.before if evidence.shown else {}
    return group_means(evidence.comparison, less(evidence.counts, before))


def _promise(plan: MonitorPlan, news: AlarmChange, test: int, closed: Round) -> str:
    if closed.declared_after_data:
        return (
            "Nothing is promised about false alarms: what is watched was declared when the answers"
            " were known already"
        )
    return promise_of(plan, news.what, test)


def _twins(seen: ComparedSets, gap: float | None) -> Iterator[SentTwins]:
    """Return the sets whose gaps point the furthest the way the whole gap does."""
    sign = -1.0 if gap is not None and gap < 0 else 1.0
    gaps = {name: twins.gap for name, twins in seen.sets.items() if twins.compared}
    along = {name: gap for name, gap in gaps.items() if gap is not None and gap * sign > 0}
    for name in sorted(along, key=lambda n: (-along[n] * sign, n))[:MAX_TWINS]:
        twins = seen.sets[name]
        a, b = tuple(twins.a.responses), tuple(twins.b.responses)
        yield SentTwins(set_id=name, gap=along[name], a=a, b=b)
