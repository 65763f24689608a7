"""What people change: suites kept, runs started and cancelled, interpretations requested."""

from collections.abc import Callable
from datetime import datetime, timedelta

from services.gateway.runs.queries import RunQueries
from services.gateway.runs.requests import BriefRequest, RunRequest, brief_of, run_of
from services.gateway.runs.views import RunState, StoredSuite
from shared.contracts import RUN_GATHER, Brief, Cancellation, Run, Suite
from shared.errors import NotFoundError
from shared.store import Store

RESUMABLE = {RunState.INCOMPLETE, RunState.CANCELLED}


class RunCommands:
    """Makes the records that start and end work; it blocks, so call it in a thread."""

    def __init__(
        self,
        store: Store,
        queries: RunQueries,
        *,
        now: Callable[[], datetime],
        extractor_age_s: float,
    ) -> None:
        self._store = store
        self._queries = queries
        self._now = now
        self._extractor_age_s = extractor_age_s

    def keep_suite(self, suite: Suite) -> StoredSuite:
        """Store a suite and return its hash."""
        return StoredSuite(hash=self._store.suites.keep(suite, self._now()))

    def run_for(self, request: RunRequest) -> Run:
        """Return the run that is requested; nothing is started yet."""
        suite = self._store.suites.get(request.suite_hash)
        if suite is None:
            raise NotFoundError(f"There is no suite {request.suite_hash}. Upload it first.")
        since = self._now() - timedelta(seconds=self._extractor_age_s)
        return run_of(request, suite, self._store.extractors.running(since), self._now())

    def opening_of(self, run: Run) -> int | None:
        """Return the opening that starting this run would make; None if it must not be started.

        A run that is under way is left alone: its probes wait on the bus, and starting it again
        would have them asked twice.
        """
        if self._store.gathers(RUN_GATHER).look(run.id) is None:
            self._store.records.write([run])  # so that the next request finds it at once
            return 0
        progress = self._queries.progress(run.id)
        return progress.opening + 1 if progress.stand in RESUMABLE else None

    def cancellation_of(self, run_id: str) -> Cancellation:
        """Return the record that ends a run before its time."""
        run = self._queries.run(run_id)
        now = self._now()
        return Cancellation(
            tenant=run.tenant,
            purpose=run.purpose,
            at=now,
            run_id=run.id,
            moment_ms=int(now.timestamp() * 1000),
        )

    def brief_for(self, request: BriefRequest) -> Brief:
        """Store and return the interpretation that is requested; the next request finds it."""
        if request.run_id is not None:
            self._queries.run(request.run_id)
        brief = brief_of(request, self._now())
        self._store.records.write([brief])
        return brief
