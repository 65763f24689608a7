"""Store suites, start and cancel runs, request interpretations."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from biaswatch.services.gateway.context import GatewayContext, now
from biaswatch.services.gateway.runs.descriptions import RunDescriptions
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.settings import EVERY_TARGET, AllowedTargets
from biaswatch.shared.contracts import RUN_GATHER, AuditAction, Brief, Cancellation, Run
from biaswatch.shared.contracts.suite_limits import (
    MOST_PROBES,
    MOST_RUNS,
    MOST_SUITES,
    check_amount,
)
from biaswatch.shared.errors import ArchivedError, NotFoundError, UsageError
from biaswatch.shared.requests.run_views import (
    Interpretation,
    ResumedTarget,
    RunProgress,
    RunState,
    StartedRun,
)
from biaswatch.shared.requests.runs import (
    BriefRequest,
    ResumeRequest,
    RunDescription,
    RunRequest,
    brief_of,
    run_of,
)
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store

RESUMABLE = {RunState.INCOMPLETE, RunState.CANCELLED}


@dataclass(frozen=True)
class RunCommands:
    """Makes the records that start and end work; it blocks, so call it in a thread."""

    store: Store
    queries: RunQueries
    now: Callable[[], datetime]
    extractor_age_s: float
    allowed: AllowedTargets = EVERY_TARGET
    most_probes: int = MOST_PROBES
    most_runs: int = MOST_RUNS
    most_suites: int = MOST_SUITES

    def run_for(self, request: RunRequest) -> Run:
        """Return the requested run, without starting it."""
        suite = self.queries.outline(request.suite_hash)
        if suite.purged:
            raise UsageError(
                f"Texts of the suite {suite.header.name} were purged. Upload it without the units"
                " that are gone, then start the run."
            )
        since = self.now() - timedelta(seconds=self.extractor_age_s)
        running = self.store.extractors.running(since)
        run = run_of(request, suite, running, self.now(), tenant=self.store.tenant)
        check_amount(run, suite.probes, self.most_probes)
        self.allowed.check((*run.targets, *(run.judging.judges if run.judging else ())))
        return run

    def opening_of(self, run: Run) -> int | None:
        """Return the opening that starting a run makes; None if it must not be started.

        The probes of a run under way wait on the bus; starting it again would repeat them.

        Raises
        ------
        ArchivedError
            Some of its answers are missing, and the others are archived.
        UsageError
            The tenant already has the maximum number of runs under way.
        """
        opening: int | None = 0
        if self.store.gathers(RUN_GATHER).state(run.id) is not None:
            progress = self.queries.progress(run.id)
            if progress.archived and progress.state in RESUMABLE:
                raise ArchivedError(f"The run {run.id} cannot go on. {progress.archived}")
            opening = progress.opening + 1 if progress.state in RESUMABLE else None
        if opening or (opening == 0 and self.store.records.missing(Run, [run.id])):
            self._check_runs_under_way()
        return opening

    def _check_runs_under_way(self) -> None:
        under_way = self.store.runs_under_way.count(self.store.tenant)
        if under_way >= self.most_runs:
            raise UsageError(
                f"{under_way:,} runs of the tenant {self.store.tenant} are under way, and"
                f" {self.most_runs:,} may be at once. Wait until some have ended, cancel some"
                " (`biaswatch runs` lists them), or ask the gateway's operator to raise"
                " BIASWATCH_GATEWAY_RUNS_UNDER_WAY."
            )

    def store_run(self, run: Run) -> None:
        """Store a run before it is published, so that the next request finds it."""
        self.store.records.write([run])

    def resume_target(self, request: ResumeRequest) -> ResumedTarget:
        """End the pause of a target; every generator notices within seconds."""
        resumed = self.store.paused_targets.resume(self.paused_lanes(request))
        return ResumedTarget(target=request.target, pauses=resumed)

    def paused_lanes(self, request: ResumeRequest) -> list[str]:
        """Return the lanes of a paused target, or raise NotFoundError."""
        paused = self.queries.paused_targets()
        lanes = [pause.lane for pause in paused if request.target in {pause.target, pause.lane}]
        if not lanes:
            raise NotFoundError(
                "No target of this name is paused. `biaswatch targets list` shows those that are."
            )
        return lanes

    def check_description(self, run_id: str, description: RunDescription) -> None:
        """Raise NotFoundError without the run, UsageError if another run has the name."""
        self.queries.run(run_id)
        namesakes = set(RunDescriptions(self.store).named(description.name)) - {run_id}
        if description.name and namesakes:
            raise UsageError(
                f"The run {min(namesakes)} is called {description.name} already. Choose another"
                " name, or give that run another one first."
            )

    def brief_for(self, request: BriefRequest) -> Brief:
        """Return the requested interpretation, without starting it."""
        if request.run_id is not None:
            self.queries.run(request.run_id)
        brief = brief_of(request, self.now(), tenant=self.store.tenant)
        self.allowed.check((*([brief.writer] if brief.writer else []), *brief.judges))
        return brief

    def store_brief(self, brief: Brief) -> Interpretation:
        """Store an interpretation before it is published, and return its state."""
        self.store.records.write([brief])
        return self.queries.interpretation(brief.id)


def run_commands(ctx: GatewayContext) -> RunCommands:
    """Return the commands of a gateway, with its limits."""
    settings = ctx.settings
    return RunCommands(
        ctx.store,
        ctx.queries(RunQueries),
        now,
        settings.gateway_extractor_age_s,
        allowed=settings.allowed_targets,
        most_probes=settings.gateway_run_probes,
        most_runs=settings.gateway_runs_under_way,
        most_suites=settings.gateway_suites,
    )


async def start_run(request: RunRequest, commands: RunCommands, ctx: GatewayContext) -> StartedRun:
    """Start the requested run unless it is under way or complete; return it either way."""
    run = await in_thread(commands.run_for, request)
    opening = await in_thread(commands.opening_of, run)
    if opening is not None:
        targets = ", ".join(target.name for target in run.targets)
        async with ctx.audit.act(AuditAction.RUN_START, run.id, suite=run.suite, targets=targets):
            await in_thread(commands.store_run, run)
            await ctx.send(run)
    return StartedRun(run=run, opening=opening or 0)


async def describe_run(
    run_id: str, description: RunDescription, commands: RunCommands, ctx: GatewayContext
) -> RunProgress:
    """Replace name, tags and note of a run; its entry in the audit trail holds them."""
    await in_thread(commands.check_description, run_id, description)
    await ctx.audit.record(AuditAction.RUN_DESCRIBE, run_id, **description.details)
    return await in_thread(commands.queries.progress, run_id)


def cancellation_of(run: Run, at: datetime) -> Cancellation:
    """Return the record that cancels a run."""
    return Cancellation(
        tenant=run.tenant,
        purpose=run.purpose,
        at=at,
        run_id=run.id,
        moment_ms=int(at.timestamp() * 1000),
    )


async def cancel(run: Run, ctx: GatewayContext) -> Cancellation:
    """Cancel a run; its answers are kept."""
    cancellation = cancellation_of(run, now())
    await in_thread(ctx.store.records.write, [cancellation])  # the bus may lose a published record
    await ctx.send(cancellation)
    return cancellation
