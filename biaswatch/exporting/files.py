"""Rows written to CSV, JSON lines or Parquet; memory does not grow with their number."""

import csv
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import IO, Any

from biaswatch.shared.errors import UsageError
from biaswatch.written_files import written_whole

AT_ONCE = 2000
Row = Mapping[str, Any]
FIRST = ("id", "run_id", "key", "at", "target", "scaffold", "repeat", "unit", "set")
LAST = (
    *("messages", "text", "reasoning", "reason", "baseline"),
    *("model", "fingerprint", "finish_reason"),
)


def writer_of(path: Path) -> Callable[[Path, Sequence[str], Iterator[Row]], None]:
    """Return what writes such a file, by its ending.

    Raises
    ------
    UsageError
        It is none of the three.
    """
    writers = {".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet}
    if (found := writers.get(path.suffix.lower())) is None:
        raise UsageError(f"{path} is none of {', '.join(writers)}; its ending says what it is.")
    return found


async def write_rows(rows: AsyncIterator[Row], path: Path) -> int:
    """Write rows to a file, and return how many; the columns are known only after the last.

    Raises
    ------
    UsageError
        The file cannot be written, or its ending says nothing.
    """
    write = writer_of(path)
    names: dict[str, None] = {}
    count = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as kept:
        async for row in rows:
            names |= dict.fromkeys(row)
            kept.write(json.dumps(row, ensure_ascii=False))
            kept.write("\n")
            count += 1
        kept.seek(0)
        with written_whole(path) as part:
            write(part, ordered(names), _rows(kept))
    return count


def ordered(names: Mapping[str, None]) -> list[str]:
    """Return columns in an order for readers: who, groups, facts, words, measurements."""
    groups = sorted(name for name in names if name.startswith("groups."))
    facts = sorted(name for name in names if name.startswith("facts."))
    known = [*FIRST, *groups, *facts, *LAST]
    measured = sorted(set(names) - set(known))
    return [*(name for name in known if name in names), *measured]


def _rows(kept: IO[str]) -> Iterator[Row]:
    for line in kept:
        yield json.loads(line)


def _csv(path: Path, names: Sequence[str], rows: Iterator[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in rows:
            cells = [row.get(name) for name in names]
            # Python writes a number so that reading it gives the same one.
            writer.writerow(["" if cell is None else cell for cell in cells])


def _json_lines(path: Path, names: Sequence[str], rows: Iterator[Row]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            kept = {name: row[name] for name in names if row.get(name) is not None}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")


def _parquet(path: Path, names: Sequence[str], rows: Iterator[Row]) -> None:
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema(
        [(name, pyarrow.string() if is_text_column(name) else pyarrow.float64()) for name in names]
    )
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(islice(rows, AT_ONCE)):
            columns = {
                name: [_cell(row.get(name), schema.field(name).type) for row in some]
                for name in names
            }
            writer.write_table(pyarrow.table(columns, schema=schema))


def is_text_column(name: str) -> bool:
    """Tell whether a column holds names or words; the others hold numbers."""
    return name in _TEXTS or name.startswith(("groups.", "facts.")) or name.endswith(_WORDS)


_WORDS = (".version", ".missing")
_TEXTS = {*FIRST, *LAST}


def _cell(value: Any, kind: Any) -> Any:
    if value is None:
        return None
    return str(value) if str(kind) == "string" else float(value)
