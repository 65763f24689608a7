"""The verbs for channels, which deliver alarms: list, test, retry."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from biaswatch.cli.options import Json, ask, show_rows
from biaswatch.local.client import POLL_EVERY_S, GatewayClient
from biaswatch.render.monitors import channel_in_words, delivered_in_words
from biaswatch.render.terminal import print_json, printable
from biaswatch.shared.contracts.alarm_delivery import AlarmDelivery, DeliveryState

app = typer.Typer(
    name="channels", help="Channels that deliver alarms: list, test, retry.", no_args_is_help=True
)
NOT_DELIVERED_CODE = 3
Name = Annotated[str, typer.Argument(help="The channel, as `list` lists it.")]


@app.command("list")
def list_channels(
    file: Annotated[
        Path | None, typer.Option(help="Check this file of channels here, instead of a gateway.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the channels, their deliveries, and what is wrong with them."""
    if file is not None:
        _check_file(file, as_json=as_json)
        return
    none = (
        "There are no channels. BIASWATCH_NOTIFIER_CHANNELS_FILE of the notifier names the file"
        " that declares them: see docs/channels.md."
    )
    show_rows(ask(lambda client: client.channels()), channel_in_words, none, as_json=as_json)


def _check_file(file: Path, *, as_json: bool) -> None:
    """Read a file of channels as the notifier would; exit code 3 where one cannot deliver."""
    from biaswatch.services.notifier.handlers.operator_channels import operator_channels
    from biaswatch.services.notifier.settings import variable

    statuses = operator_channels(file, variable).statuses(datetime.now(UTC))
    show_rows(
        statuses,
        lambda channel: f"{channel.name}  {channel.kind}  {channel.trouble or 'ready'}",
        f"{file} declares no channel.",
        as_json=as_json,
    )
    if any(channel.trouble for channel in statuses):
        raise typer.Exit(NOT_DELIVERED_CODE)


@app.command("test")
def try_channel(
    name: Name,
    wait: Annotated[float, typer.Option(min=0, help="Seconds to wait for the outcome.")] = 60.0,
    as_json: Json = False,
) -> None:
    """Send a test message by a channel, as alarms are sent, and show the outcome."""

    async def send(client: GatewayClient) -> AlarmDelivery:
        sent = await client.try_channel(name)
        clock = asyncio.get_running_loop().time
        deadline = clock() + wait
        while True:
            [delivery] = await client.deliveries(sent.alarm_id)
            if delivery.state is not DeliveryState.WAITING or clock() > deadline:
                return delivery
            await asyncio.sleep(POLL_EVERY_S)

    delivery = ask(send)
    if as_json:
        print_json(delivery)
    else:
        typer.echo(printable(delivered_in_words(delivery)))
    if delivery.state is not DeliveryState.DELIVERED:
        raise typer.Exit(NOT_DELIVERED_CODE)


@app.command("retry")
def retry(name: Name) -> None:
    """Send alarms again that a channel refused, once its cause is corrected."""
    again = ask(lambda client: client.retry_channel(name))
    alarms = "1 alarm is" if again == 1 else f"{again} alarms are"
    typer.echo(f"{alarms} sent again to {printable(name)}.")
