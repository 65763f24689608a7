"""The verbs for targets: which are paused and why, and asking one again."""

import asyncio
from typing import Annotated

import typer

from biaswatch.cli.options import Json, Server, Token
from biaswatch.local.connections import connected
from biaswatch.render.tables import print_json, printable
from biaswatch.shared.contracts.completion import PausedTarget

app = typer.Typer(
    name="targets", help="Targets that refuse every call: list, resume.", no_args_is_help=True
)


@app.command("list")
def list_paused(server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """Show the targets that are paused, why, and when they are tried again."""

    async def work() -> list[PausedTarget]:
        async with connected(server, token, with_models=False) as client:
            return await client.paused_targets()

    found = asyncio.run(work())
    if as_json:
        print_json(found)
        return
    for each in found:
        typer.echo(printable(each.in_words()))
    if not found:
        typer.echo("No target is paused.")


@app.command("resume")
def resume(
    name: Annotated[str, typer.Argument(help="The target, as `list` shows it.")],
    server: Server = None,
    token: Token = None,
) -> None:
    """Ask a paused target again at once; its key may have been corrected."""

    async def work() -> None:
        async with connected(server, token, with_models=False) as client:
            await client.resume_target(name)

    asyncio.run(work())
    typer.echo(f"{printable(name)} is asked again; if it still refuses, it is paused anew.")
