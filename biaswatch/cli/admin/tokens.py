"""The verbs for the tokens of a gateway: add, list, remove; the file holds only verifiers."""

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
        fields[kind] = [entry for entry in before if not _is(entry, name, id_)]
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
    """Return the validated fields of the file; empty if it does not exist."""
    if not file.exists():
        return {}
    fields = yaml_mapping(read_text(file, "tokens file"), file, EXPECTED)
    checked(TokensFile, fields, file)
    return fields


def _write(file: Path, fields: dict[str, Any]) -> None:
    """Replace the file atomically, so that the gateway never reads a partial one."""
    checked(TokensFile, fields, file)
    text = yaml.safe_dump({name: value for name, value in fields.items() if value}, sort_keys=False)
    try:
        handle, temporary = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}-")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as opened:
                opened.write(text if text != "{}\n" else "tokens: []\n")
            Path(temporary).chmod(FILE_MODE)
            Path(temporary).replace(file)
        except OSError:
            with suppress(OSError):
                Path(temporary).unlink()
            raise
    except OSError as error:
        raise UsageError(f"The tokens file {file} cannot be written ({error.strerror}).") from None
