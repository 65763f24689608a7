"""Windows of production traffic: their members, and what measures them again if it is lost."""

from collections.abc import Callable, Collection
from datetime import datetime

from shared.contracts import RUN_GATHER, Features, MonitoredWindow, Response, Run, features_id
from shared.errors import PoisonError
from shared.store import Store

MOST_AGAIN = 10_000
"""How many answers of a window are published again at one look: they are in memory together."""
MOST_LOST = 1000
"""The same for each of the windows that are closed, of which there may be many."""


class WindowExpansion:
    """Expands a window into the features that are expected of its members.

    The list of members is fixed when the window is expanded first. Who expands, waits for, repairs
    or diagnoses it reads that list, and never what the store holds of the window by then.
    """

    def __init__(self, store: Store, *, now: Callable[[], datetime]) -> None:
        self._store = store
        self._gathers = store.gathers(RUN_GATHER)
        self._now = now

    def expand(self, run: Run) -> dict[str, str]:
        """Fix the window's members; return what is expected: features and whose they are."""
        if run.window is None or run.monitor_id is None:
            raise PoisonError(f"The run {run.id} reads no window of a monitor.")
        window = MonitoredWindow(run.id, run.monitor_id, run.window)
        return _expected(run, self._store.window_answers.fix(window, self._now()))

    def arrive_recorded(self, run_id: str) -> None:
        """Note the features that are in the store already: they came before they were expected."""
        self._gathers.arrive_recorded(run_id, Features, self._now())

    def again(self, run: Run, missing: Collection[str], most: int = MOST_AGAIN) -> list[Response]:
        """Return answers to publish again, so that what is missing of them is measured.

        At most so many at once: those that are measured then make room for others.
        """
        expected = _expected(run, self._store.window_answers.members(run.id) or ())
        wanted = sorted({answer for id_, answer in expected.items() if id_ in missing})
        found = self._store.records.get(Response, wanted[:most])
        return [measured_by_all(response, run) for response in found]

    def lost(self, run: Run) -> list[Response]:
        """Return the answers whose features arrived and are not in the store."""
        arrived = self._gathers.came_to(run.id)
        return self.again(run, self._store.records.missing(Features, arrived), MOST_LOST)


def _expected(run: Run, members: Collection[str]) -> dict[str, str]:
    return {
        features_id(run.tenant, run.purpose, answer, pin.name, pin.version): answer
        for answer in members
        for pin in run.extractors
    }


def measured_by_all(response: Response, run: Run) -> Response:
    """Return a response to publish again, for all extractors of the run.

    A production answer that came before a monitor watched it was for fewer of them.
    """
    measure = tuple(sorted({*response.probe.measure, *(pin.name for pin in run.extractors)}))
    probe = response.probe.model_copy(update={"measure": measure})
    return response.model_copy(update={"probe": probe})
