"""The verbs of the archive: move answers of closed runs to Parquet, and restore them."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from biaswatch.cli.admin.audit import operator_act, write_acts
from biaswatch.cli.options import Json, moment_of
from biaswatch.shared.clock import now
from biaswatch.shared.contracts import AuditAction, AuditedAct, Response
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.store import Store

if TYPE_CHECKING:
    from biaswatch.archiving.retention import Retention
    from biaswatch.shared.store.archived_runs import ArchivableRun, ArchivedRun


app = typer.Typer(
    name="archive",
    help="Answers of closed runs in Parquet, in a folder or S3: move, list, restore, verify.",
    no_args_is_help=True,
)
RunArgument = Annotated[list[str], typer.Argument(metavar="RUN...", help="Ids of archived runs.")]


@app.command("move")
def move(
    before: Annotated[
        str | None, typer.Option(help="Runs and windows that closed before this date (UTC).")
    ] = None,
    to: Annotated[
        str | None, typer.Option(metavar="URI", help="A folder, or s3://bucket/path.")
    ] = None,
    retention: Annotated[
        Path | None,
        typer.Option(help="A file of retention periods by tenant, instead of --before."),
    ] = None,
    tenant: Annotated[list[str] | None, typer.Option(help="Only this tenant.")] = None,
    as_json: Json = False,
) -> None:
    """Move answers of closed runs from the store into Parquet: a folder, or S3."""
    if to is None or (before is None) == (retention is None) or (retention and tenant):
        raise UsageError(
            "Write `biaswatch admin archive move --before DATE --to URI`, or --retention FILE"
            " instead of --before; --tenant requires --before."
        )
    from biaswatch.archiving.retention import due_by_retention, retention_of
    from biaswatch.shared.parquet.folder import ParquetFolder

    policy = retention_of(retention) if retention else None
    moment = _past_moment(before) if before else None
    settings, folder = load_settings(Settings), ParquetFolder(to)
    with Store.open(settings.store, statement_s=None) as store:
        runs = (
            due_by_retention(store, policy, now())
            if policy
            else store.archived_runs.due(moment or now(), tenant)
        )
        about = {"runs": str(len(runs)), "before": before or "", "retention": str(retention or "")}
        if runs:
            act = operator_act(
                AuditAction.ANSWERS_ARCHIVE, folder.uri, tenant=_common_tenant(runs), **about
            )
            _write_acts(settings, store, [act])
        moved = _move(store, folder, runs)
        kept = _apply_retention(settings, store, policy) if policy else {}
        purged = purge_archive(store)
    counts = {
        "runs": len(moved),
        "answers": sum(run.answers for run in moved),
        "measurements": sum(run.measurements for run in moved),
        "texts_purged_in_archive": purged,
        **kept,
    }
    typer.echo(json.dumps(counts, indent=2) if as_json else _sentence(counts, folder.uri))


@app.command("list")
def list_runs(as_json: Json = False) -> None:
    """List archived runs with their state and folder."""
    with Store.open(load_settings(Settings).store, statement_s=None) as store:
        runs, files = store.archived_runs.all(), store.archive_files.in_insertion_order()
    if as_json:
        typer.echo(json.dumps([{**vars(run), "at": run.at.isoformat()} for run in runs]))
        return
    for run in runs:
        typer.echo(
            f"{run.run_id}  {run.at:%Y-%m-%d}  {run.state:<9}  {run.answers:>9,} answers"
            f"  {run.tenant}  {run.source}  {run.uri}"
        )
    if not runs and not files:
        typer.echo("The archive is empty.")
    for uri in sorted({str(file.uri) for file in files}):
        rows = sum(file.rows for file in files if file.uri == uri and file.kind == Response.kind)
        typer.echo(f"{uri} has {rows:,} answers of live systems, written at intake.")


@app.command()
def restore(run: RunArgument) -> None:
    """Restore the answers of runs to the store, and remove their files."""
    from biaswatch.archiving.moving import archived_run, restore_run
    from biaswatch.shared.parquet.folder import ParquetFolder

    settings = load_settings(Settings)
    with Store.open(settings.store, statement_s=None) as store:
        archived = [archived_run(store, run_id) for run_id in run]
        acts = [
            operator_act(AuditAction.ANSWERS_RESTORE, one.run_id, tenant=one.tenant)
            for one in archived
        ]
        _write_acts(settings, store, acts)
        for one in archived:
            with _bars((f"restoring {one.source}", None)) as (advance,):
                restore_run(store, ParquetFolder(one.uri), one, now, advance)
            typer.echo(f"Restored the {one.answers:,} answers of the run {one.run_id}.")


@app.command()
def verify() -> None:
    """Verify that every file of the archive is unchanged."""
    from biaswatch.archiving.moving import check_file, check_files
    from biaswatch.shared.parquet.folder import ParquetFolder
    from biaswatch.shared.store.archived_runs import ArchiveState

    with Store.open(load_settings(Settings).store, statement_s=None) as store:
        runs = [run for run in store.archived_runs.all() if run.state is ArchiveState.ARCHIVED]
        live, files = store.archive_files.in_insertion_order(), 0
        with _bars(("verifying", len(runs) + len(live))) as (advance,):
            for run in runs:
                files += check_files(store, ParquetFolder(run.uri), run.run_id)
                advance(1)
            for file in live:
                check_file(ParquetFolder(str(file.uri)), file)
                advance(1)
    typer.echo(f"{files} files of {len(runs)} runs are unchanged.")
    if live:
        typer.echo(f"So are {len(live)} files of answers of live systems.")


def purge_archive(store: Store) -> int:
    """Remove purged texts from the archive; return their number."""
    if not store.archive_files.any():
        return 0
    from biaswatch.archiving.purging import ArchivePurge

    purge = ArchivePurge(store, now)
    purge.sweep()
    files, removed = purge.files(), 0
    with _bars(("purging the archive", len(files))) as (advance,):
        for file in files:
            removed += purge.apply(file)
            advance(1)
    return removed


def _move(store: Store, folder: Any, runs: "Sequence[ArchivableRun]") -> "list[ArchivedRun]":
    from biaswatch.archiving.moving import move_run

    moved = []
    with _bars(("archiving runs", len(runs)), ("records", None)) as (run_done, record_done):
        for run in runs:
            moved.append(move_run(store, folder, run, now, record_done))
            run_done(1)
    return moved


def _apply_retention(settings: Settings, store: Store, policy: "Retention") -> dict[str, int]:
    """Purge texts and remove files whose retention period is over."""
    from biaswatch.archiving.retention import expired, texts_due
    from biaswatch.shared.parquet.folder import ParquetFolder
    from biaswatch.shared.store.archived_runs import ArchiveState
    from biaswatch.shared.store.database import Scope

    at = now()
    due, gone = texts_due(store, policy, at), expired(store, policy, at)
    acts = [
        operator_act(AuditAction.TEXTS_PURGE, moment.isoformat(), tenant=tenant, what="before")
        for tenant, moment in due.items()
    ]
    acts += [
        operator_act(AuditAction.ANSWERS_EXPIRE, run.run_id, tenant=run.tenant) for run, _ in gone
    ]
    _write_acts(settings, store, acts)
    texts = 0
    for tenant, moment in due.items():
        texts += store.scoped(partial(Scope, tenant)).purges.before(moment, at)
    for run, files in gone:
        store.archived_runs.note(run.run_id, ArchiveState.EXPIRED, at)
        folder = ParquetFolder(run.uri)
        for file in files:
            store.archive_files.replace(file, None)
            folder.remove(file.path)
            store.archive_files.forget(file)
    return {"texts_purged_in_store": texts, "runs_expired": len(gone)}


def _sentence(counts: dict[str, int], uri: str) -> str:
    if not counts["runs"]:
        sentence = "No run is due, so nothing was archived."
    else:
        sentence = (
            f"Archived {counts['answers']:,} answers and {counts['measurements']:,} measurements of"
            f" {counts['runs']} runs to {uri}. `biaswatch admin archive restore RUN` restores one."
        )
    if texts := counts["texts_purged_in_archive"] + counts.get("texts_purged_in_store", 0):
        sentence += f" Purged {texts:,} texts."
    if gone := counts.get("runs_expired", 0):
        sentence += f" Removed the files of {gone} runs whose retention is over."
    return sentence


def _past_moment(written: str) -> datetime:
    moment = moment_of(written)
    if moment > now():
        raise UsageError(f"--before {written} is in the future: name a past date.")
    return moment


def _common_tenant(runs: "Sequence[ArchivableRun]") -> str | None:
    """Return the tenant if all runs have the same one, for its audit trail."""
    tenants = {run.tenant for run in runs}
    return tenants.pop() if len(tenants) == 1 else None


def _write_acts(settings: Settings, store: Store, acts: Sequence[AuditedAct]) -> None:
    asyncio.run(write_acts(settings, store, None, acts))


@contextmanager
def _bars(*named: tuple[str, int | None]) -> Iterator[list[Callable[[int], None]]]:
    """Show progress bars; yield the function that advances each of them."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bars:
        tasks = [bars.add_task(name, total=total) for name, total in named]
        yield [partial(bars.advance, task) for task in tasks]
