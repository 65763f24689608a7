"""Read monitors: their state, evidence and alarms."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Annotated, Any

from pydantic import Field

from biaswatch.services.gateway.monitors.labelled import labelled_evidence
from biaswatch.shared.contracts import (
    AccountedWindow,
    Alarm,
    AnswerAccounts,
    Description,
    Evidence,
    Monitor,
    MonitorState,
    Response,
    Round,
    RoundEvidence,
    Run,
    ScheduledMonitor,
    evidence_fields,
    evidence_in,
    standing_of,
    window_at,
)
from biaswatch.shared.contracts.alarm import AlarmDelivery
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.requests.evidence import WindowState, WindowView, evidence_view, window_view
from biaswatch.shared.requests.monitor_views import (
    MOMENT_FIELDS,
    AlarmView,
    History,
    MonitorStatus,
    MonitorView,
    TwinAnswer,
    TwinsView,
    histories_of,
    history_from,
    rounds_shown,
    twin_answer,
)
from biaswatch.shared.stats.anytime.judging import e_bh
from biaswatch.shared.store import Store


@dataclass(frozen=True)
class StoredMonitor:
    """A monitor, its last closed round, and what is known since then."""

    monitor: Monitor
    last: Round | None
    evidence: Sequence[Evidence]
    """Of the last round, in the order of the comparisons."""
    alarms: Sequence[Alarm]
    """The latest first."""
    scheduled: ScheduledMonitor | None
    """None while the schedule still has another plan of this name."""


def stored_monitors(store: Store, monitors: Sequence[Monitor]) -> list[StoredMonitor]:
    """Read what there is of some monitors, in their order; it blocks."""
    last = store.rounds.last_of(monitors)
    evidence: dict[str, list[RoundEvidence]] = defaultdict(list)
    for part in store.records.of_runs(RoundEvidence, (each.run_id for each in last.values())):
        evidence[part.monitor_id].append(part)
    alarms: dict[str, list[Alarm]] = defaultdict(list)
    for alarm in store.records.of_monitors(Alarm, (each.monitor_id for each in monitors)):
        alarms[alarm.monitor_id].append(alarm)
    entries = store.schedule.monitors()
    scheduled = {(each.monitor.tenant, each.monitor.monitor_id): each for each in entries}
    return [
        StoredMonitor(
            monitor=each,
            last=last.get(each.monitor_id),
            evidence=sorted(
                evidence_in(evidence[each.monitor_id]), key=lambda found: found.comparison_key
            ),
            alarms=sorted(alarms[each.monitor_id], key=_latest_first),
            scheduled=scheduled.get((each.tenant, each.monitor_id)),
        )
        for each in monitors
    ]


def _latest_first(alarm: Alarm) -> tuple[int, str, str]:
    return -alarm.round, alarm.comparison_key, alarm.state


DEPLOYMENT_ALPHA = 0.05
MAX_WINDOWS = 1000
MAX_DRAWN = 500
"""Rounds of a picture, which is hardly as many points wide."""


class MonitorQueries:
    """Reads monitors for people; it blocks, so call it in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def definitions(self) -> list[Monitor]:
        """Return the last definition of each monitor of each tenant, also of deleted ones."""
        return self._store.monitor_definitions.latest()

    def latest(self) -> dict[str, Monitor]:
        """Return the last definition of each of one tenant's monitors by name."""
        return {each.name: each for each in self.definitions()}

    def monitor(self, name: str) -> Monitor:
        """Return the last definition of a monitor, or raise NotFoundError."""
        last = self.latest().get(name)
        if last is None or last.state is MonitorState.DELETED:
            raise NotFoundError(f"There is no monitor {name}. `biaswatch monitor list` lists them.")
        return last

    def statuses(self) -> list[MonitorStatus]:
        """Return the status of every monitor, with what stands out over the whole deployment."""
        latest = [each for each in self.latest().values() if each.state is not MonitorState.DELETED]
        latest.sort(key=lambda monitor: monitor.name)
        found = stored_monitors(self._store, latest)
        # What was declared after the data takes no part in what stands out now.
        live = [each for each in found if each.monitor.history is None]
        log_es = [each.log_e for one in live for each in one.evidence]
        flags = iter(e_bh(log_es, DEPLOYMENT_ALPHA) if log_es else [])
        flagged = {each.monitor.name: sum(islice(flags, len(each.evidence))) for each in live}
        return [_status(each, flagged.get(each.monitor.name, 0)) for each in found]

    def status(self, name: str) -> MonitorStatus:
        """Return the status of one monitor, without what stands out."""
        [found] = stored_monitors(self._store, [self.monitor(name)])
        return _status(found, 0)

    def show(self, name: str) -> MonitorView:
        """Return everything the API shows of a monitor."""
        monitor = self.monitor(name)
        [found] = stored_monitors(self._store, [monitor])
        evidence = found.evidence
        flags = e_bh([each.log_e for each in evidence], monitor.plan.alpha) if evidence else []
        return MonitorView(
            stand=_status(found, sum(flags)),
            evidence=[
                evidence_view(each, stands_out=flag, watched=monitor.plan.numbers)
                for each, flag in zip(evidence, flags, strict=True)
            ],
            alarms=list(found.alarms),
            labelled=labelled_evidence(self._store, monitor, found.alarms),
            accounts=self._accounts(monitor),
            window=next(
                (each for each in self._windows(monitor, 20) if each.state is WindowState.READ),
                None,
            ),
        )

    def histories(self, name: str) -> list[History]:
        """Return the evidence of every comparison over the last rounds."""
        monitor = self.monitor(name)
        most = rounds_shown(len(monitor.plan.watched))
        rounds = self._store.rounds.latest(Round, monitor, most)
        read = self._store.records.read
        found = (each for one in rounds for each in read(RoundEvidence, run_id=one.run_id))
        return histories_of(evidence_in(found))

    def drawn(self, name: str, comparisons: Sequence[str]) -> list[History]:
        """Return the evidence of some comparisons over the same rounds, in the order given.

        A picture shows few comparisons; of the others nothing is read.
        """
        monitor = self.monitor(name)
        most = min(rounds_shown(len(monitor.plan.watched)), MAX_DRAWN)
        rounds = self._store.rounds.latest(Round, monitor, most)
        parts = self._store.records.of_runs(RoundEvidence, (each.run_id for each in rounds))
        found: dict[str, list[dict[str, Any]]] = {each: [] for each in comparisons}
        for key, fields in evidence_fields(parts, MOMENT_FIELDS, found.keys()):
            found[key].append(fields)
        tolerances = {each.key: each.watched.tolerance for each in monitor.plan.watched}
        return [
            history_from(key, tolerances.get(key, 0.0), fields)
            for key, fields in found.items()
            if fields
        ]

    def windows(
        self, name: str, last: Annotated[int, Field(ge=1, le=MAX_WINDOWS)] = 100
    ) -> list[WindowView]:
        """Return a traffic monitor's last windows, the latest first, also those not read yet."""
        return self._windows(self.monitor(name), last)

    def window_ends(self, name: str, last: int) -> dict[int, datetime]:
        """Return when the windows of a traffic monitor's last rounds ended, by round.

        Read from their runs: a window's description holds numbers of every stratum.
        """
        rounds = self._store.rounds.latest(Round, self.monitor(name), last)
        runs = self._store.records.get(Run, [each.run_id for each in rounds])
        ends = {each.id: each.window.ends for each in runs if each.window}
        return {each.round: ends[each.run_id] for each in rounds if each.run_id in ends}

    def _windows(self, monitor: Monitor, last: int) -> list[WindowView]:
        read = {each.run_id: each for each in self._store.rounds.latest(Description, monitor, last)}
        accounted = {
            each.of.run_id: each
            for each in self._store.window_answers.latest(monitor.monitor_id, last)
        }
        runs = read.keys() | accounted.keys()
        found = [
            window_view(each, read.get(run_id), watched=each is None or _watched(each, monitor))
            for run_id in runs
            for each in [accounted.get(run_id)]
        ]
        return sorted(found, key=lambda each: each.window.begins, reverse=True)[:last]

    def _accounts(self, monitor: Monitor) -> AnswerAccounts | None:
        if monitor.plan.traffic is None:
            return None
        return self._store.window_answers.accounts(monitor.monitor_id)

    def alarms(self, name: str) -> list[AlarmView]:
        """Return a monitor's alarms, the latest first, with the answers that contributed most.

        Also those of a deleted monitor: messages that were sent link here.
        """
        monitor = self.latest().get(name)
        if monitor is None:
            raise NotFoundError(f"There is no monitor {name}. `biaswatch monitor list` lists them.")
        [found] = stored_monitors(self._store, [monitor])
        alarms = found.alarms
        dimensions = {each.key: each.pair.dimension for each in monitor.plan.watched}
        ids = [id_ for alarm in alarms for twins in alarm.twins for id_ in (*twins.a, *twins.b)]
        responses = {each.id: each for each in self._store.records.get(Response, ids)}

        sent: dict[str, list[AlarmDelivery]] = defaultdict(list)
        for each in self._store.alarm_deliveries.of_alarms(alarm.id for alarm in alarms):
            sent[each.alarm_id].append(each)

        def shown(alarm: Alarm, ids: Iterable[str]) -> list[TwinAnswer]:
            dimension = dimensions.get(alarm.comparison_key, "")  # no longer watched
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
                deliveries=sent[alarm.id],
            )
            for alarm in alarms
        ]


def _status(found: StoredMonitor, flagged: int) -> MonitorStatus:
    monitor, last, entry = found.monitor, found.last, found.scheduled
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
        verdicts=Counter(each.verdict for each in found.evidence),
        alarms=len(standing_of(found.alarms)),
        flagged=flagged,
        alpha=monitor.plan.alpha,
        share_left=min(
            (each.share_left for each in found.evidence if each.share_left is not None),
            default=None,
        ),
        since=monitor.since,
        history_of=monitor.history.of if monitor.history else None,
    )


def _watched(accounted: AccountedWindow, monitor: Monitor) -> bool:
    """Tell whether answers that are taken in now could be in time for a window."""
    window = accounted.of.window
    if monitor.history is not None:
        return window.ends <= monitor.history.before
    length_s = int((window.ends - window.begins).total_seconds())
    return window.begins >= window_at(monitor.since, length_s).begins
