"""The verb `ingest`: sends recorded production answers, also those from before a monitor."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console
from rich.progress import Progress

from biaswatch.cli.options import gateway
from biaswatch.importing.log_files import LogFile, log_file, suggested_map_of
from biaswatch.importing.rows import RepeatedIds
from biaswatch.importing.sending import SendingCursor
from biaswatch.importing.sent_answers import answers_in
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import running_platform
from biaswatch.render.monitors import print_monitor
from biaswatch.shared.conventions.left_out import LeftOut
from biaswatch.shared.conventions.rows import LogFormat
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.formatting import number
from biaswatch.shared.requests.monitor_views import MonitorView
from biaswatch.shared.requests.traffic import HistoryView
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.written_files import write_atomically

MAX_BATCH_ANSWERS = 500
MAX_BATCH_BYTES = 32 * 1024 * 1024
"""Half of the gateway's limit for one request."""
POLL_S = 1.0
COUNTED_LATER = "No platform runs on this machine: they are counted while `biaswatch up` runs."
History = Annotated[
    bool,
    typer.Option(
        "--history",
        help="They were recorded before the monitor: read their windows in their order.",
    ),
]


def ingest(
    source: Annotated[
        str, typer.Argument(help="The live system: `support` for traffic:support.")
    ] = "",
    file: Annotated[
        Path | None,
        typer.Argument(help="Recorded answers; CSV, Parquet, .eval and .gz by the ending."),
    ] = None,
    format_: Annotated[
        LogFormat | None,
        typer.Option("--format", help="The file's format; by default that of its first row."),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option("--map", help="A YAML file that names its fields (docs/importing.md)."),
    ] = None,
    history: History = False,
    suggest_map: Annotated[
        Path | None,
        typer.Option("--suggest-map", help="Write a map for this file, say what was guessed; end."),
    ] = None,
) -> None:
    """Send recorded production answers; an answer sent twice counts once."""
    if suggest_map is not None:
        _write_map(suggest_map, format_)
        return
    if not source or file is None:
        raise UsageError("Name the live system and the file: biaswatch ingest support log.jsonl.")
    recorded = log_file(file, format_, mapping, source)
    count = _checked_count(recorded)
    state_dir = load_settings(Settings).state_dir
    cursor = SendingCursor.of(state_dir, file, source, gateway().server, history=history)
    if cursor.sent:
        typer.echo(f"{cursor.sent:,} of its answers were sent before; going on there.", err=True)
    try:
        if history:
            asyncio.run(_send_history(source, recorded, count, cursor))
        else:
            asyncio.run(_send(source, recorded, count, cursor))
            typer.echo(f"Accepted answers of {source}: {count:,}.")
            if gateway().server is None and running_platform() is None:
                typer.echo(COUNTED_LATER, err=True)
            typer.echo(late_in_words(source, file, cursor.late), nl=bool(cursor.late))
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command goes on here; each answer counts once.", err=True)
        raise typer.Exit(TransientError.exit_code) from None
    except TransientError as error:
        raise TransientError(
            f"{error} {cursor.sent:,} of {count:,} answers were sent. The same command goes on"
            " there; each answer counts once."
        ) from None
    cursor.forget()


def _checked_count(recorded: LogFile) -> int:
    """Check every answer before the first is sent; return their number."""
    left_out = LeftOut()
    ids = RepeatedIds()
    count = 0
    for answer in answers_in(recorded, left_out):
        ids.is_new(answer)
        count += 1
    for sentence in left_out.sentences():
        typer.echo(sentence, err=True)
    if ids.differing:
        typer.echo(
            f"{ids.differing} answers have the id of another answer but a different text, group or"
            " unit. Only the first in a window counts: give each answer a unique id.",
            err=True,
        )
    if not count:
        raise UsageError(f"{recorded.path} holds no answer.")
    return count


def _write_map(log: Path, format_: LogFormat | None) -> None:
    """Write the suggested map of a log to the current folder; an existing file is kept."""
    suggested = suggested_map_of(log, format_)
    path = Path(f"{log.name.split('.')[0]}-map.yaml")
    if path.exists():
        raise UsageError(f"{path} exists. Move it, and give the command again.")
    write_atomically(path, yaml.safe_dump(suggested.fields, sort_keys=False, allow_unicode=True))
    typer.echo("\n".join(suggested.remarks))
    typer.echo(f"Wrote {path}. Check it, then: biaswatch diagnose {log} --extract ... --map {path}")


def late_in_words(source: str, file: Path, late: Counter[str]) -> str:
    """Return a sentence about answers that are late or were sent before, and what to do."""
    return "\n".join(
        f"{count} of them are late for the monitor {monitor}, or were sent before: their windows"
        " have been read, or lie before the first that it watches. `biaswatch monitor show"
        f" {monitor} --windows 5` counts both. Late ones are kept, and are in no evidence. To have"
        f" the past read, add --history (and your --map): biaswatch ingest {source} {file}"
        " --history"
        for monitor, count in sorted(late.items())
    )


async def _send(source: str, file: LogFile, count: int, cursor: SendingCursor) -> None:
    async with gateway().connect() as client:
        await _send_with(client, source, file, count, cursor, history=False)


async def _send_with(
    client: GatewayClient,
    source: str,
    file: LogFile,
    count: int,
    cursor: SendingCursor,
    *,
    history: bool,
) -> None:
    """Send a file from the cursor on, batch by batch; wait for a gateway that is full."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("sending", total=count, completed=cursor.sent)
        for batch in _batches(islice(answers_in(file), cursor.sent, None)):
            accepted = await client.ingest(source, batch, history=history)
            cursor.advance(len(batch), Counter(accepted.late))
            progress.advance(task, len(batch))


async def _send_history(source: str, file: LogFile, count: int, cursor: SendingCursor) -> None:
    async with gateway().connect() as client:
        before = {history.monitor: history for history in await client.begin_history(source)}
        await _send_with(client, source, file, count, cursor, history=True)
        await client.read_history(source)
        typer.echo(f"Accepted answers of the past of {source}: {count:,}.", err=True)
        for history in await _read(client, source):
            typer.echo(past_in_words(history, before[history.monitor]))
            view = await client.monitor(history.monitor)
            print_monitor(view)
            typer.echo(other_conclusions_in_words(file.path, view))


def other_conclusions_in_words(file: Path, view: MonitorView) -> str:
    """Return why `diagnose` of the same file may conclude otherwise."""
    tolerances = dict.fromkeys(f"{row.number} {number(row.tolerance)}" for row in view.evidence)
    return (
        f"`diagnose {file} --extract` may conclude otherwise: it is one test, where the evidence of"
        " a monitor holds at every look, which takes more users; it averages all answers of a user,"
        " where a monitor counts a user once, by the first answers, and in no group if several"
        " are named; its tolerance is 0 unless declared"
        f" (here: {', '.join(tolerances) or 'none'}); and it corrects over its own comparisons"
        f" (here: {len(view.evidence)})."
    )


async def _read(client: GatewayClient, source: str) -> list[HistoryView]:
    """Wait until all of the past is read; return its accounts."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading windows", total=None)
        while True:
            histories = await client.history(source)
            sent = sum(history.sent for history in histories)
            waiting = sum(history.accounts.waiting for history in histories)
            progress.update(task, total=sent, completed=sent - waiting)
            if all(history.read for history in histories):
                return histories
            await asyncio.sleep(POLL_S)


def past_in_words(now: HistoryView, before: HistoryView) -> str:
    """Return a sentence about the answers of the past, and why some are late."""
    sentence = f"The past of {now.of}, read by {now.monitor}: {now.accounts.in_words}."
    if late := now.accounts.late - before.accounts.late:
        sentence += (
            f" {late} are late: their windows are watched live (from {now.before:%Y-%m-%d %H:%M}"
            " UTC on), were read before, or lie before windows that were."
        )
    return sentence


def _batches(answers: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield answers in batches within the gateway's limits of number and size."""
    batch: list[dict[str, Any]] = []
    size = 0
    for answer in answers:
        more = len(json.dumps(answer, ensure_ascii=False, default=str).encode())
        if batch and (len(batch) == MAX_BATCH_ANSWERS or size + more > MAX_BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(answer)
        size += more
    if batch:
        yield batch
