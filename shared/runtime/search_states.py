"""States of searches in memory, so that each closed round is replayed once."""

from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

from biaswatch.shared.analysis.search.replay import SearchState, replay
from biaswatch.shared.store import Store
from biaswatch.shared.store.searches import StoredSearch

MOST_KEPT = 64


class SearchStates:
    """Reads states of searches, whose closed rounds never change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._states: OrderedDict[str, SearchState] = OrderedDict()
        self._lock = Lock()

    @contextmanager
    def of(self, stored: StoredSearch, calls: int | None = None) -> Iterator[SearchState]:
        """Yield the state of a search after its closed rounds; others wait.

        Parameters
        ----------
        calls
            The budget; that of the search, if None.
        """
        with self._lock:
            search = self._store.searches.plan(stored, calls)
            state = self._states.pop(stored.id, None)
            if state is None or len(state.rounds) > stored.next_round:
                state = replay(search, ())
            for round_ in self._store.searches.rounds(stored, first=len(state.rounds)):
                state.add(round_)
            state.search = search
            self._states[stored.id] = state
            if len(self._states) > MOST_KEPT:
                self._states.popitem(last=False)
            yield state
