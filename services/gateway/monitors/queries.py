"""Monitors as the store has them: their state, evidence and alarms."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated

from pydantic import Field

from services.gateway.monitors.views import (
    AlarmView,
    History,
    MonitorStatus,
    MonitorView,
    TwinAnswer,
    TwinsView,
    evidence_view,
    histories_of,
    rounds_shown,
    twin_answer,
)
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
from shared.errors import NotFoundError
from shared.stats.anytime.judging import e_bh
from shared.store import Store

DEPLOYMENT_ALPHA = 0.05
MAX_WINDOWS = 1000


class MonitorQueries:
    """Reads monitors for people; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def latest(self) -> dict[str, Monitor]:
        """Return the last definition of each monitor by name, also of deleted ones."""
        found = sorted(self._store.records.all(Monitor), key=lambda each: each.moment_ms)
        return {each.name: each for each in found}

    def monitor(self, name: str) -> Monitor:
        """Return the last definition of a monitor, or raise NotFoundError."""
        last = self.latest().get(name)
        if last is None or last.state is MonitorState.DELETED:
            raise NotFoundError(f"There is no monitor {name}. `biaswatch monitor list` lists them.")
        return last

    def statuses(self) -> list[MonitorStatus]:
        """Return the status of every monitor, with what stands out over the whole deployment."""
        latest = [each for each in self.latest().values() if each.state is not MonitorState.DELETED]
        evidence = {each.name: self._evidence(each) for each in latest}
        log_es = [each.log_e for name in evidence for each in evidence[name]]
        flags = iter(e_bh(log_es, DEPLOYMENT_ALPHA) if log_es else [])
        flagged = {name: sum(next(flags) for _ in found) for name, found in evidence.items()}
        return [
            self._status(each, evidence[each.name], flagged[each.name])
            for each in sorted(latest, key=lambda monitor: monitor.name)
        ]

    def show(self, name: str) -> MonitorView:
        """Return everything the API shows of a monitor."""
        monitor = self.monitor(name)
        evidence = self._evidence(monitor)
        flags = e_bh([each.log_e for each in evidence], monitor.plan.alpha) if evidence else []
        return MonitorView(
            stand=self._status(monitor, evidence, sum(flags)),
            evidence=[
                evidence_view(each, stands_out=flag)
                for each, flag in zip(evidence, flags, strict=True)
            ],
            alarms=self._alarms(monitor),
            window=next(iter(self._store.rounds.latest(Description, monitor, 1)), None),
        )

    def histories(self, name: str) -> list[History]:
        """Return the evidence of every comparison over the last rounds."""
        monitor = self.monitor(name)
        most = rounds_shown(len(monitor.plan.watched))
        rounds = self._store.rounds.latest(Round, monitor, most)
        read = self._store.records.read
        return histories_of(each for one in rounds for each in read(Evidence, run_id=one.run_id))

    def windows(
        self, name: str, last: Annotated[int, Field(ge=1, le=MAX_WINDOWS)] = 100
    ) -> list[Description]:
        """Return the descriptions of a traffic monitor's last windows, the latest first."""
        return self._store.rounds.latest(Description, self.monitor(name), last)[::-1]

    def alarms(self, name: str) -> list[AlarmView]:
        """Return a monitor's alarms, the latest first, with the answers that contributed most."""
        monitor = self.monitor(name)
        alarms = self._alarms(monitor)
        dimensions = {each.key: each.pair.dimension for each in monitor.plan.watched}
        ids = [id_ for alarm in alarms for twins in alarm.twins for id_ in (*twins.a, *twins.b)]
        responses = {each.id: each for each in self._store.records.get(Response, ids)}

        def shown(alarm: Alarm, ids: Iterable[str]) -> list[TwinAnswer]:
            dimension = dimensions[alarm.comparison_key]
            return [twin_answer(responses[id_], dimension) for id_ in ids if id_ in responses]

        return [
            AlarmView(
                alarm=alarm,
                twins=[
                    TwinsView(
                        set_id=each.set_id,
                        gap=each.gap,
                        a=shown(alarm, each.a),
                        b=shown(alarm, each.b),
                    )
                    for each in alarm.twins
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

    def _status(self, monitor: Monitor, evidence: list[Evidence], flagged: int) -> MonitorStatus:
        last = self._store.rounds.last(monitor)
        entry = self._store.schedule.get(monitor.name)
        if entry is not None and entry.monitor.monitor_id != monitor.monitor_id:
            entry = None  # the schedule still has the plan before this one
        ended = entry.ended if entry else None
        continues = monitor.state is MonitorState.ACTIVE and not ended
        return MonitorStatus(
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
            next_round_at=entry.due if entry and continues else None,
            comparisons=len(monitor.plan.watched),
            verdicts=Counter(each.verdict for each in evidence),
            alarms=_raised_count(self._alarms(monitor)),
            flagged=flagged,
            since=monitor.since,
        )


def _raised_count(alarms: list[Alarm]) -> int:
    """Count the alarms that were raised and not cleared."""
    raised, cleared = (
        {(each.comparison_key, each.what, each.epoch) for each in alarms if each.state is state}
        for state in (AlarmState.RAISED, AlarmState.CLEARED)
    )
    return len(raised - cleared)
