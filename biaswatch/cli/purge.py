"""The verb that forgets: texts of a run, a time or a unit go; the numbers stay."""

import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated

import typer

from biaswatch.cli.options import Json
from biaswatch.local.bus_connection import bus_connection, bus_url
from shared.bus.jetstream import Admin
from shared.bus.purging import PurgedMessages, purge_messages
from shared.contracts import RUN_GATHER, Run
from shared.errors import UsageError
from shared.runtime.settings import Settings, load_settings
from shared.store import Store

Act = Callable[[Store, datetime], int]


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command()(purge)


def purge(
    run: Annotated[str | None, typer.Option(help="The texts of this run.")] = None,
    before: Annotated[
        str | None, typer.Option(help="The texts of all records made before this date (UTC).")
    ] = None,
    unit: Annotated[
        str | None, typer.Option(help="The texts of this unit: a prompt, a user, a conversation.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask again.")] = False,
    as_json: Json = False,
) -> None:
    """Remove texts for good from the store, the streams and the dead letters; numbers remain."""
    act = _act(run, before, unit)
    if not yes:
        typer.confirm("Texts that are purged cannot be brought back. Go on?", abort=True)
    settings = load_settings(Settings)
    with Store.open(settings.store) as store:
        _refuse_running(store, run)
        texts = act(store, datetime.now(UTC))
        with bus_url(settings) as url:
            removed = asyncio.run(_purge_bus(settings, url, store))
    if as_json:
        typer.echo(json.dumps({"texts": texts, **_numbers(removed)}, indent=2))
    else:
        typer.echo(_sentence(texts, removed))


def _act(run: str | None, before: str | None, unit: str | None) -> Act:
    if sum(each is not None for each in (run, before, unit)) != 1:
        raise UsageError("Say what to purge with one of --run, --before and --unit.")
    if run is not None:
        return lambda store, now: store.purges.run(run, now)
    if unit is not None:
        return lambda store, now: store.purges.unit(unit, now)
    moment = _moment(str(before))
    return lambda store, now: store.purges.before(moment, now)


def _moment(written: str) -> datetime:
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise UsageError(
            f"The date {written!r} cannot be read. Write it as 2026-01-31 or 2026-01-31T12:00:00Z."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _refuse_running(store: Store, run: str | None) -> None:
    """Refuse a run that is unknown, or under way: what it still asks would bring texts back."""
    if run is None:
        return
    if store.records.missing(Run, [run]):
        raise UsageError(f"There is no run {run}. `biaswatch runs` lists them.")
    waiting = store.gathers(RUN_GATHER).look(run)
    if waiting and waiting.closed_by is None:
        raise UsageError(f"The run {run} is under way. Cancel it first: `biaswatch cancel {run}`.")


async def _purge_bus(settings: Settings, url: str, store: Store) -> PurgedMessages:
    async with bus_connection(settings, url) as connection:
        return await purge_messages(Admin(connection), store.purges.so_far().covers)


def _numbers(removed: PurgedMessages) -> dict[str, object]:
    return {"messages": dict(removed.messages), "unreadable_dead_letters": removed.unreadable}


def _sentence(texts: int, removed: PurgedMessages) -> str:
    said = f"Removed {texts} texts from the store and {removed.messages.total()} messages."
    if removed.unreadable:
        said += (
            f" {removed.unreadable} dead letters are no record, so nobody can tell whose they are:"
            " `biaswatch dead-letters list` shows them, `discard` removes them."
        )
    return said
