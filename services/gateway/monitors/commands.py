"""Changes to monitors: applied, paused, resumed, deleted."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.gateway.monitors.plans import plan_of, upkeep_of
from services.gateway.monitors.queries import MonitorQueries
from services.gateway.monitors.requests import MonitorRequest, TrafficMonitorRequest
from services.gateway.monitors.views import AppliedMonitor
from shared.contracts import Monitor, MonitorPlan, MonitorState, Purpose
from shared.errors import UsageError
from shared.store import Store


@dataclass(frozen=True)
class MonitorCommands:
    """Writes definitions of monitors; it blocks, so call it in a thread."""

    store: Store
    queries: MonitorQueries
    now: Callable[[], datetime]
    extractor_age_s: float

    def apply(self, request: MonitorRequest | TrafficMonitorRequest) -> AppliedMonitor:
        """Store a monitor's definition; the same file again changes nothing."""
        suite = None
        if isinstance(request, MonitorRequest):
            suite = self.store.suites.get(request.suite_hash)
        plan, upkeep = plan_of(request, suite), upkeep_of(request)
        self._check_measured(plan)
        last = self.queries.latest().get(request.name)
        if last and (last.plan, last.upkeep, last.state) == (plan, upkeep, MonitorState.ACTIVE):
            return AppliedMonitor(monitor=last, changed=False, anew=False)
        now = self.now()
        monitor = Monitor(
            purpose=Purpose.MONITOR,
            at=now,
            name=request.name,
            moment_ms=_later_moment_ms(last, now),
            plan=plan,
            upkeep=upkeep,
            since=_first_round_due(last, plan, now),
        )
        self.store.records.write([monitor])
        same_plan = last is not None and last.monitor_id == monitor.monitor_id
        anew = not same_plan and not self.store.rounds.closed(monitor)
        return AppliedMonitor(monitor=monitor, changed=True, anew=anew)

    def _check_measured(self, plan: MonitorPlan) -> None:
        """Refuse a feature that no extractor measures: its evidence would be missing for ever."""
        since = self.now() - timedelta(seconds=self.extractor_age_s)
        running = {each.name: each.features for each in self.store.extractors.running(since)}
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

    def change_state(self, name: str, state: MonitorState) -> Monitor:
        """Store and return the record that pauses, resumes or deletes a monitor."""
        last = self.queries.monitor(name)
        now = self.now()
        if last.state is state:
            return last
        fields = {"at": now, "moment_ms": _later_moment_ms(last, now), "state": state}
        if state is MonitorState.ACTIVE:
            fields["since"] = now
        monitor = last.model_copy(update=fields)
        # A copy keeps what was computed of the original, its id among it.
        monitor = Monitor.model_validate(monitor.model_dump(exclude={"id"}))
        self.store.records.write([monitor])
        return monitor


def _first_round_due(last: Monitor | None, plan: MonitorPlan, now: datetime) -> datetime:
    """Return when the first round is due; windows of traffic that are still to be read stay."""
    unchanged = last is not None and last.plan == plan and last.state is MonitorState.ACTIVE
    return last.since if last is not None and unchanged and plan.traffic is not None else now


def _later_moment_ms(last: Monitor | None, now: datetime) -> int:
    """Return a moment later than that of the last definition, however quickly one follows."""
    return max(int(now.timestamp() * 1000), last.moment_ms + 1 if last else 0)
