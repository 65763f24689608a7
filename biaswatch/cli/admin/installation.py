"""The operator's verbs of installation: provision bus and store, create keys."""

import asyncio
import re
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from biaswatch.cli.admin.audit import operator_act, write_acts
from biaswatch.local.connections import bus_connection, bus_url, embedded_bus_limits
from biaswatch.shared.bus.jetstream import Admin
from biaswatch.shared.bus.jetstream import provision as provision_bus
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import DROP_IN, INGEST, key_names, server_config
from biaswatch.shared.bus.topology import StreamLimits
from biaswatch.shared.contracts import AuditAction
from biaswatch.shared.errors import ConfigurationError, TransientError, UsageError
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.store import Store, migrate
from biaswatch.written_files import write_whole

LOOK_AGAIN_S = 1.0


def provision(
    replicas: Annotated[
        int, typer.Option(min=1, max=5, help="Copies of each stream: 3 on a cluster.")
    ] = 1,
    stream_gib: Annotated[
        float | None,
        typer.Option(
            min=0.01, help="Size of each large stream on an external bus.", show_default="2"
        ),
    ] = None,
    wait_s: Annotated[
        float, typer.Option(min=0, help="Maximum time to wait for bus and database.")
    ] = 0,
) -> None:
    """Create or migrate the streams of the bus and the tables of the store; safe to repeat."""
    settings = load_settings(Settings)
    revision = _once_they_answer(lambda: _provisioned(settings, replicas, stream_gib), wait_s)
    typer.echo(f"The bus has its streams and durables; the store is at revision {revision}.")


def _once_they_answer(work: Callable[[], str], wait_s: float) -> str:
    """Repeat the work until bus and database answer, for at most `wait_s` seconds."""
    deadline, announced = time.monotonic() + wait_s, False
    while True:
        try:
            return work()
        except TransientError as absent:
            if time.monotonic() >= deadline:
                raise
            if not announced:
                typer.echo(f"{absent} Waiting for up to {wait_s:g} s.")
            announced = True
        time.sleep(LOOK_AGAIN_S)


def _provisioned(settings: Settings, replicas: int, stream_gib: float | None) -> str:
    """Prepare the store, then the bus; return the store's revision."""
    revision = migrate(settings.store)

    async def work(url: str) -> None:
        limits = (
            StreamLimits()
            if "nats_url" in settings.model_fields_set
            else embedded_bus_limits(settings)
        )
        if stream_gib is not None:
            limits = replace(limits, stream_bytes=int(stream_gib * 2**30))
        async with bus_connection(settings, url) as connection:
            await provision_bus(Admin(connection), replace(limits, replicas=replicas))

    with bus_url(settings) as url:
        asyncio.run(work(url))
    return revision


def keys(
    directory: Annotated[Path, typer.Argument(help="Folder of the keys.")],
    drop_in: Annotated[
        list[str] | None, typer.Option(help="Create a key for this drop-in extractor.")
    ] = None,
    ingest: Annotated[
        list[str] | None, typer.Option(help="Create a key to ingest this tenant's answers by bus.")
    ] = None,
) -> None:
    """Create a key for each service and the server's permissions; existing keys stay."""
    for name in (*(drop_in or ()), *(ingest or ())):
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
            raise UsageError(
                f"{name!r}: the name of a drop-in or a tenant has at most 64 letters, digits, - and"
                " _."
            )
    own = {f"{DROP_IN}-{name}" for name in drop_in or ()}
    own |= {f"{INGEST}-{tenant}" for tenant in ingest or ()}
    own |= {path.stem for kind in (DROP_IN, INGEST) for path in directory.glob(f"{kind}-*.seed")}
    names = [*key_names(), *sorted(own)]
    new = [name for name in names if not (directory / f"{name}.seed").exists()]
    public = ensure_keys(directory, names)
    config = directory / "authorization.conf"
    write_whole(config, server_config(public))
    typer.echo(
        f"{len(public)} keys are in {directory}. Set BIASWATCH_NATS_SEED_FILE of each service to"
        f" its own key, and include {config} in the server's configuration."
    )
    _audit_keys(directory, new)


def _audit_keys(directory: Path, new: list[str]) -> None:
    """Record new keys in the audit trail; the first keys are created before it exists."""
    settings = load_settings(Settings)
    acts = [operator_act(AuditAction.KEY_CREATE, name, directory=str(directory)) for name in new]
    if not acts:
        return
    try:
        with Store.open(settings.store) as store:
            asyncio.run(write_acts(settings, store, None, acts))
    except (ConfigurationError, UsageError) as error:
        typer.echo(f"The new keys are not in an audit trail. {error}", err=True)
