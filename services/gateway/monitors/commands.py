"""Apply, pause, resume and delete monitors."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from urllib.parse import urlsplit

from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.settings import EVERY_TARGET, AllowedTargets
from biaswatch.shared.analysis.monitors.blocks import SuiteBlocks
from biaswatch.shared.analysis.monitors.notes import notes_of
from biaswatch.shared.analysis.monitors.plans import (
    AskedSets,
    check_methods,
    check_round,
    plan_of,
    upkeep_of,
)
from biaswatch.shared.contracts import (
    AuditAction,
    Monitor,
    MonitorPlan,
    MonitorState,
    Purpose,
    Upkeep,
)
from biaswatch.shared.contracts.derived_features import Scale, scale_of
from biaswatch.shared.contracts.suite_limits import MOST_MONITORS, MOST_PROBES
from biaswatch.shared.errors import UsageError
from biaswatch.shared.network.outgoing import is_private_host
from biaswatch.shared.requests.monitor_views import AppliedMonitor
from biaswatch.shared.requests.monitors import MonitorRequest, TrafficMonitorRequest
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store


@dataclass(frozen=True)
class MonitorCommands:
    """Makes definitions of monitors; it blocks, so call it in a thread."""

    store: Store
    queries: MonitorQueries
    now: Callable[[], datetime]
    extractor_age_s: float
    allowed: AllowedTargets = EVERY_TARGET
    most_probes: int = MOST_PROBES
    most_monitors: int = MOST_MONITORS

    def definition_of(self, request: MonitorRequest | TrafficMonitorRequest) -> AppliedMonitor:
        """Return the definition for a monitor's file; the same file again changes nothing."""
        suite = None
        if isinstance(request, MonitorRequest):
            suite = self._sets_of(request.suite_hash)
        plan, upkeep = plan_of(request, suite), upkeep_of(request)
        if plan.traffic is None:
            self.allowed.check([plan.target])
            check_round(plan, suite, self.most_probes)
            check_methods(plan, suite)
        self._check_measured(plan)
        self._check_channels(upkeep)
        last = self.queries.definition(request.name)
        if last is not None and last.history is not None:
            raise UsageError(
                f"{request.name} is the monitor that reads the past of {last.history.of}. Choose"
                " another name."
            )
        if last and (last.plan, last.upkeep, last.state) == (plan, upkeep, MonitorState.ACTIVE):
            return AppliedMonitor(monitor=last, changed=False, anew=False)
        self._check_monitors(last)
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
        notes = [*notes_of(plan, suite), *_webhook_notes(upkeep.webhook)]
        return AppliedMonitor(monitor=monitor, changed=True, anew=anew, notes=notes)

    def _sets_of(self, suite_hash: str) -> AskedSets | None:
        """Read the sets of a stored suite for the checks of a plan."""
        if (outline := self.store.suites.outline(suite_hash)) is None:
            return None
        every_probe = self.store.suites.every_probe
        return AskedSets.of(
            outline.header.name, outline.hash, every_probe(outline), outline.header.random,
            lambda random: SuiteBlocks.of_probes(random, every_probe(outline)),
        )  # fmt: skip

    def _check_monitors(self, last: Monitor | None) -> None:
        """Raise UsageError for a monitor beyond the limit; existing ones may be changed."""
        if last is not None and last.state is not MonitorState.DELETED:
            return
        monitors = self.queries.latest().values()
        count = sum(monitor.state is not MonitorState.DELETED for monitor in monitors)
        if count >= self.most_monitors:
            raise UsageError(
                f"The tenant {self.store.tenant} has {count:,} monitors, and"
                f" {self.most_monitors:,} are allowed. Delete one (`biaswatch monitor delete`), or"
                " ask the gateway's operator to raise BIASWATCH_GATEWAY_MONITORS."
            )

    def store_definition(self, monitor: Monitor) -> None:
        """Store a definition before it is published.

        Raises
        ------
        UsageError
            Another request has meanwhile added the last monitor that is allowed.
        """
        with self.store.monitor_definitions.changing():
            if monitor.state is not MonitorState.DELETED:
                self._check_monitors(self.queries.definition(monitor.name))
            self.store.records.write([monitor])

    def _check_measured(self, plan: MonitorPlan) -> None:
        """Raise UsageError for a feature that no running extractor measures."""
        since = self.now() - timedelta(seconds=self.extractor_age_s)
        extractors = self.store.extractors.running(since)
        running = {extractor.name: extractor.features for extractor in extractors}
        for watched in plan.features:
            if watched.extractor not in running:
                raise UsageError(
                    f"The extractor {watched.extractor} is not running; running are"
                    f" {', '.join(sorted(running)) or 'none'}. Start it, or watch another feature."
                )
            scale, measured = scale_of(watched.feature) or (None, watched.feature)
            if measured not in running[watched.extractor] or scale is Scale.RANK:
                raise UsageError(
                    f"The extractor {watched.extractor} does not measure {watched.feature}; it"
                    f" measures {', '.join(sorted(running[watched.extractor])) or 'nothing'}."
                )

    def _check_channels(self, upkeep: Upkeep) -> None:
        """Raise UsageError for a channel that no notifier announces."""
        if not upkeep.channels:
            return
        known = [channel.name for channel in self.store.channels.known(self.now())]
        if unknown := sorted(set(upkeep.channels) - set(known)):
            raise UsageError(
                f"There is no channel {unknown[0]}; the operator has declared"
                f" {', '.join(known) or 'none'} (BIASWATCH_NOTIFIER_CHANNELS_FILE of the"
                " notifier). Name one of these, or ask the operator for it."
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
        # A copy keeps computed fields of the original, such as its id.
        monitor = Monitor.model_validate(monitor.model_dump(exclude={"id"}))
        return AppliedMonitor(monitor=monitor, changed=True, anew=False)


def _first_round_due(last: Monitor | None, plan: MonitorPlan, now: datetime) -> datetime:
    """Return when the first round is due; pending windows of traffic keep their time."""
    unchanged = last is not None and last.plan == plan and last.state is MonitorState.ACTIVE
    return last.since if last is not None and unchanged and plan.traffic is not None else now


def moment_after(last: Monitor | None, now: datetime) -> datetime:
    """Return the moment of a new definition, not before the last one if a clock went back."""
    return max(now, last.at) if last is not None else now


def later_moment_ms(last: Monitor | None, now: datetime) -> int:
    """Return a moment in milliseconds that is later than that of the last definition."""
    return max(int(now.timestamp() * 1000), last.moment_ms + 1 if last else 0)


def monitor_commands(ctx: GatewayContext) -> MonitorCommands:
    """Return the commands of a gateway, with its limits."""
    settings = ctx.settings
    return MonitorCommands(
        ctx.store,
        ctx.queries(MonitorQueries),
        now,
        settings.gateway_extractor_age_s,
        allowed=settings.allowed_targets,
        most_probes=settings.gateway_run_probes,
        most_monitors=settings.gateway_monitors,
    )


async def publish_change(
    applied: AppliedMonitor, action: AuditAction, commands: MonitorCommands, ctx: GatewayContext
) -> None:
    """Store and publish a changed definition; an unchanged one is only published again.

    A gateway may have ended between storing and publishing it.
    """
    monitor = applied.monitor
    if not applied.changed:
        await ctx.send(monitor)
        return
    async with ctx.audit.act(action, monitor.name, monitor_id=monitor.monitor_id):
        await in_thread(commands.store_definition, monitor)
        await ctx.send(monitor)


def _webhook_notes(url: str | None) -> Iterator[str]:
    """Yield a note for a webhook on an address that the notifier refuses by default."""
    host = urlsplit(url).hostname if url else None
    if host and is_private_host(host):
        yield (
            f"The webhook's host {host} is not public: alarms reach it only if the notifier runs"
            f" with BIASWATCH_NOTIFIER_PRIVATE_HOSTS='[\"{host}\"]'."
        )
