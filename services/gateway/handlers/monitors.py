"""What the gateway does with monitors: kept, changed, shown."""

from collections import Counter
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta

from services.gateway.domain.monitor_views import (
    Applied,
    MonitorStand,
    MonitorView,
    Said,
    ShownAlarm,
    ShownTwins,
    shown,
)
from services.gateway.domain.monitors import MonitorRequest
from services.gateway.domain.traffic_monitors import TrafficRequest, declared, kept_up
from services.gateway.handlers.desk import NotThereError
from shared.contracts import (
    Alarm,
    AlarmState,
    Description,
    Evidence,
    Monitor,
    MonitorPlan,
    MonitorState,
    Purpose,
    Response,
    Round,
    Suite,
    next_window,
    read_at,
)
from shared.errors import UsageError
from shared.stats.anytime.families import e_bh
from shared.store import Place, Store

DEPLOYMENT_ALPHA = 0.05


class MonitorDesk:
    """The gateway's work on monitors; it blocks, so call it in a thread."""

    def __init__(
        self, store: Store, *, now: Callable[[], datetime], extractor_age_s: float
    ) -> None:
        self._store = store
        self._now = now
        self._extractor_age_s = extractor_age_s

    def apply(self, asked: MonitorRequest | TrafficRequest) -> Applied:
        """Keep what is asked of a monitor; the same file again changes nothing."""
        plan, upkeep = declared(asked, self._suite(asked)), kept_up(asked)
        self._check_measured(plan)
        last = self._last(asked.name)
        if last and (last.plan, last.upkeep, last.state) == (plan, upkeep, MonitorState.ACTIVE):
            return Applied(monitor=last, changed=False, anew=False)
        now = self._now()
        monitor = Monitor(
            purpose=Purpose.MONITOR,
            at=now,
            name=asked.name,
            moment_ms=_after(last, now),
            plan=plan,
            upkeep=upkeep,
            since=_since(last, plan, now),
        )
        self._store.records.write([monitor])
        anew = last is None or last.monitor_id != monitor.monitor_id
        return Applied(monitor=monitor, changed=True, anew=anew)

    def _suite(self, asked: MonitorRequest | TrafficRequest) -> Suite | None:
        if isinstance(asked, TrafficRequest):
            return None
        suite = self._store.suites.get(asked.suite_hash)
        if suite is None:
            raise NotThereError(f"There is no suite {asked.suite_hash}. Upload it first.")
        return suite

    def _check_measured(self, plan: MonitorPlan) -> None:
        """Refuse what nobody measures: its evidence would be missing for ever."""
        since = self._now() - timedelta(seconds=self._extractor_age_s)
        running = {each.name: each.features for each in self._store.instruments.running(since)}
        for watched in plan.features:
            if watched.extractor not in running:
                raise UsageError(
                    f"The extractor {watched.extractor} is not running; running are"
                    f" {', '.join(sorted(running)) or 'none'}. Start it, or watch another feature."
                )
            if watched.feature not in running[watched.extractor]:
                raise UsageError(
                    f"The extractor {watched.extractor} does not measure {watched.feature}; it"
                    f" measures {', '.join(sorted(running[watched.extractor])) or 'nothing'}."
                )

    def turned(self, name: str, state: MonitorState) -> Monitor:
        """Give the record that pauses, resumes or deletes a monitor."""
        last = self.monitor(name)
        now = self._now()
        if last.state is state:
            return last
        fields = {"at": now, "moment_ms": _after(last, now), "state": state}
        if state is MonitorState.ACTIVE:
            fields["since"] = now
        monitor = last.model_copy(update=fields)
        # A copy keeps what was computed of the original, its id among it.
        monitor = Monitor.model_validate(monitor.model_dump(exclude={"id"}))
        self._store.records.write([monitor])
        return monitor

    def monitor(self, name: str) -> Monitor:
        """Give what is wanted of a monitor now."""
        last = self._last(name)
        if last is None or last.state is MonitorState.DELETED:
            raise NotThereError(f"There is no monitor {name}. `biaswatch monitor list` lists them.")
        return last

    def _last(self, name: str) -> Monitor | None:
        return self._latest().get(name)

    def _latest(self) -> dict[str, Monitor]:
        wanted = sorted(self._store.records.all(Monitor), key=lambda each: each.moment_ms)
        return {each.name: each for each in wanted}

    def stands(self) -> list[MonitorStand]:
        """Tell how all monitors stand, with what stands out over the whole deployment."""
        latest = [
            each for each in self._latest().values() if each.state is not MonitorState.DELETED
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
        """Give all that is to be seen of a monitor."""
        monitor = self.monitor(name)
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

    def _window(self, monitor: Monitor) -> Description | None:
        rounds = self._rounds(monitor)
        run_id = rounds[-1].run_id if rounds else ""
        return next(self._store.records.read(Description, run_id=run_id), None)

    def alarms(self, name: str) -> list[ShownAlarm]:
        """Give a monitor's alarms, the latest first, with the answers that contributed most."""
        alarms = self._alarms(self.monitor(name))
        ids = [id_ for alarm in alarms for twins in alarm.twins for id_ in (*twins.a, *twins.b)]
        said = {each.id: each for each in self._store.records.get(Response, ids)}
        return [
            ShownAlarm(
                alarm=alarm,
                twins=[
                    ShownTwins(
                        set_id=twins.set_id,
                        gap=twins.gap,
                        a=_said(twins.a, said, alarm),
                        b=_said(twins.b, said, alarm),
                    )
                    for twins in alarm.twins
                ],
            )
            for alarm in alarms
        ]

    def _alarms(self, monitor: Monitor) -> list[Alarm]:
        found = self._store.records.of_monitor(Alarm, monitor.monitor_id)
        return sorted(found, key=lambda alarm: (-alarm.round, alarm.comparison_key, alarm.state))

    def _rounds(self, monitor: Monitor) -> list[Round]:
        found = self._store.records.of_monitor(Round, monitor.monitor_id)
        return sorted(found, key=lambda each: each.round)

    def _evidence(self, monitor: Monitor) -> list[Evidence]:
        rounds = self._rounds(monitor)
        if not rounds:
            return []
        found = self._store.records.read(Evidence, run_id=rounds[-1].run_id)
        return sorted(found, key=lambda each: each.comparison_key)

    def _stand(self, monitor: Monitor, evidence: list[Evidence], flagged: int) -> MonitorStand:
        rounds = self._rounds(monitor)
        place = self._store.schedule.place(monitor.name)
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
            rounds=len(rounds),
            epoch=rounds[-1].epoch if rounds else None,
            last_round_at=rounds[-1].at if rounds else None,
            next_round_at=_due_at(here) if going_on and here else None,
            comparisons=len(monitor.plan.watched),
            verdicts=Counter(each.verdict for each in evidence),
            alarms=_standing(self._alarms(monitor)),
            flagged=flagged,
            since=monitor.since,
        )


def _due_at(place: Place) -> datetime:
    traffic = place.monitor.plan.traffic
    if traffic is None:
        return place.due_at
    return read_at(next_window(traffic, place.monitor, place.run), place.monitor)


def _since(last: Monitor | None, plan: MonitorPlan, now: datetime) -> datetime:
    """Give when the first round is due; windows of traffic that wait to be read are not lost."""
    goes_on = last is not None and last.plan == plan and last.state is MonitorState.ACTIVE
    return last.since if last is not None and goes_on and plan.traffic is not None else now


def _after(last: Monitor | None, now: datetime) -> int:
    """Give a moment later than the last thing that was asked for, however quick the second is."""
    return max(int(now.timestamp() * 1000), last.moment_ms + 1 if last else 0)


def _standing(alarms: list[Alarm]) -> int:
    keys = {(a.comparison_key, a.what, a.epoch): a.state for a in _raised_first(alarms)}
    return sum(state is AlarmState.RAISED for state in keys.values())


def _raised_first(alarms: list[Alarm]) -> list[Alarm]:
    return sorted(alarms, key=lambda alarm: alarm.state is AlarmState.CLEARED)


def _said(ids: Iterable[str], found: dict[str, Response], alarm: Alarm) -> list[Said]:
    dimension = alarm.comparison_key.split(":")[1]
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
