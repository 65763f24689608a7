"""Answers of runs as flat rows, and the files they are written to."""

import csv
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlencode

from pydantic_core import to_jsonable_python

from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.local.runs import may_name_run, whole_run_id
from biaswatch.shared.contracts.identity import is_id
from biaswatch.shared.contracts.traffic import TRAFFIC
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.exports import (
    AnswersPage,
    ExportedAnswer,
    ExportedFeatures,
    FeaturesPage,
    MonitorRun,
)
from biaswatch.written_files import written_whole

PAGE_ROWS = 500
PLAIN = ("run_id", "key", "at", "target", "scaffold", "repeat", "unit", "set")
SAID = ("text", "reasoning", "reason", "baseline", "model", "fingerprint", "finish_reason")
Row = dict[str, Any]


async def runs_named(client: GatewayClient, name: str, since: datetime | None) -> list[MonitorRun]:
    """Return the runs that are meant by a run's id or the beginning of it, or by a name.

    Names are those of monitors and live systems; they come before beginnings of ids.

    Raises
    ------
    UsageError
        Nothing is named so.
    """
    if is_id(name):
        if since is not None:
            raise UsageError("--since is for monitors and live systems: a run is exported whole.")
        found = await client.progress(name)
        return [MonitorRun(run_id=name, at=found.at)]
    monitors = await client.monitors()
    of_source = [each.name for each in monitors if each.target == f"{TRAFFIC}:{name}"]
    wanted = name if name in {each.name for each in monitors} else next(iter(of_source), None)
    if wanted is None and may_name_run(name):
        return await runs_named(client, await whole_run_id(client, name), since)
    if wanted is None:
        raise UsageError(
            f"{name} is no id of a run, no monitor and no live system that a monitor watches."
            " `biaswatch runs` and `biaswatch monitor list` list what there is."
        )
    query = f"?{urlencode({'since': since.isoformat()})}" if since else ""
    return await client.read(list[MonitorRun], path("monitors", wanted, "runs") + query)


MOST_NAMED = 3
"""Runs that are archived, by name in a sentence."""


def in_store(runs: Sequence[MonitorRun]) -> tuple[list[MonitorRun], str | None]:
    """Return the runs whose answers can be exported, and a sentence about the others, if any.

    Raises
    ------
    UsageError
        There are runs, and all of them are archived.
    """
    there = [each for each in runs if each.archived is None]
    away = [each for each in runs if each.archived is not None]
    if not away:
        return there, None
    if len(away) == 1:
        said = f"The run {away[0].run_id} is left out. {away[0].archived}"
    else:
        named = " ".join(each.run_id for each in away[:MOST_NAMED])
        more = f", and {len(away) - MOST_NAMED:,} more" if len(away) > MOST_NAMED else ""
        said = (
            f"{len(away):,} runs are left out, whose answers are archived, from"
            f" {away[0].at:%Y-%m-%d %H:%M} to {away[-1].at:%Y-%m-%d %H:%M} UTC: {named}{more}."
            " `biaswatch archive list` says where they are, and `biaswatch archive restore RUN...`"
            " brings back those that are not removed; then export again."
        )
    if not there:
        raise UsageError(f"There is nothing to export. {said}")
    return there, said


async def exported_rows(client: GatewayClient, runs: Sequence[MonitorRun]) -> AsyncIterator[Row]:
    """Yield a row for each answer of these runs."""
    for each in runs:
        after: str | None = ""
        while after is not None:
            query = urlencode({"after": after, "limit": PAGE_ROWS})
            where = path("runs", each.run_id, "responses")
            page = await client.read(AnswersPage, f"{where}?{query}")
            where = path("runs", each.run_id, "features")
            measured = await client.read(FeaturesPage, f"{where}?{query}")
            for row in rows_of_page(page.answers, measured.features):
                yield row
            after = page.after


def rows_of_page(
    answers: Iterable[ExportedAnswer], measured: Iterable[ExportedFeatures]
) -> list[Row]:
    """Return the rows of a page: who, what was asked and said, and every number."""
    by_answer: dict[str, list[ExportedFeatures]] = {}
    for each in measured:
        by_answer.setdefault(each.response_id, []).append(each)
    return [_row(each, by_answer.get(each.response_id, [])) for each in answers]


def _row(answer: ExportedAnswer, measured: Iterable[ExportedFeatures]) -> Row:
    of_traffic = answer.target.startswith(f"{TRAFFIC}:")
    row: Row = {"id": answer.key if of_traffic else answer.response_id}
    row |= {name: getattr(answer, name) for name in PLAIN}
    row["at"] = answer.at.isoformat() if answer.at else None
    row |= {f"groups.{name}": group for name, group in sorted(answer.groups.items())}
    row |= {f"facts.{name}": fact for name, fact in sorted(answer.facts.items())}
    asked = to_jsonable_python(answer.messages)
    row["messages"] = json.dumps(asked, ensure_ascii=False) if asked else None
    row |= {name: getattr(answer, name) for name in SAID}
    for each in measured:
        row[f"{each.extractor}.version"] = each.version
        row[f"{each.extractor}.missing"] = each.missing
        row |= {f"{each.extractor}.{name}": value for name, value in each.values.items()}
        row |= {f"{each.extractor}.{name}.baseline": v for name, v in each.baseline.items()}
    return row


BATCH_ROWS = 2000
WrittenRow = Mapping[str, Any]
FIRST = ("id", "run_id", "key", "at", "target", "scaffold", "repeat", "unit", "set")
LAST = (
    *("messages", "text", "reasoning", "reason", "baseline"),
    *("model", "fingerprint", "finish_reason"),
)


def writer_of(path: Path) -> Callable[[Path, Sequence[str], Iterator[WrittenRow]], None]:
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


async def write_rows(rows: AsyncIterator[WrittenRow], path: Path) -> int:
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


def _rows(kept: IO[str]) -> Iterator[WrittenRow]:
    for line in kept:
        yield json.loads(line)


def _csv(path: Path, names: Sequence[str], rows: Iterator[WrittenRow]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in rows:
            cells = [row.get(name) for name in names]
            # Python writes a number so that reading it gives the same one.
            writer.writerow(["" if cell is None else cell for cell in cells])


def _json_lines(path: Path, names: Sequence[str], rows: Iterator[WrittenRow]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            kept = {name: row[name] for name in names if row.get(name) is not None}
            file.write(json.dumps(kept, ensure_ascii=False) + "\n")


def _parquet(path: Path, names: Sequence[str], rows: Iterator[WrittenRow]) -> None:
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema(
        [(name, pyarrow.string() if is_text_column(name) else pyarrow.float64()) for name in names]
    )
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while some := list(islice(rows, BATCH_ROWS)):
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
