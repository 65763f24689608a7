"""The verbs of the archive: answers of runs that are over into Parquet, and back."""

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

from biaswatch.cli.admin.audit import operator_act, write_acts
from biaswatch.cli.options import Json, moment_of
from biaswatch.shared.contracts import AuditAction, Response
from biaswatch.shared.contracts.audit import AuditedAct
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
        typer.Option(help="A file that says how long each tenant's things are kept, for --before."),
    ] = None,
    tenant: Annotated[list[str] | None, typer.Option(help="Only of this tenant.")] = None,
    as_json: Json = False,
) -> None:
    """Move answers of closed runs from the store into Parquet: a folder, or S3."""
    if to is None or (before is None) == (retention is None) or (retention and tenant):
        raise UsageError(
            "Write `biaswatch admin archive move --before DATE --to URI`, or --retention FILE in"
            " place of --before; --tenant goes with --before alone."
        )
    from biaswatch.archiving.retention import due_by_retention, retention_of
    from biaswatch.shared.parquet.folder import ParquetFolder

    policy = retention_of(retention) if retention else None
    moment = _past(before) if before else None
    settings, folder = load_settings(Settings), ParquetFolder(to)
    with Store.open(settings.store, statement_s=None) as store:
        runs = (
            due_by_retention(store, policy, _now())
            if policy
            else store.archived_runs.due(moment or _now(), tenant)
        )
        about = {"runs": str(len(runs)), "before": before or "", "retention": str(retention or "")}
        if runs:
            act = operator_act(AuditAction.ANSWERS_ARCHIVE, folder.uri, tenant=_only(runs), **about)
            _write_acts(settings, store, [act])
        moved = _move(store, folder, runs)
        kept = _keep_to(settings, store, policy) if policy else {}
        purged = purge_archive(store)
    told = {
        "runs": len(moved),
        "answers": sum(each.answers for each in moved),
        "measurements": sum(each.measurements for each in moved),
        "texts_purged_in_archive": purged,
        **kept,
    }
    typer.echo(json.dumps(told, indent=2) if as_json else _sentence(told, folder.uri))


@app.command("list")
def list_runs(as_json: Json = False) -> None:
    """List what is archived, or on its way, and where."""
    with Store.open(load_settings(Settings).store, statement_s=None) as store:
        found, live = store.archived_runs.all(), store.archive_files.in_insertion_order()
    if as_json:
        typer.echo(json.dumps([{**vars(each), "at": each.at.isoformat()} for each in found]))
        return
    for each in found:
        typer.echo(
            f"{each.run_id}  {each.at:%Y-%m-%d}  {each.state:<9}  {each.answers:>9,} answers"
            f"  {each.tenant}  {each.source}  {each.uri}"
        )
    if not found:
        typer.echo("Nothing is archived.")
    for uri in sorted({str(each.uri) for each in live}):
        rows = sum(each.rows for each in live if each.uri == uri and each.kind == Response.kind)
        typer.echo(f"{rows:,} answers of live systems lie as they came in {uri}.")


@app.command()
def restore(run: RunArgument) -> None:
    """Write the answers of runs into the store again, and remove their files."""
    from biaswatch.archiving.restoring import archived_run, restore_run
    from biaswatch.shared.parquet.folder import ParquetFolder

    settings = load_settings(Settings)
    with Store.open(settings.store, statement_s=None) as store:
        found = [archived_run(store, run_id) for run_id in run]
        acts = [
            operator_act(AuditAction.ANSWERS_RESTORE, each.run_id, tenant=each.tenant)
            for each in found
        ]
        _write_acts(settings, store, acts)
        for each in found:
            with _bars((f"restoring {each.source}", None)) as (told,):
                restore_run(store, ParquetFolder(each.uri), each, _now, told)
            typer.echo(f"The {each.answers:,} answers of the run {each.run_id} are back.")


@app.command()
def verify() -> None:
    """Read every file of the archive, and say whether it holds what was written."""
    from biaswatch.archiving.restoring import check_file, check_files
    from biaswatch.shared.parquet.folder import ParquetFolder
    from biaswatch.shared.store.archived_runs import ArchiveState

    with Store.open(load_settings(Settings).store, statement_s=None) as store:
        runs = [each for each in store.archived_runs.all() if each.state is ArchiveState.ARCHIVED]
        live, files = store.archive_files.in_insertion_order(), 0
        with _bars(("verifying", len(runs) + len(live))) as (told,):
            for each in runs:
                files += check_files(store, ParquetFolder(each.uri), each.run_id)
                told(1)
            for file in live:
                check_file(ParquetFolder(str(file.uri)), file)
                told(1)
    typer.echo(f"{files} files of {len(runs)} runs hold what was written to them.")
    if live:
        typer.echo(f"So do {len(live)} files of answers of live systems as they came.")


def purge_archive(store: Store) -> int:
    """Remove from the archive what was purged since; return how many texts."""
    if not store.archive_files.any():
        return 0
    from biaswatch.archiving.purging import ArchivePurge

    purge = ArchivePurge(store, _now)
    purge.sweep()
    files, gone = purge.files(), 0
    with _bars(("purging the archive", len(files))) as (told,):
        for file in files:
            gone += purge.apply(file)
            told(1)
    return gone


def _move(store: Store, folder: Any, runs: "Sequence[ArchivableRun]") -> "list[ArchivedRun]":
    from biaswatch.archiving.moving import move_run

    moved = []
    with _bars(("archiving runs", len(runs)), ("records", None)) as (run_told, record_told):
        for run in runs:
            moved.append(move_run(store, folder, run, _now, record_told))
            run_told(1)
    return moved


def _keep_to(settings: Settings, store: Store, policy: "Retention") -> dict[str, int]:
    """Purge texts and remove files that are older than a retention says."""
    from biaswatch.archiving.retention import expired, texts_due
    from biaswatch.shared.parquet.folder import ParquetFolder
    from biaswatch.shared.store.archived_runs import ArchiveState
    from biaswatch.shared.store.database import Scope

    due, gone, now = texts_due(store, policy, _now()), expired(store, policy, _now()), _now()
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
        texts += store.scoped(partial(Scope, tenant)).purges.before(moment, now)
    for run, files in gone:
        store.archived_runs.note(run.run_id, ArchiveState.EXPIRED, now)
        folder = ParquetFolder(run.uri)
        for file in files:
            store.archive_files.replace(file, None)
            folder.remove(file.path)
            store.archive_files.forget(file)
    return {"texts_purged_in_store": texts, "runs_expired": len(gone)}


def _sentence(told: dict[str, int], uri: str) -> str:
    if not told["runs"]:
        said = "No run is due: nothing new is archived."
    else:
        said = (
            f"Archived {told['answers']:,} answers and {told['measurements']:,} measurements of"
            f" {told['runs']} runs to {uri}. `biaswatch admin archive restore RUN` brings one back."
        )
    if texts := told["texts_purged_in_archive"] + told.get("texts_purged_in_store", 0):
        said += f" Purged {texts:,} texts."
    if gone := told.get("runs_expired", 0):
        said += f" Removed the files of {gone} runs, as the retention says."
    return said


def _past(written: str) -> datetime:
    moment = moment_of(written)
    if moment > _now():
        raise UsageError(f"--before {written} is not over yet: name a date of the past.")
    return moment


def _only(runs: "Sequence[ArchivableRun]") -> str | None:
    """Return the tenant of runs of one tenant, for whoever reads its audit trail."""
    tenants = {each.tenant for each in runs}
    return tenants.pop() if len(tenants) == 1 else None


def _write_acts(settings: Settings, store: Store, acts: Sequence[AuditedAct]) -> None:
    asyncio.run(write_acts(settings, store, None, acts))


@contextmanager
def _bars(*named: tuple[str, int | None]) -> Iterator[list[Callable[[int], None]]]:
    """Show how far some things are; yield what tells each of more."""
    console = Console(stderr=True)
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    bars = Progress(*columns, console=console, transient=True, disable=not console.is_terminal)
    with bars:
        tasks = [bars.add_task(what, total=total) for what, total in named]
        yield [partial(bars.advance, task) for task in tasks]


def _now() -> datetime:
    return datetime.now(UTC)
