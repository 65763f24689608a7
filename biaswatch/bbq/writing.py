"""What is written of BBQ: a suite as a folder, and published predictions as a recording."""

import json
from collections.abc import Iterator
from pathlib import Path

import yaml

from biaswatch.bbq.rows import BbqRow
from biaswatch.bbq.suite import MARKS, order_of
from shared.contracts import Suite
from shared.errors import UsageError
from shared.files import checked, json_lines, read_text

PROBES = "probes.jsonl"


def write_suite(suite: Suite, folder: Path) -> None:
    """Write a suite so that `biaswatch run FOLDER` reads the same suite again.

    Raises
    ------
    UsageError
        The folder cannot be written.
    """
    header = suite.model_dump(mode="json", exclude_defaults=True, exclude={"probes"})
    header["probes"] = PROBES
    lines = (
        json.dumps(probe.model_dump(mode="json", exclude_defaults=True), ensure_ascii=False) + "\n"
        for probe in suite.probes
    )
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / PROBES).open("w", encoding="utf-8") as out:
            out.writelines(lines)
        text = yaml.safe_dump(header, sort_keys=False, allow_unicode=True, width=100)
        (folder / "suite.yaml").write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The suite {folder} cannot be written ({error.strerror}).") from None


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
