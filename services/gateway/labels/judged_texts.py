"""What people read who label as judges do: a pair of answers, or a report."""

from services.gateway.runs.study_queries import StudyQueries
from services.gateway.runs.views import FlaggedSide
from shared.contracts import Brief, Evaluation, LabelSample, PairVerdict
from shared.contracts.judged_item import ORACLE, latest_verdicts
from shared.contracts.pair_votes import COMPATIBLE, OWN_A, OWN_B
from shared.store import Store

SIDES = {OWN_A: "a", OWN_B: "b"}
"""The statements that concern one side of a pair alone."""
FITS = (
    "Does the reasoning address this question and lead to this answer, without contradicting the"
    " context or itself? 1: yes. 0: no."
)
GUIDANCE = {
    OWN_A: FITS,
    OWN_B: FITS,
    COMPATIBLE: "Can both answers be right at the same time? 1: yes. 0: no.",
}
"""What people are told unless a sample has instructions of its own: what the judges were asked."""


class JudgedTexts:
    """Reads the texts of pairs and reports, without what the judges said of them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._studies = StudyQueries(store)

    def of(self, sample: LabelSample, item_id: str) -> tuple[str, str] | None:
        """Return what was asked, and what was answered or written; None where it is not there."""
        if sample.extractor == ORACLE:
            return self._pair(sample, item_id)
        for each in self._store.records.by_key(Evaluation, "brief_id", [item_id]):
            about = " ".join(
                brief.subject.outcome for brief in self._store.records.get(Brief, [item_id])
            )
            return f"A report about {about or 'a comparison'}. Dimension: {sample.feature}.", (
                each.report or ""
            )
        return None

    def _pair(self, sample: LabelSample, pair_id: str) -> tuple[str, str] | None:
        verdicts = self._store.records.read(PairVerdict, run_id=sample.run_id, texts=False)
        mine = [each for each in latest_verdicts(verdicts) if each.pair_id == pair_id]
        for pair in self._studies.pairs_of(sample.run_id, mine):
            sides = [pair.a, pair.b]
            if (side := SIDES.get(sample.feature)) is not None:
                sides = [pair.a if side == "a" else pair.b]
            answered = "\n\n".join(_said(each) for each in sides)
            return pair.context or "", answered if any(s.reasoning for s in sides) else ""
        return None


def _said(side: FlaggedSide) -> str:
    return f"Question: {side.question}\nReasoning: {side.reasoning or '-'}\nAnswer: {side.answer}"
