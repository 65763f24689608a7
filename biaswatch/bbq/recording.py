"""Published predictions become a recording, so that they can be replayed as a model's answers."""

import json
from collections.abc import Iterator
from pathlib import Path

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import MARKS, order_of
from shared.errors import UsageError
from shared.files import checked, json_lines, read_text


def recording_of(path: Path, column: str, *, seed: int = 0) -> Iterator[str]:
    """Return a line of a replay file for each row: the mark of the option the prediction names.

    A prediction is compared with the options without regard to case; one that matches none is
    recorded as it is, and is counted as no choice.

    Raises
    ------
    UsageError
        The file cannot be read, or a row has no such column.
    """
    for place, fields in json_lines(read_text(path, "predictions"), path):
        row = checked(BbqRow, fields, place)
        if column not in fields:
            raise UsageError(f"{place}: there is no column {column!r}.")
        said = fields[column]
        yield json.dumps({"key": row.key, "text": _text(row, str(said), seed)})


def _text(row: BbqRow, said: str, seed: int) -> str:
    texts = [answer.strip().casefold() for answer in row.answers]
    if texts.count(said.strip().casefold()) != 1:
        return said
    return f"Answer: {MARKS[order_of(row, seed).index(texts.index(said.strip().casefold()))]}"
