"""What people change: suites kept, runs started and cancelled, interpretations requested."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from biaswatch.services.gateway.allowed_targets import EVERY_TARGET, AllowedTargets
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import RUN_GATHER, Brief, Cancellation, Run
from biaswatch.shared.contracts.suite_limits import (
    MOST_PROBES,
    MOST_RUNS,
    MOST_SUITES,
    check_amount,
)
from biaswatch.shared.errors import ArchivedError, NotFoundError, UsageError
from biaswatch.shared.requests.run_views import Interpretation, ResumedTarget, RunState
from biaswatch.shared.requests.runs import BriefRequest, ResumeRequest, RunRequest, brief_of, run_of
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
        """Return the run that is requested; nothing is started yet."""
        suite = self.store.suites.outline(request.suite_hash)
        if suite is None:
            raise NotFoundError(f"There is no suite {request.suite_hash}. Upload it first.")
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
        """Return the opening that starting this run would make; None if it must not be started.

        A run that is under way is left alone: its probes wait on the bus, and starting it again
        would have them asked twice.

        Raises
        ------
        ArchivedError
            Some of its answers are missing, and the others are archived.
        UsageError
            The tenant has as many runs under way as it may have.
        """
        opening: int | None = 0
        if self.store.gathers(RUN_GATHER).look(run.id) is not None:
            progress = self.queries.progress(run.id)
            if progress.archived and progress.stand in RESUMABLE:
                raise ArchivedError(f"The run {run.id} cannot go on. {progress.archived}")
            opening = progress.opening + 1 if progress.stand in RESUMABLE else None
        if opening or (opening == 0 and self.store.records.missing(Run, [run.id])):
            self._check_amount_under_way()
        return opening

    def _check_amount_under_way(self) -> None:
        under_way = self.store.runs_under_way.count(self.store.tenant)
        if under_way >= self.most_runs:
            raise UsageError(
                f"{under_way:,} runs of the tenant {self.store.tenant} are under way, and"
                f" {self.most_runs:,} may be at once. Wait until some have ended, cancel some"
                " (`biaswatch runs` lists them), or have whoever operates the gateway raise"
                " BIASWATCH_GATEWAY_RUNS_UNDER_WAY."
            )

    def keep_run(self, run: Run) -> None:
        """Store a run that is about to start, so that the next request finds it at once."""
        self.store.records.write([run])

    def resume_target(self, request: ResumeRequest) -> ResumedTarget:
        """Have a paused target asked again at once; every generator sees it within seconds."""
        resumed = self.store.paused_targets.resume(self.paused_lanes(request))
        return ResumedTarget(target=request.target, pauses=resumed)

    def paused_lanes(self, request: ResumeRequest) -> list[str]:
        """Return the lanes of a target that is paused, or raise NotFoundError."""
        paused = self.queries.paused_targets()
        lanes = [each.lane for each in paused if request.target in {each.target, each.lane}]
        if not lanes:
            raise NotFoundError(
                "No target of this name is paused. `biaswatch targets list` shows those that are."
            )
        return lanes

    def cancellation_of(self, run_id: str) -> Cancellation:
        """Store and return the record that ends a run before its time."""
        run = self.queries.run(run_id)
        now = self.now()
        cancellation = Cancellation(
            tenant=run.tenant,
            purpose=run.purpose,
            at=now,
            run_id=run.id,
            moment_ms=int(now.timestamp() * 1000),
        )
        self.store.records.write([cancellation])  # the bus may lose what it has taken
        return cancellation

    def brief_for(self, request: BriefRequest) -> Brief:
        """Return the interpretation that is requested; nothing is started yet."""
        if request.run_id is not None:
            self.queries.run(request.run_id)
        brief = brief_of(request, self.now(), tenant=self.store.tenant)
        self.allowed.check((*([brief.writer] if brief.writer else []), *brief.judges))
        return brief

    def keep_brief(self, brief: Brief) -> Interpretation:
        """Store an interpretation that is about to start; return what is known of it."""
        self.store.records.write([brief])
        return self.queries.interpretation(brief.id)
