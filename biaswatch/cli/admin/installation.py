"""The operator's verbs of an installation: provision, keys, tokens."""

import asyncio
import re
import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console

from biaswatch.cli.admin.audit import operator_act, this_user, write_acts
from biaswatch.cli.options import Json, moment_of
from biaswatch.local.connections import bus_connection, bus_url, embedded_bus_limits
from biaswatch.render.terminal import print_json, print_table, printable, terminal_table
from biaswatch.shared.bus.accounts import server_config
from biaswatch.shared.bus.jetstream import Admin
from biaswatch.shared.bus.jetstream import provision as provision_bus
from biaswatch.shared.bus.jetstream.keys import ensure_keys
from biaswatch.shared.bus.permissions import DROP_IN, INGEST, key_names
from biaswatch.shared.bus.topology import StreamLimits
from biaswatch.shared.contracts import AuditAction
from biaswatch.shared.contracts.access import TokenRole, TokensFile, verifier_of
from biaswatch.shared.errors import ConfigurationError, TransientError, UsageError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.store import Store, migrate
from biaswatch.written_files import atomic_file, write_atomically

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
    write_atomically(config, server_config(public))
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


app = typer.Typer(
    name="tokens",
    help="Tokens of the gateway, in one file: add, list, remove.",
    no_args_is_help=True,
)
EXPECTED = "a tokens file is a mapping with `tokens`, `proxies` or `groups`"
HEAD = ("name", "id", "may", "until", "made by")
PREFIX = "bw_"
"""Prefix that scanners for leaked secrets recognise."""
RANDOM_BYTES = 32
FILE_MODE = 0o644
"""The file may be world-readable, since verifiers grant no access."""

TokensFileOption = Annotated[
    Path,
    typer.Option(
        "--file", envvar="BIASWATCH_GATEWAY_TOKENS_FILE", help="The tokens file of the gateway."
    ),
]


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Its owner: a person, a program, a system.")],
    file: TokensFileOption,
    role: Annotated[
        TokenRole | None, typer.Option(help="Its rights; all roles but ingest include reading.")
    ] = None,
    tenant: Annotated[str, typer.Option(help="Tenant of its runs and monitors.")] = "default",
    texts: Annotated[
        bool, typer.Option("--texts", help="It may also read texts of users and models.")
    ] = False,
    until: Annotated[str | None, typer.Option(help="Its date or time of expiry (UTC).")] = None,
    proxy: Annotated[
        bool, typer.Option("--proxy", help="The token of a proxy that authenticates people.")
    ] = False,
) -> None:
    """Create a token, print it once, and store its verifier in the file.

    The gateway reads the changed file by itself. A name may have several tokens: to replace one,
    add a new one, distribute it, and remove the old one.
    """
    if proxy != (role is None):
        raise UsageError("Set the rights of the token with --role, or make it a proxy's (--proxy).")
    token = PREFIX + secrets.token_urlsafe(RANDOM_BYTES)
    entry: dict[str, Any] = {"name": name, "verifier": verifier_of(token)}
    entry["made_by"] = f"{this_user()} on {socket.gethostname()}, {datetime.now(UTC):%Y-%m-%d}"
    fields = _fields(file)
    if role is not None:
        entry |= {"role": role.value, "tenant": tenant, "texts": texts}
        if until is not None:
            entry["expires"] = moment_of(until).isoformat()
    kind = "proxies" if proxy else "tokens"
    fields[kind] = [*fields.get(kind, []), entry]
    _write(file, fields)
    typer.echo(token)
    typer.echo(f"This token is shown only once; {file} holds its verifier.", err=True)


@app.command("list")
def list_tokens(file: TokensFileOption, as_json: Json = False) -> None:
    """List the tokens with their owners and rights."""
    known = checked(TokensFile, _fields(file), file)
    if as_json:
        print_json(known)
        return
    rows = [
        (
            token.name,
            token.verifier[:8],
            token.in_words(),
            f"{token.expires:%Y-%m-%d %H:%M}" if token.expires else "",
            token.made_by,
        )
        for token in known.tokens
    ]
    rows += [(p.name, p.verifier[:8], "names people", "", p.made_by) for p in known.proxies]
    rows += [(f"group {group.group}", "", group.in_words(), "", "") for group in known.groups]
    if rows:
        print_table(Console(), terminal_table(HEAD, [list(map(printable, row)) for row in rows]))
    else:
        typer.echo("The file has no tokens, so all requests are refused.")


@app.command("remove")
def remove(
    name: Annotated[str, typer.Argument(help="Owner of the tokens.")],
    file: TokensFileOption,
    id_: Annotated[
        str | None, typer.Option("--id", help="Only the token with this id, from `list`.")
    ] = None,
) -> None:
    """Revoke the tokens of a name, or one of them."""
    fields, removed = _fields(file), 0
    for kind in ("tokens", "proxies"):
        before = fields.get(kind, [])
        fields[kind] = [entry for entry in before if not _matches(entry, name, id_)]
        removed += len(before) - len(fields[kind])
    if not removed:
        raise UsageError(
            f"There is no such token of {name}. `biaswatch admin tokens list` shows them."
        )
    _write(file, fields)
    typer.echo(f"Removed {removed} of {printable(name)}.")


def _matches(entry: dict[str, Any], name: str, id_: str | None) -> bool:
    return entry["name"] == name and (id_ is None or entry["verifier"].startswith(id_))


def _fields(file: Path) -> dict[str, Any]:
    """Return the validated fields of the file; empty if it does not exist."""
    if not file.exists():
        return {}
    fields = yaml_mapping(read_text(file, "tokens file"), file, EXPECTED)
    checked(TokensFile, fields, file)
    return fields


def _write(file: Path, fields: dict[str, Any]) -> None:
    """Replace the file atomically, so that the gateway never reads a partial one."""
    checked(TokensFile, fields, file)
    filled = {name: value for name, value in fields.items() if value} or {"tokens": []}
    with atomic_file(file, "The tokens file") as part:
        part.write_text(yaml.safe_dump(filled, sort_keys=False), encoding="utf-8")
        part.chmod(FILE_MODE)
