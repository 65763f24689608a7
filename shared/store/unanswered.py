"""Prompts without an answer, by the sentence that says why: a few per run, whatever its size."""

from collections.abc import Iterator

from sqlalchemy import Engine, func, select

from biaswatch.shared.contracts import Purpose, Response
from biaswatch.shared.store.engine import read_transaction
from biaswatch.shared.store.records import Records
from biaswatch.shared.store.scope import ScopeNow, everything
from biaswatch.shared.store.tables import RECORDS
from biaswatch.shared.store.text_tables import TEXTS

MAX_SENTENCES = 50
"""Different sentences of a run that are read, the most frequent first."""


class Unanswered:
    """Reads why prompts have no answer; a reader without texts reads nothing."""

    def __init__(self, engine: Engine, records: Records, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._records = records
        self._scope = scope

    def of(self, run_id: str, purpose: Purpose) -> Iterator[tuple[Response, int]]:
        """Return a response for each target and sentence, and how many prompts have them."""
        if not self._scope().texts:
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
        with read_transaction(self._engine) as connection:
            counts = {row.first: row.prompts for row in connection.execute(query)}
        responses_by_id = {
            response.id: response for response in self._records.get(Response, counts)
        }
        for id_, count in counts.items():
            if (response := responses_by_id.get(id_)) is not None:  # none of another tenant
                yield response, count
