"""Answers of runs as flat rows, one for each answer, and the files for them."""

import csv
import json
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlencode

from biaswatch.local.client import GatewayClient
from biaswatch.local.gateway_requests import path
from biaswatch.local.runs import Watch, ended, ended_run, whole_run_id
from biaswatch.shared.contracts import TRAFFIC, Suite, is_id
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.lookup import grouped
from biaswatch.shared.requests.exports import (
    AnswersPage,
    ExportedAnswer,
    ExportedFeatures,
    FeaturesPage,
    MonitorRun,
)
from biaswatch.shared.requests.runs import RunRequest
from biaswatch.written_files import atomic_file, check_ending

PAGE_ROWS = 500
"""Answers of one request."""
BATCH_ROWS = 2000
"""Rows of one Parquet row group."""
MAX_NAMED_RUNS = 3
"""Archived runs that one sentence names."""
IDENTITY = ("run_id", "key", "at", "target", "scaffold", "repeat", "unit", "set")
REPLY = ("text", "reasoning", "reason", "baseline", "model", "fingerprint", "finish_reason")
STRUCTURED = ("messages", "said", "tool_steps")
"""Columns of JSON; a run without such texts has none of the last two."""
FIRST_COLUMNS, LAST_COLUMNS = ("id", *IDENTITY), (*STRUCTURED, *REPLY)
_TEXT_COLUMNS = {*FIRST_COLUMNS, *LAST_COLUMNS}
Row = dict[str, Any]
Write = Callable[[Path, Sequence[str], Iterator[Row]], None]


async def runs_named(client: GatewayClient, name: str, since: datetime | None) -> list[MonitorRun]:
    """Return the run with an id, or its beginning, or the runs of a monitor or a live system.

    Names of monitors and live systems come before beginnings of ids.

    Raises
    ------
    UsageError
        The name is unknown.
    """
    if is_id(name):
        if since is not None:
            raise UsageError("--since is for monitors and live systems: a run is exported whole.")
        return [MonitorRun(run_id=name, at=(await client.progress(name)).at)]
    monitors = await client.monitors()
    of_source = [row.name for row in monitors if row.target == f"{TRAFFIC}:{name}"]
    monitor = name if name in {row.name for row in monitors} else next(iter(of_source), None)
    if monitor is None:
        return await runs_named(client, await _run_id(client, name), since)
    query = f"?{urlencode({'since': since.isoformat()})}" if since else ""
    return await client.read(list[MonitorRun], path("monitors", monitor, "runs") + query)


async def _run_id(client: GatewayClient, name: str) -> str:
    try:
        return await whole_run_id(client, name)
    except NotFoundError:
        raise UsageError(
            f"{name} is not the id or the name of a run, a monitor, or a live system that a monitor"
            " watches. `biaswatch runs` and `biaswatch monitor list` list the known ones."
        ) from None


def in_store(runs: Sequence[MonitorRun]) -> tuple[list[MonitorRun], str | None]:
    """Return the runs that can be exported, and a sentence about archived ones.

    Raises
    ------
    UsageError
        All runs are archived.
    """
    stored = [run for run in runs if run.archived is None]
    archived = [run for run in runs if run.archived is not None]
    if not archived:
        return stored, None
    if len(archived) == 1:
        sentence = f"The run {archived[0].run_id} is left out. {archived[0].archived}"
    else:
        ids = " ".join(run.run_id for run in archived[:MAX_NAMED_RUNS])
        left = len(archived) - MAX_NAMED_RUNS
        sentence = (
            f"{len(archived):,} runs are left out, whose answers are archived, from"
            f" {archived[0].at:%Y-%m-%d %H:%M} to {archived[-1].at:%Y-%m-%d %H:%M} UTC:"
            f" {ids}{f', and {left:,} more' if left > 0 else ''}. `biaswatch admin archive"
            " list` shows where they are, and `biaswatch admin archive restore RUN...` restores"
            " those that are not removed; then export again."
        )
    if not stored:
        raise UsageError(f"There is nothing to export. {sentence}")
    return stored, sentence


async def exported_rows(client: GatewayClient, runs: Sequence[MonitorRun]) -> AsyncIterator[Row]:
    """Yield a row for each answer of the runs."""
    for run in runs:
        async for answers, measured in answer_pages(client, run.run_id):
            for row in rows_of_page(answers, measured):
                yield row


async def answer_pages(
    client: GatewayClient, run_id: str
) -> AsyncIterator[tuple[list[ExportedAnswer], list[ExportedFeatures]]]:
    """Yield the answers of a run and their measurements, page by page."""
    after: str | None = ""
    while after is not None:
        query = urlencode({"after": after, "limit": PAGE_ROWS})
        page = await client.read(AnswersPage, f"{path('runs', run_id, 'responses')}?{query}")
        measured = await client.read(FeaturesPage, f"{path('runs', run_id, 'features')}?{query}")
        yield page.answers, measured.features
        after = page.after


async def answered(
    client: GatewayClient, suite: Suite, request: RunRequest, watch: Watch = ended
) -> tuple[str, list[Row]]:
    """Ask a suite, and return the id of the ended run and a row for each answer."""
    run_id = await ended_run(client, suite, request, watch)
    runs = await runs_named(client, run_id, None)
    return run_id, [row async for row in exported_rows(client, runs)]


def rows_of_page(
    answers: Iterable[ExportedAnswer], measured: Iterable[ExportedFeatures]
) -> list[Row]:
    """Return the rows of a page: identity, question, reply, and every number."""
    by_answer = grouped((features.response_id, features) for features in measured)
    return [_row(answer, by_answer.get(answer.response_id, [])) for answer in answers]


def _row(answer: ExportedAnswer, measured: Iterable[ExportedFeatures]) -> Row:
    is_traffic = answer.target.startswith(f"{TRAFFIC}:")
    row: Row = {"id": answer.key if is_traffic else answer.response_id}
    row |= {name: getattr(answer, name) for name in IDENTITY}
    row["at"] = answer.at.isoformat() if answer.at else None
    row |= {f"groups.{name}": group for name, group in sorted(answer.groups.items())}
    row |= {f"stimuli.{name}": value for name, value in sorted(answer.stimuli.items())}
    row |= {f"facts.{name}": fact for name, fact in sorted(answer.facts.items())}
    messages = [m.model_dump(mode="json", exclude_defaults=True) for m in answer.messages]
    row["messages"] = json.dumps(messages, ensure_ascii=False) if messages else None
    row |= {
        name: json.dumps(value, ensure_ascii=False)
        for name, value in answer.model_dump(mode="json", include={"said", "tool_steps"}).items()
        if value
    }
    row |= {name: getattr(answer, name) for name in REPLY}
    for features in measured:
        prefix = features.extractor
        row[f"{prefix}.version"] = features.version
        row[f"{prefix}.missing"] = features.missing
        row |= {f"{prefix}.{name}": value for name, value in features.values.items()}
        row |= {f"{prefix}.{name}.baseline": v for name, v in features.baseline.items()}
    return row


def writer_of(path: Path) -> Write:
    """Return the function that writes a file with such an ending.

    Raises
    ------
    UsageError
        The ending is unknown.
    """
    writers: dict[str, Write] = {".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet}
    check_ending(path, writers)
    return writers[path.suffix.lower()]


async def write_rows(rows: AsyncIterator[Row], path: Path) -> int:
    """Write rows to a file and return their number; memory does not grow with it.

    The columns are known only after the last row, so rows wait in a temporary file.

    Raises
    ------
    UsageError
        The file cannot be written, or its ending is unknown.
    """
    write = writer_of(path)
    names: dict[str, None] = {}
    count = 0
    with tempfile.TemporaryFile("w+", encoding="utf-8") as waiting:
        async for row in rows:
            names |= dict.fromkeys(row)
            waiting.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
        waiting.seek(0)
        with atomic_file(path) as part:
            write(part, ordered(names), _loaded(waiting))
    return count


def ordered(names: Iterable[str]) -> list[str]:
    """Return columns in reading order: identity, groups, stimuli, facts, texts, measurements."""
    names = set(names)
    groups = sorted(name for name in names if name.startswith("groups."))
    facts = sorted(name for name in names if name.startswith("facts."))
    stimuli = sorted(name for name in names if name.startswith("stimuli."))
    known = [*FIRST_COLUMNS, *groups, *stimuli, *facts, *LAST_COLUMNS]
    return [*(name for name in known if name in names), *sorted(names - set(known))]


def is_text_column(name: str) -> bool:
    """Return whether a column holds texts; the others hold numbers."""
    is_name = name in _TEXT_COLUMNS or name.startswith(("groups.", "stimuli.", "facts."))
    return is_name or name.endswith((".version", ".missing"))


def _loaded(lines: IO[str]) -> Iterator[Row]:
    for line in lines:
        yield json.loads(line)


def _csv(path: Path, names: Sequence[str], rows: Iterator[Row]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        for row in rows:
            cells = [row.get(name) for name in names]
            writer.writerow(["" if cell is None else cell for cell in cells])


def _json_lines(path: Path, names: Sequence[str], rows: Iterator[Row]) -> None:
    with path.open("w", encoding="utf-8") as file:
        for row in rows:
            known = {name: row[name] for name in names if row.get(name) is not None}
            file.write(json.dumps(known, ensure_ascii=False) + "\n")


def _parquet(path: Path, names: Sequence[str], rows: Iterator[Row]) -> None:
    import pyarrow
    import pyarrow.parquet

    kinds: Mapping[str, type] = {name: str if is_text_column(name) else float for name in names}
    arrow = {str: pyarrow.string(), float: pyarrow.float64()}
    schema = pyarrow.schema([(name, arrow[kind]) for name, kind in kinds.items()])
    with pyarrow.parquet.ParquetWriter(path, schema, compression="zstd") as writer:
        while batch := list(islice(rows, BATCH_ROWS)):
            columns = {
                name: [None if (v := row.get(name)) is None else kind(v) for row in batch]
                for name, kind in kinds.items()
            }
            writer.write_table(pyarrow.table(columns, schema=schema))
