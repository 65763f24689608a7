"""`biaswatch ingest`: sends recorded production answers in, and has the past of a system read."""

import asyncio
import json
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.progress import Progress

from biaswatch.cli.options import FormatOption, MapOption, Server, Token
from biaswatch.importing.log_files import LogFile, left_out_in_words, log_file
from biaswatch.importing.rows import RepeatedIds
from biaswatch.importing.sending import SendingCursor
from biaswatch.local.client import GatewayClient
from biaswatch.local.connections import connected
from biaswatch.render.monitors import print_monitor
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.requests.monitor_views import MonitorView
from biaswatch.shared.requests.traffic import HistoryView
from biaswatch.shared.runtime.settings import Settings, load_settings

AT_ONCE = 500
AT_ONCE_BYTES = 32 * 1024 * 1024
"""Half of what the gateway takes in one request."""
LOOK_S = 1.0
History = Annotated[
    bool,
    typer.Option(
        "--history",
        help="They were recorded before anybody watched: read their windows in their order.",
    ),
]


def ingest(
    source: Annotated[str, typer.Argument(help="The live system: `support` for traffic:support.")],
    file: Annotated[Path, typer.Argument(help="Recorded answers; CSV and Parquet by the ending.")],
    format_: FormatOption = None,
    mapping: MapOption = None,
    history: History = False,
    server: Server = None,
    token: Token = None,
) -> None:
    """Send recorded production answers in; sent again, each still counts once."""
    recorded = log_file(file, format_, mapping, source)
    left_out: Counter[str] = Counter()
    # Every answer is checked before the first is sent.
    ids = RepeatedIds()
    count = 0
    for answer in answers_in(recorded, left_out):
        ids.is_new(answer)
        count += 1
    for sentence in left_out_in_words(left_out):
        typer.echo(sentence, err=True)
    if ids.differing:
        typer.echo(
            f"{ids.differing} answers repeat the id of another with another text, group or unit. Of"
            " these, the first in a window counts: give each answer an id of its own.",
            err=True,
        )
    if not count:
        raise UsageError(f"{file} holds no answer.")
    state_dir = load_settings(Settings).state_dir
    cursor = SendingCursor.of(state_dir, file, source, server, history=history)
    if cursor.sent:
        typer.echo(f"{cursor.sent:,} of its answers were sent before; going on there.", err=True)
    try:
        if history:
            asyncio.run(_judge_past(source, recorded, count, cursor, server, token))
        else:
            asyncio.run(_send(source, recorded, count, cursor, server, token))
            typer.echo(f"{count} answers of {source} are taken in.")
            typer.echo(late_in_words(source, file, cursor.late), nl=bool(cursor.late))
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command goes on here; each answer counts once.", err=True)
        raise typer.Exit(TransientError.exit_code) from None
    cursor.forget()


def late_in_words(source: str, file: Path, late: Counter[str]) -> str:
    """Say how many answers are in no evidence because they came too late, and what to do."""
    return "\n".join(
        f"{count} of them are late for the monitor {monitor}: their windows have been read, or lie"
        " before the first that it watches. They are kept, and are in no evidence. To have the"
        f" past read: biaswatch ingest {source} {file} --history"
        for monitor, count in sorted(late.items())
    )


async def _send(
    source: str,
    file: LogFile,
    count: int,
    cursor: SendingCursor,
    server: str | None,
    token: str | None,
) -> None:
    async with connected(server, token) as client:
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
    """Send a file in from the cursor on, batch by batch; a gateway that is full is waited for."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("sending", total=count, completed=cursor.sent)
        for batch in _batches(islice(answers_in(file), cursor.sent, None)):
            accepted = await client.ingest(source, batch, history=history)
            cursor.advance(len(batch), Counter(accepted.late))
            progress.advance(task, len(batch))


async def _judge_past(
    source: str,
    file: LogFile,
    count: int,
    cursor: SendingCursor,
    server: str | None,
    token: str | None,
) -> None:
    async with connected(server, token) as client:
        begun = await client.begin_history(source)
        before = {each.monitor: each for each in begun}
        await _send_with(client, source, file, count, cursor, history=True)
        await client.read_history(source)
        typer.echo(f"{count} answers of the past of {source} are taken in.", err=True)
        found = await _read(client, source)
        for each in found:
            typer.echo(past_in_words(each, before[each.monitor]))
            print_monitor(await _shown(client, each))


async def _shown(client: GatewayClient, past: HistoryView) -> MonitorView:
    return await client.monitor(past.monitor)


async def _read(client: GatewayClient, source: str) -> list[HistoryView]:
    """Return what became of the past once all of it is read."""
    with Progress(console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("reading windows", total=None)
        while True:
            found = await client.history(source)
            sent = sum(each.sent for each in found)
            waiting = sum(each.accounts.waiting for each in found)
            progress.update(task, total=sent, completed=sent - waiting)
            if all(each.read for each in found):
                return found
            await asyncio.sleep(LOOK_S)


def past_in_words(now: HistoryView, before: HistoryView) -> str:
    """Say what became of the answers of the past, and why some are late."""
    said = f"The past of {now.of}, read by {now.monitor}: {now.accounts.in_words}."
    if late := now.accounts.late - before.accounts.late:
        said += (
            f" {late} are late: their windows are watched live (from {now.before:%Y-%m-%d %H:%M}"
            " UTC on), were read before, or lie before windows that were."
        )
    return said


def _batches(answers: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Yield answers in batches that the gateway takes: by their number and their size."""
    batch: list[dict[str, Any]] = []
    size = 0
    for answer in answers:
        more = len(json.dumps(answer, ensure_ascii=False, default=str).encode())
        if batch and (len(batch) == AT_ONCE or size + more > AT_ONCE_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(answer)
        size += more
    if batch:
        yield batch


def answers_in(file: LogFile, left_out: Counter[str] | None = None) -> Iterator[dict[str, Any]]:
    """Read recorded answers, each an object that says when it was given."""
    for where, answer in file.answers(left_out):
        if not answer.get("at"):
            # Without it, the second sending of a file would count in another window.
            raise UsageError(f"{where}: an answer is an object that says `at` when.")
        if answer.get("id") is None:
            raise UsageError(f"{where}: nothing names this answer. Map a field to `id`.")
        yield to_jsonable_python(answer, inf_nan_mode="null")
