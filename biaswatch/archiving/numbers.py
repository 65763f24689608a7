"""The dataset of numbers: a row an answer, its groups and measurements, without any text."""

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any

import pyarrow

from biaswatch.exporting.files import is_text_column, ordered
from biaswatch.exporting.rows import rows_of_page
from biaswatch.shared.contracts import Features, Purpose, Response
from biaswatch.shared.requests.exports import exported_answer, exported_features
from biaswatch.shared.store import Store

TEXT_COLUMNS = ("messages", "text", "baseline")
"""What people and models wrote, and baselines that stand for it."""
AT_ONCE = 500
Row = dict[str, Any]


class DayOfNumbers:
    """The rows of one day, kept in a file of its own until their columns are known."""

    def __init__(self, kept: IO[str]) -> None:
        self._names: dict[str, None] = {}
        self._kept = kept

    def add(self, row: Row) -> None:
        """Keep a row."""
        self._names |= dict.fromkeys(row)
        self._kept.write(json.dumps(row, ensure_ascii=False) + "\n")

    @property
    def schema(self) -> pyarrow.Schema:
        """The columns of all rows: names are texts, measurements are numbers."""
        kinds = {True: pyarrow.string(), False: pyarrow.float64()}
        names = ordered(self._names)
        return pyarrow.schema([(name, kinds[is_text_column(name)]) for name in names])

    def rows(self) -> Iterator[list[Row]]:
        """Return the rows as the schema has them, some at a time."""
        numbers = {name for name in self._names if not is_text_column(name)}
        self._kept.seek(0)
        some: list[Row] = []
        for line in self._kept:
            some.append(_typed(json.loads(line), numbers))
            if len(some) == AT_ONCE:
                yield some
                some = []
        yield some


def _typed(row: Row, numbers: set[str]) -> Row:
    return {
        name: None if cell is None else float(cell) if name in numbers else str(cell)
        for name, cell in row.items()
    }


def number_rows(store: Store, response_ids: Sequence[str]) -> Iterable[tuple[str, Row]]:
    """Yield the day and the row of each of these answers; what judges said is none."""
    answers = [
        each
        for each in store.records.get(Response, response_ids, texts=False)
        if each.purpose is not Purpose.JUDGE
    ]
    by_answer: dict[str, list[Features]] = {}
    for each in store.records.by_key(Features, "response_id", [each.id for each in answers]):
        by_answer.setdefault(each.response_id, []).append(each)
    for answer in answers:
        shown = exported_answer(answer.probe, answer.id, answer)
        measured = exported_features(answer.id, by_answer.get(answer.id, []), ())
        [row] = rows_of_page([shown], measured)
        day = (shown.at or answer.at).date().isoformat()
        yield day, {name: cell for name, cell in row.items() if name not in TEXT_COLUMNS}
