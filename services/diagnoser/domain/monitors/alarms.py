"""Which alarms a round raises, and which it clears."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from services.diagnoser.domain.monitors.change_detection import change_bound
from services.diagnoser.domain.monitors.evidence import CARRIED
from services.diagnoser.domain.monitors.round_answers import ComparedSets
from shared.contracts import (
    Alarm,
    AlarmKind,
    AlarmState,
    Change,
    Evidence,
    Monitor,
    MonitorPlan,
    Round,
    Verdict,
)
from shared.contracts import Twins as SentTwins

MOST_TWINS = 5
Raised = Mapping[tuple[str, AlarmKind], Alarm]
"""The alarms that stand, by comparison and kind."""


@dataclass(frozen=True)
class AlarmChange:
    """What is to be told of one comparison."""

    evidence: Evidence
    what: AlarmKind
    state: AlarmState
    reason: str
    epoch: int


def alarms(
    monitor: Monitor,
    closed: Round,
    evidence: Collection[Evidence],
    seen: Mapping[str, ComparedSets],
    history: Collection[Alarm],
) -> list[Alarm]:
    """Return the alarms of a round: each is raised once in an epoch, and cleared by rule."""
    standing = standing_of(history)
    told = {(each.comparison_key, each.what, each.epoch) for each in history}
    found = []
    for each in evidence:
        for news in (*_cleared(each, standing, closed), *_raised(each, monitor.plan)):
            fresh = (each.comparison_key, news.what, closed.epoch) not in told
            if news.state is AlarmState.CLEARED or fresh:
                found.append(_alarm(news, monitor, closed, seen))
    return found


def standing_of(history: Collection[Alarm]) -> Raised:
    """Return the alarms that were raised and not cleared in the same epoch."""
    over = {(a.comparison_key, a.what, a.epoch) for a in history if a.state is AlarmState.CLEARED}
    return {
        (a.comparison_key, a.what): a
        for a in sorted(history, key=lambda alarm: alarm.epoch)
        if a.state is AlarmState.RAISED and (a.comparison_key, a.what, a.epoch) not in over
    }


def _raised(evidence: Evidence, plan: MonitorPlan) -> Iterator[AlarmChange]:
    bound, raised = change_bound(plan), AlarmState.RAISED
    if evidence.verdict is Verdict.DISPARITY:
        reason = f"{evidence.reason}: its logarithm reached {evidence.log_supremum:.2f} of the"
        told = f"{reason} {evidence.bound:.2f} needed"
        yield AlarmChange(evidence, AlarmKind.DISPARITY, raised, told, evidence.epoch)
    for what, change in _changes(evidence).items():
        if change and change.log_evidence is not None and change.log_evidence >= bound:
            told = "gap" if what is AlarmKind.CHANGE else "level of both groups"
            reason = (
                f"the {told} is not what it was in the first {plan.reference_rounds} rounds of the"
                f" epoch: the log evidence is {change.log_evidence:.2f} of the {bound:.2f} needed"
            )
            yield AlarmChange(evidence, what, raised, reason, evidence.epoch)


def _changes(evidence: Evidence) -> dict[AlarmKind, Change | None]:
    return {AlarmKind.CHANGE: evidence.change, AlarmKind.LEVEL: evidence.level_change}


def _cleared(evidence: Evidence, standing: Raised, closed: Round) -> Iterator[AlarmChange]:
    """Clear what a new epoch makes out of date, and a disparity whose evidence is gone again."""
    for what in AlarmKind:
        alarm = standing.get((evidence.comparison_key, what))
        if alarm is None:
            continue
        if alarm.epoch < closed.epoch:
            reason = "a new epoch has begun: " + "; ".join(closed.changed or ("see its rounds",))
        elif what is AlarmKind.DISPARITY and evidence.log_e < 0:
            reason = "the evidence has turned: it now speaks for a gap within the tolerance"
        else:
            continue
        yield AlarmChange(evidence, what, AlarmState.CLEARED, reason, alarm.epoch)


def _alarm(
    news: AlarmChange, monitor: Monitor, closed: Round, seen: Mapping[str, ComparedSets]
) -> Alarm:
    evidence, key = news.evidence, news.evidence.comparison_key
    raised = news.state is AlarmState.RAISED
    change = _changes(evidence).get(news.what)
    log_evidence = evidence.log_e if change is None else change.log_evidence or 0.0
    return Alarm(
        **closed.model_dump(include=CARRIED - {"epoch"}),
        monitor=monitor.name,
        epoch=news.epoch,
        comparison_key=key,
        what=news.what,
        state=news.state,
        reason=news.reason,
        gap=evidence.gap,
        log_evidence=log_evidence,
        owners=monitor.upkeep.owners,
        webhook=monitor.upkeep.webhook,
        twins=tuple(_twins(seen[key], evidence.gap.value)) if raised and seen else (),
    )


def _twins(seen: ComparedSets, gap: float | None) -> Iterator[SentTwins]:
    """Return the sets whose gaps point the furthest the way the whole gap does."""
    sign = -1.0 if gap is not None and gap < 0 else 1.0
    gaps = {name: twins.gap for name, twins in seen.sets.items() if twins.compared}
    there = {name: each for name, each in gaps.items() if each is not None and each * sign > 0}
    for name in sorted(there, key=lambda n: (-there[n] * sign, n))[:MOST_TWINS]:
        twins = seen.sets[name]
        a, b = tuple(twins.a.responses), tuple(twins.b.responses)
        yield SentTwins(set_id=name, gap=there[name], a=a, b=b)
