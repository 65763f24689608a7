"""The pairs and reports of a run that judges have judged, from the store."""

from biaswatch.shared.contracts import Evaluation, PairVerdict
from biaswatch.shared.contracts.judged_item import ORACLE, JudgedItem, judged_pairs, judged_reports
from biaswatch.shared.store.records import Records


class JudgedItems:
    """Reads what judges said in a run."""

    def __init__(self, records: Records) -> None:
        self._records = records

    def of_run(self, run_id: str, instrument: str) -> list[JudgedItem]:
        """Return the pairs that the oracle, or the reports that the evaluator, had judged."""
        if instrument == ORACLE:
            return judged_pairs(self._records.read(PairVerdict, run_id=run_id, texts=False))
        return judged_reports(self._records.read(Evaluation, run_id=run_id, texts=False))
