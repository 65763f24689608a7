"""Read monitors: their state, evidence, history, windows and alarms."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from operator import itemgetter
from typing import Annotated, Any

from pydantic import Field

from biaswatch.services.gateway.monitors.labelled import labelled_evidence
from biaswatch.services.gateway.monitors.stored import StoredMonitor, no_monitor, stored_monitors
from biaswatch.shared.contracts import (
    AccountedWindow,
    Alarm,
    Description,
    Estimate,
    Monitor,
    MonitorState,
    Response,
    Round,
    RoundEvidence,
    Run,
    SummaryWord,
    Verdict,
    comparison_title,
    open_alarms_of,
    window_at,
)
from biaswatch.shared.contracts.evidence_rows import evidence_fields, evidence_in
from biaswatch.shared.formatting import summary_word, undetected_gaps
from biaswatch.shared.lookup import grouped
from biaswatch.shared.requests.evidence import WindowState, WindowView, evidence_view, window_view
from biaswatch.shared.requests.monitor_views import (
    MOMENT_FIELDS,
    AlarmView,
    History,
    LeadingGap,
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

DEPLOYMENT_ALPHA = 0.05
MAX_WINDOWS = 1000
MAX_PLOTTED_ROUNDS = 366
"""Rounds of a chart, which is about as many points wide."""
TREND_ROUNDS, TREND_FIELDS = 24, frozenset({"gap", "round"})
"""Rounds and fields of a small chart on the overview."""
SEARCHED_WINDOWS = 20
"""Windows among which the last one that was read is searched."""


@dataclass(frozen=True)
class MonitorQueries:
    """Blocking queries of monitors; call them in a thread."""

    store: Store

    def latest(self) -> dict[str, Monitor]:
        """Return the last definition of each monitor by name, including deleted ones."""
        return {monitor.name: monitor for monitor in self.store.monitor_definitions.latest()}

    def definition(self, name: str) -> Monitor | None:
        """Return the last definition of a monitor, also of a deleted one."""
        definitions = self.store.monitor_definitions.latest(name)
        return definitions[-1] if definitions else None

    def monitor(self, name: str) -> Monitor:
        """Return the last definition of a monitor, or raise NotFoundError."""
        last = self.definition(name)
        if last is None or last.state is MonitorState.DELETED:
            raise no_monitor(name)
        return last

    def statuses(self) -> list[MonitorStatus]:
        """Return the status of every monitor, and how many comparisons stand out in all."""
        monitors = [m for m in self.latest().values() if m.state is not MonitorState.DELETED]
        stored = stored_monitors(self.store, sorted(monitors, key=lambda m: m.name))
        # Monitors of the past were declared after their data and take no part in this.
        live = [entry for entry in stored if entry.monitor.history is None]
        log_es = [part.log_e for entry in live for part in entry.evidence]
        flags = iter(e_bh(log_es, DEPLOYMENT_ALPHA) if log_es else [])
        flagged = {entry.monitor.name: sum(islice(flags, len(entry.evidence))) for entry in live}
        return [_status(entry, flagged.get(entry.monitor.name, 0)) for entry in stored]

    def status(self, name: str) -> MonitorStatus:
        """Return the status of one monitor, without comparing it with others."""
        [stored] = stored_monitors(self.store, [self.monitor(name)])
        return _status(stored, 0)

    def show(self, name: str) -> MonitorView:
        """Return everything the API shows of a monitor."""
        return self.view(self.monitor(name))

    def view(self, monitor: Monitor) -> MonitorView:
        """Return the view of a monitor already in memory."""
        [stored] = stored_monitors(self.store, [monitor])
        evidence = stored.evidence
        flags = e_bh([part.log_e for part in evidence], monitor.plan.alpha) if evidence else []
        windows = self.windows_of(monitor, SEARCHED_WINDOWS)
        return MonitorView(
            status=_status(stored, sum(flags)),
            evidence=[
                evidence_view(part, stands_out=flag, watched=monitor.plan.numbers)
                for part, flag in zip(evidence, flags, strict=True)
            ],
            alarms=list(stored.alarms),
            labelled=labelled_evidence(self.store, monitor, stored.alarms),
            accounts=self.store.window_answers.accounts(monitor.monitor_id)
            if monitor.plan.traffic is not None
            else None,
            window=next((window for window in windows if window.state is WindowState.READ), None),
        )

    def histories(self, name: str) -> list[History]:
        """Return the evidence of every comparison over the last rounds."""
        return self.histories_of(self.monitor(name))

    def histories_of(self, monitor: Monitor) -> list[History]:
        """Return the histories of a monitor already in memory."""
        most = rounds_shown(len(monitor.plan.all_comparisons))
        return histories_of(evidence_in(self._round_evidence(monitor, most)))

    def plotted(self, monitor: Monitor, comparisons: Sequence[str]) -> list[History]:
        """Return the histories of some comparisons over the same rounds, in the given order.

        Only the fields of these comparisons are decoded.
        """
        most = min(rounds_shown(len(monitor.plan.all_comparisons)), MAX_PLOTTED_ROUNDS)
        points: dict[str, list[dict[str, Any]]] = {key: [] for key in comparisons}
        parts = self._round_evidence(monitor, most)
        for key, fields in evidence_fields(parts, MOMENT_FIELDS, points.keys()):
            points[key].append(fields)
        tolerances = {watch.key: watch.watched.tolerance for watch in monitor.plan.all_comparisons}
        return [
            history_from(key, tolerances.get(key, 0.0), fields)
            for key, fields in points.items()
            if fields
        ]

    def trends(self, shown: Sequence[tuple[Monitor, MonitorStatus]]) -> dict[str, list[Estimate]]:
        """Return the leading gap of each monitor over its last rounds, in two queries."""
        closed = [(monitor, status.rounds) for monitor, status in shown]
        rounds = self.store.rounds.latest_of(Round, closed, TREND_ROUNDS)
        records = self.store.records.of_runs(RoundEvidence, (round_.run_id for round_ in rounds))
        parts = grouped((record.monitor_id, record) for record in records)
        return {
            status.name: _trend(parts.get(status.monitor_id, []), status.leading.comparison)
            for _, status in shown
            if status.leading
        }

    def _round_evidence(self, monitor: Monitor, most: int) -> Iterable[RoundEvidence]:
        rounds = self.store.rounds.latest(Round, monitor, most)
        return self.store.records.of_runs(RoundEvidence, (round_.run_id for round_ in rounds))

    def windows(
        self, name: str, last: Annotated[int, Field(ge=1, le=MAX_WINDOWS)] = 100
    ) -> list[WindowView]:
        """Return a traffic monitor's last windows, the latest first, also those not read yet."""
        return self.windows_of(self.monitor(name), last)

    def windows_of(self, monitor: Monitor, last: int) -> list[WindowView]:
        """Return the windows of a monitor already in memory."""
        descriptions = self.store.rounds.latest(Description, monitor, last)
        read = {description.run_id: description for description in descriptions}
        windows = self.store.window_answers.latest(monitor.monitor_id, last)
        accounted = {window.of.run_id: window for window in windows}
        views = []
        for run_id in read.keys() | accounted.keys():
            window = accounted.get(run_id)
            is_watched = window is None or _is_watched(window, monitor)
            views.append(window_view(window, read.get(run_id), watched=is_watched))
        return sorted(views, key=lambda view: view.window.begins, reverse=True)[:last]

    def window_ends(self, monitor: Monitor, last: int) -> dict[int, datetime]:
        """Return the ends of the windows of a traffic monitor's last rounds, by round.

        They are read from their runs, as descriptions hold the numbers of every stratum.
        """
        rounds = self.store.rounds.latest(Round, monitor, last)
        runs = self.store.records.get(Run, [round_.run_id for round_ in rounds])
        ends = {run.id: run.window.ends for run in runs if run.window}
        return {round_.round: ends[round_.run_id] for round_ in rounds if round_.run_id in ends}

    def alarms(self, name: str) -> list[AlarmView]:
        """Return a monitor's alarms, the latest first, with the answers that contributed most.

        Also those of a deleted monitor: messages that were sent link here.
        """
        monitor = self.definition(name)
        if monitor is None:
            raise no_monitor(name)
        return self.alarms_of(monitor)

    def alarms_of(self, monitor: Monitor) -> list[AlarmView]:
        """Return the alarms of a monitor already in memory."""
        [stored] = stored_monitors(self.store, [monitor])
        dimensions = {watch.key: watch.pair.dimension for watch in monitor.plan.all_comparisons}
        ids = [
            id_ for alarm in stored.alarms for twins in alarm.twins for id_ in (*twins.a, *twins.b)
        ]
        responses = {response.id: response for response in self.store.records.get(Response, ids)}
        deliveries = grouped(
            (delivery.alarm_id, delivery)
            for delivery in self.store.alarm_deliveries.of_alarms(
                alarm.id for alarm in stored.alarms
            )
        )

        def answers(alarm: Alarm, ids: Iterable[str]) -> list[TwinAnswer]:
            dimension = dimensions.get(alarm.comparison_key, "")  # "" if no longer watched
            return [twin_answer(responses[id_], dimension) for id_ in ids if id_ in responses]

        return [
            AlarmView(
                alarm=alarm,
                twins=[
                    TwinsView(
                        set_id=twins.set_id,
                        gap=twins.gap,
                        a=answers(alarm, twins.a),
                        b=answers(alarm, twins.b),
                    )
                    for twins in alarm.twins
                ],
                deliveries=deliveries.get(alarm.id, []),
            )
            for alarm in stored.alarms
        ]


def _status(stored: StoredMonitor, flagged: int) -> MonitorStatus:
    monitor, last, entry = stored.monitor, stored.last, stored.scheduled
    ended = entry.ended if entry else None
    continues = monitor.state is MonitorState.ACTIVE and not ended
    verdicts = Counter(part.verdict for part in stored.evidence)
    alarms = len(open_alarms_of(stored.alarms))
    word = Verdict.DISPARITY if alarms else summary_word(verdicts)
    shares = [part.share_left for part in stored.evidence if part.share_left is not None]
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
        comparisons=len(monitor.plan.all_comparisons),
        verdicts=verdicts,
        alarms=alarms,
        word=SummaryWord(word or Verdict.INCONCLUSIVE),
        undetected=undetected_gaps(
            (part.comparison.watched.feature, part.gap.low, part.gap.high)
            for part in stored.evidence
            if part.verdict is Verdict.INCONCLUSIVE
        ),
        leading=_leading(stored),
        flagged=flagged,
        alpha=monitor.plan.alpha,
        share_left=min(shares, default=None),
        merged=last.merged if last else None,
        since=monitor.since,
        history_of=monitor.history.of if monitor.history else None,
    )


def _leading(stored: StoredMonitor) -> LeadingGap | None:
    """Return the measured comparison with an alarm, or else with the strongest evidence."""
    alarmed = {alarm.comparison_key for alarm in open_alarms_of(stored.alarms).values()}
    measured = [part for part in stored.evidence if part.gap.value is not None]
    if not measured:
        return None
    part = max(measured, key=lambda part: (part.comparison_key in alarmed, part.log_e / part.bound))
    watched = part.comparison.watched
    return LeadingGap(
        comparison=part.comparison_key,
        title=comparison_title(part.comparison, stored.monitor.plan.numbers),
        number=f"{watched.extractor}.{watched.feature}",
        gap=part.gap,
        tolerance=watched.tolerance,
    )


def _trend(records: Iterable[RoundEvidence], comparison: str) -> list[Estimate]:
    """Return the gap of a comparison, by round."""
    rows = (fields for _, fields in evidence_fields(records, TREND_FIELDS, {comparison}))
    return [Estimate(**(row.get("gap") or {})) for row in sorted(rows, key=itemgetter("round"))]


def _is_watched(window: AccountedWindow, monitor: Monitor) -> bool:
    """Return whether answers that arrive now could be in time for a window."""
    begins, ends = window.of.window.begins, window.of.window.ends
    if monitor.history is not None:
        return ends <= monitor.history.before
    return begins >= window_at(monitor.since, int((ends - begins).total_seconds())).begins
