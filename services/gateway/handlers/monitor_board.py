"""What the gateway shows of monitors: how they stand, their evidence, their alarms."""

from collections import Counter
from collections.abc import Iterable

from services.gateway.domain.histories import History, histories_of, rounds_at_once
from services.gateway.domain.monitor_views import (
    MonitorStand,
    MonitorView,
    Said,
    ShownAlarm,
    ShownTwins,
    shown,
)
from services.gateway.handlers.monitors import MonitorDesk
from shared.contracts import (
    Alarm,
    AlarmState,
    Description,
    Evidence,
    Monitor,
    MonitorState,
    Response,
    Round,
)
from shared.stats.anytime.families import e_bh
from shared.store import Store

DEPLOYMENT_ALPHA = 0.05


class MonitorBoard:
    """Reads monitors for people; it blocks, so call it in a thread."""

    def __init__(self, store: Store, desk: MonitorDesk) -> None:
        self._store = store
        self._desk = desk

    def stands(self) -> list[MonitorStand]:
        """Tell how all monitors stand, with what stands out over the whole deployment."""
        latest = [
            each for each in self._desk.latest().values() if each.state is not MonitorState.DELETED
        ]
        evidence = {each.name: self._evidence(each) for each in latest}
        log_es = [each.log_e for name in evidence for each in evidence[name]]
        flags = iter(e_bh(log_es, DEPLOYMENT_ALPHA) if log_es else [])
        flagged = {name: sum(next(flags) for _ in found) for name, found in evidence.items()}
        return [
            self._stand(each, evidence[each.name], flagged[each.name])
            for each in sorted(latest, key=lambda monitor: monitor.name)
        ]

    def show(self, name: str) -> MonitorView:
        """Return all that is to be seen of a monitor."""
        monitor = self._desk.monitor(name)
        evidence = self._evidence(monitor)
        flags = e_bh([each.log_e for each in evidence], monitor.plan.alpha) if evidence else []
        return MonitorView(
            stand=self._stand(monitor, evidence, sum(flags)),
            evidence=[
                shown(each, stands_out=flag) for each, flag in zip(evidence, flags, strict=True)
            ],
            alarms=self._alarms(monitor),
            window=self._window(monitor),
        )

    def histories(self, name: str) -> list[History]:
        """Return how the evidence of every comparison has grown over the last rounds."""
        monitor = self._desk.monitor(name)
        most = rounds_at_once(len(monitor.plan.watched))
        rounds = self._store.rounds.latest(Round, monitor, most)
        read = self._store.records.read
        return histories_of(each for one in rounds for each in read(Evidence, run_id=one.run_id))

    def windows(self, name: str, most: int) -> list[Description]:
        """Return what the last windows of a monitor of traffic looked like, the latest first."""
        monitor = self._desk.monitor(name)
        return self._store.rounds.latest(Description, monitor, most)[::-1]

    def _window(self, monitor: Monitor) -> Description | None:
        return next(iter(self._store.rounds.latest(Description, monitor, 1)), None)

    def alarms(self, name: str) -> list[ShownAlarm]:
        """Return a monitor's alarms, the latest first, with the answers that contributed most."""
        monitor = self._desk.monitor(name)
        alarms = self._alarms(monitor)
        dimensions = {each.key: each.pair.dimension for each in monitor.plan.watched}
        ids = [id_ for alarm in alarms for twins in alarm.twins for id_ in (*twins.a, *twins.b)]
        said = {each.id: each for each in self._store.records.get(Response, ids)}
        return [
            ShownAlarm(
                alarm=alarm,
                twins=[
                    ShownTwins(
                        set_id=twins.set_id,
                        gap=twins.gap,
                        a=_said(twins.a, said, dimensions[alarm.comparison_key]),
                        b=_said(twins.b, said, dimensions[alarm.comparison_key]),
                    )
                    for twins in alarm.twins
                ],
            )
            for alarm in alarms
        ]

    def _alarms(self, monitor: Monitor) -> list[Alarm]:
        found = self._store.records.of_monitor(Alarm, monitor.monitor_id)
        return sorted(found, key=lambda alarm: (-alarm.round, alarm.comparison_key, alarm.state))

    def _evidence(self, monitor: Monitor) -> list[Evidence]:
        last = self._store.rounds.last(monitor)
        if last is None:
            return []
        found = self._store.records.read(Evidence, run_id=last.run_id)
        return sorted(found, key=lambda each: each.comparison_key)

    def _stand(self, monitor: Monitor, evidence: list[Evidence], flagged: int) -> MonitorStand:
        last = self._store.rounds.last(monitor)
        place = self._store.schedule.get(monitor.name)
        here = place if place and place.monitor.monitor_id == monitor.monitor_id else None
        ended = here.ended if here else None
        going_on = monitor.state is MonitorState.ACTIVE and here is not None and not ended
        return MonitorStand(
            name=monitor.name,
            monitor_id=monitor.monitor_id,
            state="ended" if ended else monitor.state.value,
            ended=ended,
            suite=monitor.plan.suite,
            target=monitor.plan.target.name,
            claim=monitor.plan.claim,
            rounds=last.round + 1 if last else 0,
            epoch=last.epoch if last else None,
            last_round_at=last.at if last else None,
            next_round_at=here.due if going_on and here else None,
            comparisons=len(monitor.plan.watched),
            verdicts=Counter(each.verdict for each in evidence),
            alarms=_standing(self._alarms(monitor)),
            flagged=flagged,
            since=monitor.since,
        )


def _standing(alarms: list[Alarm]) -> int:
    keys = {(a.comparison_key, a.what, a.epoch): a.state for a in _raised_first(alarms)}
    return sum(state is AlarmState.RAISED for state in keys.values())


def _raised_first(alarms: list[Alarm]) -> list[Alarm]:
    return sorted(alarms, key=lambda alarm: alarm.state is AlarmState.CLEARED)


def _said(ids: Iterable[str], found: dict[str, Response], dimension: str) -> list[Said]:
    there = [found[id_] for id_ in ids if id_ in found]
    return [
        Said(
            response_id=each.id,
            group=each.probe.groups.get(dimension),
            asked="\n".join(message.content for message in each.probe.messages) or None,
            answered=each.text,
        )
        for each in there
    ]
