"""The operator's verbs: provision a bus and a store, make keys, purge texts."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from biaswatch.cli.options import Json
from biaswatch.local.connections import bus_connection, bus_url, embedded_bus_limits
from shared.bus.accounts import server_config
from shared.bus.dead_letters import PurgedMessages, purge_messages
from shared.bus.jetstream import Admin
from shared.bus.jetstream import provision as provision_bus
from shared.bus.jetstream.keys import ensure_keys
from shared.bus.permissions import DROP_IN, key_names
from shared.bus.topology import StreamLimits
from shared.contracts import RUN_GATHER, Run
from shared.errors import UsageError
from shared.runtime.settings import Settings, load_settings
from shared.store import Store, migrate


def provision(
    replicas: Annotated[
        int, typer.Option(min=1, max=5, help="Copies of each stream: 3 on a cluster.")
    ] = 1,
) -> None:
    """Bring the bus's streams and the store's tables into this version's shape. Safe to repeat."""
    settings = load_settings(Settings)
    revision = migrate(settings.store)

    async def work(url: str) -> None:
        limits = (
            StreamLimits()
            if "nats_url" in settings.model_fields_set
            else embedded_bus_limits(settings)
        )
        async with bus_connection(settings, url) as connection:
            await provision_bus(Admin(connection), replace(limits, replicas=replicas))

    with bus_url(settings) as url:
        asyncio.run(work(url))
    typer.echo(f"The bus has its streams and durables; the store is at revision {revision}.")


def keys(
    directory: Annotated[Path, typer.Argument(help="Where the keys are kept.")],
    drop_in: Annotated[
        list[str] | None, typer.Option(help="A key of its own for this drop-in extractor.")
    ] = None,
) -> None:
    """Make a key for each service and the server's permissions; existing keys stay."""
    if not all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in drop_in or ()):
        raise UsageError("A drop-in's name is made of letters, digits, - and _, at most 64.")
    known = {path.stem for path in directory.glob(f"{DROP_IN}-*.seed")}
    own = sorted(known | {f"{DROP_IN}-{name}" for name in drop_in or ()})
    public = ensure_keys(directory, [*key_names(), *own])
    config = directory / "authorization.conf"
    config.write_text(server_config(public))
    typer.echo(
        f"{len(public)} keys are in {directory}; give each service its own"
        f" (BIASWATCH_NATS_SEED_FILE), and include {config} in the server's configuration."
    )


Act = Callable[[Store, datetime], int]


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

    async def purge_bus(url: str, store: Store) -> PurgedMessages:
        async with bus_connection(settings, url) as connection:
            return await purge_messages(Admin(connection), store.purges.so_far().covers)

    with Store.open(settings.store) as store:
        _refuse_running(store, run)
        texts = act(store, datetime.now(UTC))
        with bus_url(settings) as url:
            removed = asyncio.run(purge_bus(url, store))
    messages, unread = removed.messages, removed.unreadable
    if as_json:
        told = {"texts": texts, "messages": dict(messages), "unreadable_dead_letters": unread}
        typer.echo(json.dumps(told, indent=2))
        return
    sentence = f"Removed {texts} texts from the store and {messages.total()} messages."
    if unread:
        sentence += (
            f" {unread} dead letters are no record, so nobody can tell whose they are:"
            " `biaswatch dead-letters list` shows them, `discard` removes them."
        )
    typer.echo(sentence)


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
