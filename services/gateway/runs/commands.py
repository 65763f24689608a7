"""What people change: suites kept, runs started and cancelled, interpretations requested."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from services.gateway.runs.queries import RunQueries
from services.gateway.runs.requests import BriefRequest, ResumeRequest, RunRequest, brief_of, run_of
from services.gateway.runs.views import ResumedTarget, RunState, StoredSuite
from shared.contracts import RUN_GATHER, Brief, Cancellation, Run, Suite
from shared.errors import NotFoundError
from shared.store import Store

RESUMABLE = {RunState.INCOMPLETE, RunState.CANCELLED}


@dataclass(frozen=True)
class RunCommands:
    """Makes the records that start and end work; it blocks, so call it in a thread."""

    store: Store
    queries: RunQueries
    now: Callable[[], datetime]
    extractor_age_s: float

    def keep_suite(self, suite: Suite) -> StoredSuite:
        """Store a suite and return its hash."""
        return StoredSuite(hash=self.store.suites.keep(suite, self.now()))

    def run_for(self, request: RunRequest) -> Run:
        """Return the run that is requested; nothing is started yet."""
        suite = self.store.suites.get(request.suite_hash)
        if suite is None:
            raise NotFoundError(f"There is no suite {request.suite_hash}. Upload it first.")
        since = self.now() - timedelta(seconds=self.extractor_age_s)
        return run_of(request, suite, self.store.extractors.running(since), self.now())

    def opening_of(self, run: Run) -> int | None:
        """Return the opening that starting this run would make; None if it must not be started.

        A run that is under way is left alone: its probes wait on the bus, and starting it again
        would have them asked twice.
        """
        if self.store.gathers(RUN_GATHER).look(run.id) is None:
            self.store.records.write([run])  # so that the next request finds it at once
            return 0
        progress = self.queries.progress(run.id)
        return progress.opening + 1 if progress.stand in RESUMABLE else None

    def resume_target(self, request: ResumeRequest) -> ResumedTarget:
        """Have a paused target asked again at once; every generator sees it within seconds."""
        paused = self.store.paused_targets.read()
        lanes = [each.lane for each in paused if request.target in {each.target, each.lane}]
        if not lanes:
            raise NotFoundError(
                "No target of this name is paused. `biaswatch targets list` shows those that are."
            )
        resumed = self.store.paused_targets.resume(lanes)
        return ResumedTarget(target=request.target, pauses=resumed)

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
        """Store and return the interpretation that is requested; the next request finds it."""
        if request.run_id is not None:
            self.queries.run(request.run_id)
        brief = brief_of(request, self.now())
        self.store.records.write([brief])
        return brief
