"""Blocking queries of searches: their state, results, and answers of their findings."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from biaswatch.services.gateway.runs.progress import ProgressQueries
from biaswatch.services.gateway.searches.examples import example_of, typical_sets
from biaswatch.shared.analysis.search import results_of, suite_of_findings
from biaswatch.shared.caching import LatestResults
from biaswatch.shared.contracts import PausedTarget, Run, Suite
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.presentation.searches import CoverageMap, coverage_map
from biaswatch.shared.requests.search_views import (
    FindingExamples,
    SearchProgress,
    SearchStatus,
    SearchView,
)
from biaswatch.shared.requests.searches import SearchResults
from biaswatch.shared.runtime.search_states import SearchStates
from biaswatch.shared.store import Store
from biaswatch.shared.store.searches import SearchPhase, StoredSearch

MOST_LISTED = 1000
"""Searches of a list."""
MOST_EXAMPLES = 2
"""Examples of each finding."""
CACHED_RESULTS = 64
SUITE_SETS = 100
"""Sets of a suite of findings by default."""
Sets = Annotated[int, Field(ge=2, le=10_000)]
STATUS = {SearchPhase.ENDED: SearchStatus.ENDED, SearchPhase.STOPPED: SearchStatus.STOPPED}


class SearchQueries:
    """Blocking queries of searches; call them in a thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._progress = ProgressQueries(store)
        self._states = SearchStates(store)
        self._results = LatestResults[tuple[object, ...], SearchResults](CACHED_RESULTS)

    def latest(
        self, last: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 100
    ) -> list[SearchProgress]:
        """Return the latest searches, newest first."""
        return [self._state(stored) for stored in self._store.searches.latest(last)]

    def show(self, search_id: str) -> SearchView:
        """Return the state and the results of a search."""
        stored = self.stored(search_id)
        return SearchView(progress=self._state(stored), results=self._results_of(stored))

    def coverage(self, search_id: str) -> CoverageMap:
        """Return the evidence sets of a search by area and context."""
        stored = self.stored(search_id)
        space = self._store.searches.plan(stored).space
        return coverage_map(space, self._store.searches.rounds(stored))

    def suite(self, search_id: str, sets: Sets = SUITE_SETS) -> Suite:
        """Return a suite of fresh twins from the regions of the findings."""
        with self._states.of(self.stored(search_id)) as state:
            return suite_of_findings(state, sets)

    def examples(self, search_id: str) -> list[FindingExamples]:
        """Return sets of each finding, with the answers of their twins."""
        stored = self.stored(search_id)
        search, rounds = self._store.searches.plan(stored), self._store.searches.rounds(stored)
        findings = self._results_of(stored).findings
        groups = list(search.space.groups)
        return [
            FindingExamples(
                title=finding.title,
                examples=[
                    example_of(self._store, place, groups)
                    for place in typical_sets(finding, rounds, groups, MOST_EXAMPLES)
                ],
            )
            for finding in findings
        ]

    def stored(self, search_id: str) -> StoredSearch:
        """Return a search, or raise NotFoundError."""
        if (stored := self._store.searches.get(search_id)) is None:
            raise NotFoundError(
                f"No search has the id {search_id}. `biaswatch searches list` lists all searches."
            )
        return stored

    def _results_of(self, stored: StoredSearch) -> SearchResults:
        """Return the results; cached, as closed rounds never change."""
        ended = stored.why if stored.state is not SearchPhase.ACTIVE else None
        key = stored.id, stored.next_round, stored.calls, ended

        def compute() -> SearchResults:
            with self._states.of(stored) as state:
                return results_of(state, ended)

        return self._results.get(key, compute)

    def _state(self, stored: StoredSearch) -> SearchProgress:
        answered, paused = self._round(stored.run)
        why = stored.why or next((pause.in_words() for pause in paused), None)
        is_active = stored.state is SearchPhase.ACTIVE
        waits = SearchStatus.WAITING if why else SearchStatus.RUNNING
        return SearchProgress(
            search_id=stored.id,
            space=stored.space,
            target=stored.target,
            at=stored.at,
            status=waits if is_active else STATUS[stored.state],
            why=why,
            budget=stored.calls,
            calls=stored.closed_calls + answered,
            missing=stored.missing,
            rounds=stored.next_round,
            run_id=stored.run.id if stored.run else None,
        )

    def _round(self, run: Run | None) -> tuple[int, Sequence[PausedTarget]]:
        """Return the answers of the round under way, and the pause that it waits for."""
        if run is None:
            return 0, []
        [progress] = self._progress.of([run])
        return progress.responses, progress.paused
