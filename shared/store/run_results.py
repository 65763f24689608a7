"""Results and failures of runs."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass

from sqlalchemy import func, select

from biaswatch.shared.contracts import (
    Assessment,
    Completion,
    Diagnosis,
    Evaluation,
    Features,
    PairVerdict,
    Purpose,
    Response,
)
from biaswatch.shared.contracts.judged_items import ORACLE, JudgedItem, judged_pairs, judged_reports
from biaswatch.shared.store.database import Database
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.tables import RECORDS, TEXTS

MAX_SENTENCES = 50
"""Distinct failure messages of a run that are read, most frequent first."""


@dataclass(eq=False)
class RunConclusions:
    """Checks whether the results of a run are complete."""

    records: Records

    def diagnosed(self, run_id: str, opening: int) -> bool:
        """Return whether the store has all diagnoses of a run's last completion."""
        completions = self.records.read(Completion, run_id=run_id)
        for completion in completions:
            if completion.opening != opening:
                continue
            with closing(self.records.bodies(Diagnosis, run_id=run_id)) as diagnoses:
                expected = next(
                    (d["together"] for d in diagnoses if d["completion_id"] == completion.id), None
                )
            kinds = (Diagnosis, Assessment)
            stored = sum(self.records.count(kind, completion_id=completion.id) for kind in kinds)
            if expected is not None and stored >= expected:
                return True
        return False

    def without_response(self, run_id: str) -> int:
        """Count the features of a run whose response the store lacks."""
        return self.records.count_without(Features, Response, run_id=run_id)

    def verdicts(self, run_id: str, expected: int) -> int:
        """Count judged pairs; a pair with several verdicts counts once."""
        if not expected:
            return 0
        count = self.records.count(PairVerdict, run_id=run_id)
        if count <= expected:  # the usual case, and fast while a run is watched
            return count
        verdicts = self.records.read(PairVerdict, run_id=run_id, texts=False)
        return len({verdict.pair_id for verdict in verdicts})


@dataclass(eq=False)
class UnansweredProbes:
    """Prompts without an answer by failure message; a reader without texts sees none."""

    db: Database
    records: Records

    def of(self, run_id: str, purpose: Purpose) -> Iterator[tuple[Response, int]]:
        """Return a response for each target and message, with its number of prompts."""
        if not self.db.scope().texts:
            return
        responses = RECORDS[Response.kind].c
        prompts = func.count().label("prompts")
        first = func.min(TEXTS.c.record_id).label("first")
        query = (
            select(first, prompts)
            .join_from(TEXTS, RECORDS[Response.kind], responses.id == TEXTS.c.record_id)
            .where(TEXTS.c.run_id == run_id, TEXTS.c.field == "detail")
            .where(responses.purpose == purpose.value)
            .group_by(responses.lane, TEXTS.c.body)
            .order_by(prompts.desc(), first)
            .limit(MAX_SENTENCES)
        )
        counts = {row.first: row.prompts for row in self.db.rows(query)}
        by_id = {response.id: response for response in self.records.get(Response, counts)}
        for id_, count in counts.items():
            if (response := by_id.get(id_)) is not None:  # skips other tenants
                yield response, count


@dataclass(eq=False)
class JudgedItems:
    """The judged pairs and reports of a run."""

    records: Records

    def of_run(self, run_id: str, instrument: str) -> list[JudgedItem]:
        """Return the pairs of the oracle, or the reports of the evaluator."""
        if instrument == ORACLE:
            return judged_pairs(self.records.read(PairVerdict, run_id=run_id, texts=False))
        return judged_reports(self.records.read(Evaluation, run_id=run_id, texts=False))
