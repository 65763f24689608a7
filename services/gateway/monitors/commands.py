"""Changes to monitors: applied, paused, resumed, deleted."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.settings import EVERY_TARGET, AllowedTargets
from biaswatch.shared.analysis.monitors.notes import notes_of
from biaswatch.shared.analysis.monitors.plans import (
    AskedSets,
    check_methods,
    check_round,
    plan_of,
    upkeep_of,
)
from biaswatch.shared.contracts import Monitor, MonitorPlan, MonitorState, Purpose, Upkeep
from biaswatch.shared.contracts.suite_limits import MOST_MONITORS, MOST_PROBES
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.monitor_views import AppliedMonitor
from biaswatch.shared.requests.monitors import MonitorRequest, TrafficMonitorRequest
from biaswatch.shared.store import Store

CHANNEL_AGE = timedelta(minutes=10)
"""A channel that no diagnoser has announced for so long is gone."""


@dataclass(frozen=True)
class MonitorCommands:
    """Writes definitions of monitors; it blocks, so call it in a thread."""

    store: Store
    queries: MonitorQueries
    now: Callable[[], datetime]
    extractor_age_s: float
    allowed: AllowedTargets = EVERY_TARGET
    most_probes: int = MOST_PROBES
    most_monitors: int = MOST_MONITORS

    def definition_of(self, request: MonitorRequest | TrafficMonitorRequest) -> AppliedMonitor:
        """Return what a monitor's definition becomes; the same file again changes nothing."""
        suite = None
        if isinstance(request, MonitorRequest):
            suite = self._asked_sets(request.suite_hash)
        plan, upkeep = plan_of(request, suite), upkeep_of(request)
        if plan.traffic is None:
            self.allowed.check([plan.target])
            check_round(plan, suite, self.most_probes)
            check_methods(plan, suite)
        self._check_measured(plan)
        self._check_channels(upkeep)
        last = self.queries.latest().get(request.name)
        if last is not None and last.history is not None:
            raise UsageError(
                f"{request.name} is the monitor that reads the past of {last.history.of}. Choose"
                " another name."
            )
        if last and (last.plan, last.upkeep, last.state) == (plan, upkeep, MonitorState.ACTIVE):
            return AppliedMonitor(monitor=last, changed=False, anew=False)
        self.check_amount(last)
        now = moment_after(last, self.now())
        monitor = Monitor(
            tenant=self.store.tenant,
            purpose=Purpose.MONITOR,
            at=now,
            name=request.name,
            moment_ms=later_moment_ms(last, now),
            plan=plan,
            upkeep=upkeep,
            since=_first_round_due(last, plan, now),
        )
        same_plan = last is not None and last.monitor_id == monitor.monitor_id
        anew = not same_plan and not self.store.rounds.closed(monitor)
        return AppliedMonitor(monitor=monitor, changed=True, anew=anew, notes=notes_of(plan, suite))

    def _asked_sets(self, hash_: str) -> AskedSets | None:
        """Go through a stored suite for what the checks need of it."""
        if (outline := self.store.suites.outline(hash_)) is None:
            return None
        every = self.store.suites.every_probe(outline)
        return AskedSets.of(outline.header.name, outline.hash, every)

    def check_amount(self, last: Monitor | None) -> None:
        """Refuse one more monitor than a tenant may have; one that is there may be changed.

        Raises
        ------
        UsageError
            With how many there are, and what can be done.
        """
        if last is not None and last.state is not MonitorState.DELETED:
            return
        latest = self.queries.latest().values()
        there = sum(each.state is not MonitorState.DELETED for each in latest)
        if there >= self.most_monitors:
            raise UsageError(
                f"The tenant {self.store.tenant} has {there:,} monitors, and"
                f" {self.most_monitors:,} are allowed. Delete one (`biaswatch monitor delete`), or"
                " have whoever operates the gateway raise BIASWATCH_GATEWAY_MONITORS."
            )

    def keep(self, monitor: Monitor) -> None:
        """Store a definition that is about to count."""
        self.store.records.write([monitor])

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

    def _check_channels(self, upkeep: Upkeep) -> None:
        """Refuse a channel that no diagnoser has: nobody would hear of the alarms."""
        if not upkeep.channels:
            return
        since = self.now() - CHANNEL_AGE
        known = [each.name for each in self.store.channels.known(since)]
        if unknown := sorted(set(upkeep.channels) - set(known)):
            raise UsageError(
                f"There is no channel {unknown[0]}; the operator has declared"
                f" {', '.join(known) or 'none'} (BIASWATCH_DIAGNOSER_CHANNELS_FILE of the"
                " diagnoser). Name one of these, or ask the operator for it."
            )

    def changed_state(self, name: str, state: MonitorState) -> AppliedMonitor:
        """Return the record that pauses, resumes or deletes a monitor."""
        last = self.queries.monitor(name)
        if last.history is not None and state is not MonitorState.DELETED:
            raise UsageError(
                f"{name} reads the past of {last.history.of}: it is neither paused nor resumed."
                " `biaswatch ingest SOURCE FILE --history` sends more of it in."
            )
        if last.state is state:
            return AppliedMonitor(monitor=last, changed=False, anew=False)
        now = moment_after(last, self.now())
        fields = {"at": now, "moment_ms": later_moment_ms(last, now), "state": state}
        if state is MonitorState.ACTIVE:
            fields["since"] = now
        monitor = last.model_copy(update=fields)
        # A copy keeps what was computed of the original, its id among it.
        monitor = Monitor.model_validate(monitor.model_dump(exclude={"id"}))
        return AppliedMonitor(monitor=monitor, changed=True, anew=False)


def _first_round_due(last: Monitor | None, plan: MonitorPlan, now: datetime) -> datetime:
    """Return when the first round is due; windows of traffic that are still to be read stay."""
    unchanged = last is not None and last.plan == plan and last.state is MonitorState.ACTIVE
    return last.since if last is not None and unchanged and plan.traffic is not None else now


def moment_after(last: Monitor | None, now: datetime) -> datetime:
    """Return when a definition is made: not before the last one, also where a clock went back."""
    return max(now, last.at) if last is not None else now


def later_moment_ms(last: Monitor | None, now: datetime) -> int:
    """Return a moment later than that of the last definition, however quickly one follows."""
    return max(int(now.timestamp() * 1000), last.moment_ms + 1 if last else 0)
