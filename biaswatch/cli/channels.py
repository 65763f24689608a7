"""The verbs for channels, by which alarms are sent: list, test, retry, check."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from biaswatch.cli.options import Json, Server, Token
from biaswatch.local.client import POLL_EVERY_S
from biaswatch.local.connections import connected
from biaswatch.render.monitors import channel_in_words, delivered_in_words
from biaswatch.render.terminal import print_json, printable
from biaswatch.shared.contracts.alarm import AlarmDelivery, DeliveryState
from biaswatch.shared.requests.platform import ChannelView

app = typer.Typer(
    name="channels", help="How alarms are sent: list, test, retry, check.", no_args_is_help=True
)
NOT_DELIVERED_CODE = 3
Name = Annotated[str, typer.Argument(help="The channel, as `list` lists it.")]


@app.command("list")
def list_channels(server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """Show the channels, what became of alarms, and what is wrong."""

    async def work() -> list[ChannelView]:
        async with connected(server, token, with_models=False) as client:
            return await client.channels()

    found = asyncio.run(work())
    if as_json:
        print_json(found)
        return
    for each in found:
        typer.echo(printable(channel_in_words(each)))
    if not found:
        typer.echo(
            "There are no channels. BIASWATCH_NOTIFIER_CHANNELS_FILE of the notifier names the"
            " file that declares them: see docs/monitors.md."
        )


@app.command("test")
def try_channel(
    name: Name,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for its outcome.")] = 60.0,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Send a trial by a channel, from where alarms are sent, and say what became of it."""

    async def work() -> AlarmDelivery:
        async with connected(server, token, with_models=False) as client:
            sent = await client.try_channel(name)
            until = asyncio.get_running_loop().time() + wait
            while True:
                [found] = await client.deliveries(sent.alarm_id)
                ended = found.state is not DeliveryState.WAITING
                if ended or asyncio.get_running_loop().time() > until:
                    return found
                await asyncio.sleep(POLL_EVERY_S)

    found = asyncio.run(work())
    if as_json:
        print_json(found)
    else:
        typer.echo(printable(delivered_in_words(found)))
    if found.state is not DeliveryState.DELIVERED:
        raise typer.Exit(NOT_DELIVERED_CODE)


@app.command("retry")
def retry(name: Name, server: Server = None, token: Token = None) -> None:
    """Send again what a channel has refused or not taken, once its cause is corrected."""

    async def work() -> int:
        async with connected(server, token, with_models=False) as client:
            return await client.retry_channel(name)

    again = asyncio.run(work())
    alarms = "1 alarm is" if again == 1 else f"{again} alarms are"
    typer.echo(f"{alarms} sent again to {printable(name)}.")


@app.command("check")
def check(
    file: Annotated[Path, typer.Argument(help="The file of channels.")], as_json: Json = False
) -> None:
    """Check a file of channels as the notifier would read it here."""
    from datetime import UTC, datetime

    from biaswatch.services.notifier.handlers.operator_channels import operator_channels
    from biaswatch.services.notifier.settings import variable

    found = operator_channels(file, variable).statuses(datetime.now(UTC))
    if as_json:
        print_json(found)
    else:
        for each in found:
            typer.echo(printable(f"{each.name}  {each.kind}  {each.trouble or 'ready'}"))
    if any(each.trouble for each in found):
        raise typer.Exit(NOT_DELIVERED_CODE)
