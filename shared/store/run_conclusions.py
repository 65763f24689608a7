"""What came of a run, as far as the store has it: its diagnoses and its verdicts."""

from contextlib import closing

from biaswatch.shared.contracts import (
    Assessment,
    Completion,
    Diagnosis,
    Features,
    PairVerdict,
    Response,
)
from biaswatch.shared.store.records import Records


class RunConclusions:
    """Tells whether the results of a run are complete."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def diagnosed(self, run_id: str, opening: int) -> bool:
        """Return whether the store has all diagnoses of a run's last completion."""
        completions = self._records.read(Completion, run_id=run_id)
        for last in (each.id for each in completions if each.opening == opening):
            with closing(self._records.numbers(Diagnosis, run_id=run_id)) as found:
                together = next((d["together"] for d in found if d["completion_id"] == last), None)
            kinds = (Diagnosis, Assessment)
            stored = [self._records.count(kind, completion_id=last) for kind in kinds]
            if together is not None and sum(stored) >= together:
                return True
        return False

    def without_response(self, run_id: str) -> int:
        """Count the features of a run whose response the store lacks."""
        return self._records.count_without(Features, Response, run_id=run_id)

    def verdicts(self, run_id: str, expected: int) -> int:
        """Count judged pairs; a pair that was judged again has two verdicts and counts once."""
        if not expected:
            return 0
        found = self._records.count(PairVerdict, run_id=run_id)
        if found <= expected:  # the usual case, and quick while a run is watched
            return found
        verdicts = self._records.read(PairVerdict, run_id=run_id, texts=False)
        return len({each.pair_id for each in verdicts})
