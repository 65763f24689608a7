"""What is published again of a part of a run: questions without answer, answers without measure."""

from collections.abc import Iterator, Set

from biaswatch.services.planner.handlers.planned_parts import PlannedPart
from biaswatch.shared.contracts import RUN_GATHER, Features, Record, Response, Run
from biaswatch.shared.store import Store


class Republished:
    """Finds, in the store, what leads to the records that are missing."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._gathers = store.gathers(RUN_GATHER)

    def of(
        self, run: Run, part: PlannedPart, *, unmeasured: Set[str], unanswered: Set[str]
    ) -> list[Record]:
        """Return the probes that have no response, and the responses whose features are missing.

        Probes of a paused target wait for it; another copy of them would wait as well.
        """
        paused = {each.lane for each in self._store.paused_targets.read()}
        asked = (probe for id_, probe in part.probes.items() if id_ in unanswered)
        answers = {part.expected[id_] for id_ in unmeasured} - unanswered
        return [
            *(probe for probe in asked if probe.lane not in paused),
            *(measured_by_all(each, run) for each in self._store.records.get(Response, answers)),
        ]

    def lost(self, run: Run, part: PlannedPart) -> list[Record]:
        """Return what leads to what arrived of a part and is not in the store."""
        arrived = self._gathers.arrived(run.id, part.expected)
        responses = {part.expected[id_] for id_ in arrived}
        unanswered = self._store.records.missing(Response, responses) & part.probes.keys()
        unmeasured = self._store.records.missing(Features, arrived)
        return self.of(run, part, unmeasured=unmeasured, unanswered=unanswered)

    def unstored(self, run: Run) -> int:
        """Count the features of a run that arrived, and their responses, that the store lacks."""
        without = self._store.results.without_response(run.id)
        return self._gathers.unstored(run.id, Features) + without


def first_of(records: Iterator[list[Record]], most: int) -> list[Record]:
    """Return the first records of some lists, about so many; the others are not looked for."""
    found: list[Record] = []
    for some in records:
        found += some
        if len(found) >= most:
            break
    return found


def measured_by_all(response: Response, run: Run) -> Response:
    """Return a response to publish again, for all extractors of the run.

    A production answer that came before a monitor watched it was for fewer of them.
    """
    measure = tuple(sorted({*response.probe.measure, *(pin.name for pin in run.extractors)}))
    probe = response.probe.model_copy(update={"measure": measure})
    return response.model_copy(update={"probe": probe})
