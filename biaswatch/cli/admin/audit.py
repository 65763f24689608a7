"""The verbs of the audit trail: show its entries, and verify that it is unchanged."""

import asyncio
import getpass
import json
import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from biaswatch.cli.options import Json, ask, gateway, moment_of
from biaswatch.local.connections import bus_connection, bus_url
from biaswatch.render.terminal import print_json, print_sentence
from biaswatch.services.gateway.dashboard.overview_pages import names_of
from biaswatch.shared.bus.dead_letters import audit_anchors
from biaswatch.shared.bus.jetstream import Admin
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.clock import now
from biaswatch.shared.contracts.audit import AuditAction, AuditedAct, AuditEntry, faults_of
from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import json_lines, read_text
from biaswatch.shared.presentation.names import AuditObject, audit_object
from biaswatch.shared.requests.platform import AuditRequest
from biaswatch.shared.runtime.auditing import AuditWriter
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.store import Store
from biaswatch.shared.store.audit import AuditFilter
from biaswatch.shared.telemetry import configure_logs

app = typer.Typer(
    name="audit", help="The audit trail of administrative acts: show, verify.", no_args_is_help=True
)
EVENT = "audit entry"
"""Name of the log event of an entry."""
CHANGED_CODE = 1
Anchor = tuple[int, str]


@app.command("show")
def show(
    about: Annotated[
        str | None, typer.Option(help="Only acts on this monitor, run, target or token.")
    ] = None,
    by: Annotated[str | None, typer.Option(help="Only acts of this person or program.")] = None,
    action: Annotated[
        str | None, typer.Option(help="monitor.pause, or monitor for all acts on monitors.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="Since this date or time (UTC).")] = None,
    tenant: Annotated[str | None, typer.Option(help="Only this tenant.")] = None,
    last: Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number of entries.")] = 50,
    as_json: Json = False,
) -> None:
    """Show entries, newest first: of the local store, or of a tenant through its gateway."""
    moment = moment_of(since) if since else None
    if gateway().server is None:
        wanted = AuditFilter(about, by, action, moment, tenant)
        with Store.open(load_settings(Settings).store, statement_s=None) as store:
            entries = store.audit.latest(last, wanted)
            names = names_of(entries, store)
    elif tenant is not None:
        raise UsageError("A gateway shows the tenant of the token: leave out --tenant.")
    else:
        request = AuditRequest(about=about, by=by, action=action, since=moment, last=last)
        entries = ask(lambda client: client.audit(request))
        names = {}
    if as_json:
        print_json(entries)
    elif entries:
        print_entries(entries, names)
    else:
        typer.echo("There is no such entry.")


@app.command("verify")
def verify(
    anchor: Annotated[
        list[str] | None, typer.Option(help="NUMBER:HASH of an entry, recorded elsewhere.")
    ] = None,
    log: Annotated[
        list[Path] | None, typer.Option(help="A log of the gateway, one JSON object per line.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check every entry against its hash, its predecessor, and the anchors on the bus and in logs.

    Exit code 1 if an entry was changed or removed.
    """
    settings = load_settings(Settings)
    known = [_anchor(value) for value in anchor or ()]
    known += [value for path in log or () for value in _anchors_in(path)]

    async def anchors_on(url: str) -> list[Anchor]:
        async with bus_connection(settings, url) as connection:
            return [(a.number, a.hash) async for a in audit_anchors(Admin(connection))]

    with Store.open(settings.store, statement_s=None) as store:
        with bus_url(settings) as url:
            on_bus = asyncio.run(anchors_on(url))
        entries = list(store.audit.all())
    faults = faults_of(entries, [*known, *on_bus])
    head = f"{entries[-1].number}:{entries[-1].hash}" if entries else None
    if as_json:
        counts = {"entries": len(entries), "anchors": len(known) + len(on_bus), "head": head}
        listed = [{"number": fault.number, "what": fault.what} for fault in faults]
        typer.echo(json.dumps({**counts, "faults": listed}, indent=2))
    else:
        for fault in faults:
            typer.echo(f"Entry {fault.number}: {fault.what}")
        typer.echo(verified_in_words(len(entries), len(on_bus), len(known), len(faults), head))
    if faults:
        raise typer.Exit(CHANGED_CODE)


def verified_in_words(entries: int, on_bus: int, known: int, faults: int, head: str | None) -> str:
    """Return the result of a verification; an empty trail proves nothing."""
    checked = f"{entries} entries were checked against {on_bus} anchors on the bus and {known} more"
    if faults:
        return f"{checked}: the trail was changed."
    if not entries:
        return f"{checked}: the trail is empty, so this shows nothing."
    noted = f" Record its head elsewhere: {head}" if head else ""
    return f"{checked}: the trail is unchanged.{noted}"


def print_entries(entries: Sequence[AuditEntry], names: Mapping[str, str]) -> None:
    """Print entries in lines of the screen's width; `names` are the names of ids."""
    console = Console(emoji=False)
    for entry in entries:
        _print_entry(console, entry, audit_object(entry, names))


def _print_entry(console: Console, entry: AuditEntry, about: AuditObject) -> None:
    """Print the act, its subject and its actor on separate lines."""
    of_what = " ".join(filter(None, (about.name, about.id)))
    whose = f" of tenant {entry.tenant}" if entry.tenant not in (None, DEFAULT_TENANT) else ""
    number = f"{entry.number}  "
    print_sentence(console, f"{entry.action} {of_what}{whose}", bullet=number)
    indent = " " * len(number)
    moment = f"{entry.at:%Y-%m-%d %H:%M:%S} UTC"
    print_sentence(
        console, f"{moment}  {entry.actor} ({entry.role}) from {entry.source}", bullet=indent
    )
    if about.more:
        print_sentence(console, about.more, bullet=indent)
    if entry.failure is not None:
        print_sentence(console, f"It failed: {entry.failure}", bullet=indent)


def _anchor(written: str) -> Anchor:
    number, _, hash_ = written.partition(":")
    if not number.isdecimal() or len(hash_) != 64:
        raise UsageError(
            f"--anchor is {written!r}; write NUMBER:HASH, as printed by `admin audit verify`."
        )
    return int(number), hash_


def _anchors_in(path: Path) -> list[Anchor]:
    """Return the anchors in a log; other lines are skipped, and need not be JSON."""
    lines = [line for line in read_text(path, "log").split("\n") if EVENT in line]
    return [
        (value["number"], value["hash"])
        for _, value in json_lines("\n".join(lines), path)
        if isinstance(value, dict)
        and value.get("event") == EVENT
        and isinstance(value.get("number"), int)
        and isinstance(value.get("hash"), str)
    ]


OPERATOR_ROLE = "operator"


def this_user() -> str:
    """Return the name of the current user on this machine."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user often has no name
        return f"user {os.getuid()}"


def operator_act(
    action: AuditAction, subject: str, *, tenant: str | None = None, **details: str
) -> AuditedAct:
    """Return an act of the operator at this machine."""
    return AuditedAct(
        tenant=tenant,
        actor=this_user(),
        role=OPERATOR_ROLE,
        source=f"command line on {socket.gethostname()}",
        action=action,
        subject=subject,
        details=details,
    )


async def write_acts(
    settings: Settings, store: Store, publisher: Publisher | None, acts: Sequence[AuditedAct]
) -> None:
    """Append acts to the trail before they are performed.

    Raises
    ------
    TransientError
        The store is not available, so nothing may be done.
    """
    # Standard output belongs to the command; a log level in the settings adds the anchors.
    configure_logs(settings.log_level if "log_level" in settings.model_fields_set else "ERROR")
    await AuditWriter(store, publisher, now=now).append(acts)
