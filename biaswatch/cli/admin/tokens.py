"""The verbs for the tokens of a gateway: add, list, remove; the file knows none of them."""

import os
import secrets
import socket
import tempfile
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml
from rich.console import Console

from biaswatch.cli.admin.audit import this_user
from biaswatch.cli.options import Json, moment_of
from biaswatch.render.terminal import print_json, print_table, printable, terminal_table
from biaswatch.shared.contracts.access import TokenRole, TokensFile, verifier_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import checked, read_text, yaml_mapping

app = typer.Typer(
    name="tokens",
    help="Tokens of the gateway, in one file: add, list, remove.",
    no_args_is_help=True,
)
EXPECTED = "a tokens file is a mapping with `tokens`, `proxies` or `groups`"
HEAD = ("name", "id", "may", "until", "made by")
PREFIX = "bw_"
"""So that scanners for secrets recognise a token that lies where it should not."""
RANDOM_BYTES = 32
FILE_MODE = 0o644
"""Anybody may read the file: what is in it lets nobody in."""

FileGiven = Annotated[
    Path,
    typer.Option(
        "--file", envvar="BIASWATCH_GATEWAY_TOKENS_FILE", help="The tokens file of the gateway."
    ),
]


@app.command("add")
def add(
    name: Annotated[str, typer.Argument(help="Whose it is: a person, a program, a system.")],
    file: FileGiven,
    role: Annotated[
        TokenRole | None, typer.Option(help="What it may do; each includes reading but ingest.")
    ] = None,
    tenant: Annotated[str, typer.Option(help="Whose runs and monitors it sees.")] = "default",
    texts: Annotated[
        bool, typer.Option("--texts", help="It may read what users and models wrote, too.")
    ] = False,
    until: Annotated[str | None, typer.Option(help="The date or moment (UTC) it ends.")] = None,
    proxy: Annotated[
        bool, typer.Option("--proxy", help="A proxy's, which signs people in and names them.")
    ] = False,
) -> None:
    """Make a token, print it once, and note in the file what tells it from others.

    The gateway sees the changed file by itself. A name may have several tokens: add the new one,
    hand it out, remove the old one.
    """
    if proxy != (role is None):
        raise UsageError(
            "Say what the token may do with --role, or that it is a proxy's (--proxy)."
        )
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
    typer.echo(f"This is shown once; {file} holds only what tells it from others.", err=True)


@app.command("list")
def list_tokens(file: FileGiven, as_json: Json = False) -> None:
    """Show whose tokens there are, and what each may do."""
    known = checked(TokensFile, _fields(file), file)
    if as_json:
        print_json(known)
        return
    rows = [
        (
            each.name,
            each.verifier[:8],
            each.in_words(),
            f"{each.expires:%Y-%m-%d %H:%M}" if each.expires else "",
            each.made_by,
        )
        for each in known.tokens
    ]
    rows += [(p.name, p.verifier[:8], "names people", "", p.made_by) for p in known.proxies]
    rows += [(f"group {each.group}", "", each.in_words(), "", "") for each in known.groups]
    if rows:
        print_table(Console(), terminal_table(HEAD, [list(map(printable, row)) for row in rows]))
    else:
        typer.echo("The file names no token, so nobody may do anything.")


@app.command("remove")
def remove(
    name: Annotated[str, typer.Argument(help="Whose tokens.")],
    file: FileGiven,
    id_: Annotated[
        str | None, typer.Option("--id", help="Only the one with this id, as `list` shows it.")
    ] = None,
) -> None:
    """Remove the tokens of a name, or one of them; the gateway refuses them from then on."""
    fields, removed = _fields(file), 0
    for kind in ("tokens", "proxies"):
        before = fields.get(kind, [])
        fields[kind] = [each for each in before if not _is(each, name, id_)]
        removed += len(before) - len(fields[kind])
    if not removed:
        raise UsageError(
            f"There is no such token of {name}. `biaswatch admin tokens list` shows them."
        )
    _write(file, fields)
    typer.echo(f"Removed {removed} of {printable(name)}.")


def _is(entry: dict[str, Any], name: str, id_: str | None) -> bool:
    return entry["name"] == name and (id_ is None or entry["verifier"].startswith(id_))


def _fields(file: Path) -> dict[str, Any]:
    """Return what the file says, checked; a file that is not there says nothing."""
    if not file.exists():
        return {}
    fields = yaml_mapping(read_text(file, "tokens file"), file, EXPECTED)
    checked(TokensFile, fields, file)
    return fields


def _write(file: Path, fields: dict[str, Any]) -> None:
    """Replace the file as a whole: the gateway never sees half of it."""
    checked(TokensFile, fields, file)
    text = yaml.safe_dump({name: each for name, each in fields.items() if each}, sort_keys=False)
    try:
        handle, made = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as opened:
                opened.write(text if text != "{}\n" else "tokens: []\n")
            Path(made).chmod(FILE_MODE)
            Path(made).replace(file)
        except OSError:
            with suppress(OSError):
                Path(made).unlink()
            raise
    except OSError as error:
        raise UsageError(f"The tokens file {file} cannot be written ({error.strerror}).") from None
