"""Corrections that are lost come back: runs whose labels no correction holds are computed again."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from biaswatch.services.diagnoser.handlers.labels import CorrectByLabels
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Correction, Label, Record, Run, labels_digest
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store

GRACE = timedelta(seconds=20)
"""Labels that are younger are on their usual way."""
MOST_LOOKS = 64
"""Between two attempts at a run whose corrections do not arrive."""


@dataclass(frozen=True)
class _Look:
    labels: int
    settled: bool = False
    """Whether the store has the corrections of that many labels."""
    attempts: int = 0
    wait: int = 0
    """Looks that are left out before the next attempt."""


class LostCorrections:
    """Looks in the store for labels that no correction holds, and has these corrected.

    A message that was lost, or a service that was killed between a label and its correction, leaves
    such labels behind. A run is looked at closely only when its number of labels has changed; one
    whose corrections do not arrive is computed again ever more rarely.
    """

    def __init__(
        self, store: Store, correct: CorrectByLabels, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._correct = correct
        self._now = now
        self._looks: dict[str, _Look] = {}

    async def look(self, publisher: Publisher) -> None:
        """Compute lost corrections again, and publish them."""
        for run_id in await in_thread(self.due):
            for record in await in_thread(self.again, run_id):
                await publisher.publish(record)

    def due(self) -> list[str]:
        """Return the runs whose labels are to be computed with again now."""
        counts = self._store.labelled_runs.counts()
        before, self._looks = self._looks, {}
        for run_id, labels in counts.items():
            last = before.get(run_id)
            if last is None or last.labels != labels:
                last = _Look(labels)
            self._looks[run_id] = self._looked(run_id, last)
        return [id_ for id_, look in self._looks.items() if not look.settled and look.wait == 0]

    def again(self, run_id: str) -> list[Record]:
        """Return what the labels of a run make of its findings, and the alarms that follow."""
        look = self._looks[run_id]
        wait = min(2**look.attempts, MOST_LOOKS)
        self._looks[run_id] = _Look(look.labels, False, look.attempts + 1, wait)
        return [
            each
            for run in self._store.records.get(Run, [run_id])
            for each in self._correct.keep(run)
        ]

    def _looked(self, run_id: str, last: _Look) -> _Look:
        if last.settled:
            return last
        labels = list(self._store.records.read(Label, run_id=run_id, texts=False))
        if not labels:  # purged or archived since they were counted
            return _Look(last.labels, settled=True)
        if max(each.at for each in labels) > self._now() - GRACE:
            return _Look(last.labels, False, last.attempts, wait=1)
        wanted = labels_digest(each.id for each in labels)
        held = self._store.records.read(Correction, run_id=run_id, texts=False)
        settled = any(each.labels_hash == wanted for each in held)
        return _Look(last.labels, settled, last.attempts, max(0, last.wait - 1))
