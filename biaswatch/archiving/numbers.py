"""The dataset of numbers: a row per answer with its groups and measurements, without texts."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import pyarrow

from biaswatch.exporting.answers import is_text_column, ordered, rows_of_page
from biaswatch.shared.contracts import Features, Purpose, Response
from biaswatch.shared.lookup import grouped
from biaswatch.shared.parquet.files import Row
from biaswatch.shared.requests.exports import exported_answer, exported_features
from biaswatch.shared.store import Store

TEXT_COLUMNS = ("messages", "text", "baseline")
"""Columns of texts, and of the baselines in their place."""
BATCH_ROWS = 500


class DayOfNumbers:
    """The rows of one day, buffered in a file until their columns are known."""

    def __init__(self, buffer: IO[str]) -> None:
        self._names: dict[str, None] = {}
        self._buffer = buffer

    def add(self, row: Row) -> None:
        """Buffer a row."""
        self._names |= dict.fromkeys(row)
        self._buffer.write(json.dumps(row, ensure_ascii=False) + "\n")

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns of all rows: strings for names, floats for measurements."""
        types = {True: pyarrow.string(), False: pyarrow.float64()}
        names = ordered(self._names)
        return pyarrow.schema([(name, types[is_text_column(name)]) for name in names])

    def rows(self) -> Iterator[list[Row]]:
        """Return the rows in batches, with the types of the schema."""
        numeric = {name for name in self._names if not is_text_column(name)}
        self._buffer.seek(0)
        batch: list[Row] = []
        for line in self._buffer:
            batch.append(_typed(json.loads(line), numeric))
            if len(batch) == BATCH_ROWS:
                yield batch
                batch = []
        yield batch


def _typed(row: Row, numeric: set[str]) -> Row:
    return {
        name: None if cell is None else float(cell) if name in numeric else str(cell)
        for name, cell in row.items()
    }


def number_rows(store: Store, response_ids: Sequence[str]) -> Iterable[tuple[str, Row]]:
    """Yield the day and the row of each answer, without replies of judges."""
    answers = [
        response
        for response in store.records.get(Response, response_ids, texts=False)
        if response.purpose is not Purpose.JUDGE
    ]
    by_answer = grouped(
        (features.response_id, features)
        for features in store.records.by_key(Features, "response_id", [a.id for a in answers])
    )
    for answer in answers:
        exported = exported_answer(answer.probe, answer.id, answer)
        measured = exported_features(answer.id, by_answer.get(answer.id, []), ())
        [row] = rows_of_page([exported], measured)
        day = (exported.at or answer.at).date().isoformat()
        cells: dict[str, Any] = {n: cell for n, cell in row.items() if n not in TEXT_COLUMNS}
        yield day, cells
