"""The verbs of monitors: apply, list, show, pause, resume, delete."""

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from biaswatch.cli.options import Everything, Json, ask, existing_file, gateway, show_rows
from biaswatch.local.client import GatewayClient
from biaswatch.readers.suites import load_monitor
from biaswatch.readers.targets import sent_target
from biaswatch.render.monitors import (
    monitor_line,
    print_accounts,
    print_alarm,
    print_monitor,
    print_window,
)
from biaswatch.render.terminal import print_json, print_sentence, printable
from biaswatch.shared.contracts.alarm import open_alarms_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.evidence import WindowView
from biaswatch.shared.requests.monitor_views import AppliedMonitor, MonitorView
from biaswatch.shared.requests.traffic import UnwatchedView

app = typer.Typer(
    name="monitor", no_args_is_help=True, help="Monitors of models: rounds, evidence and alarms."
)
Name = Annotated[str, typer.Argument(help="The monitor, as `monitor list` lists it.")]


@app.command()
def apply(
    file: Annotated[
        Path,
        typer.Argument(
            help="The monitor's file, YAML or JSON.", callback=existing_file, is_eager=True
        ),
    ],
    as_json: Json = False,
) -> None:
    """Start a monitor, or change it; the same file again changes nothing."""
    server = gateway().server
    monitor, suite = load_monitor(file, lambda target: sent_target(target, server))
    body = monitor.model_dump(mode="json", exclude_none=True)

    async def send(client: GatewayClient) -> AppliedMonitor:
        if suite is not None:
            await client.upload_suite(suite)
        return await client.apply_monitor(body)

    applied = ask(send, with_models=True)
    if as_json:
        print_json(applied)
    elif not applied.changed:
        typer.echo(f"The monitor {monitor.name} is as the file says; nothing changed.")
    else:
        evidence = "starts without evidence" if applied.anew else "goes on with its evidence"
        typer.echo(f"The monitor {monitor.name} {evidence}.")
        for note in applied.notes:
            print_sentence(Console(emoji=False), note)


@app.command("list")
def list_monitors(
    unwatched: Annotated[
        bool,
        typer.Option("--unwatched", help="Live systems that send answers and have no monitor."),
    ] = False,
    as_json: Json = False,
) -> None:
    """List the monitors with their states, or live systems without a monitor."""
    if not unwatched:
        monitors = ask(lambda client: client.monitors())
        none = "There are no monitors yet. `biaswatch monitor apply FILE` starts one."
        if as_json or not monitors:
            show_rows(monitors, str, none, as_json=as_json)
            return
        for monitor in monitors:
            print_sentence(Console(), monitor_line(monitor), bullet=f"{printable(monitor.name)}  ")
        return
    systems = ask(lambda client: client.read(list[UnwatchedView], "/v1/unwatched"))
    none = "Every live system that sends answers has a monitor."
    show_rows(systems, _unwatched_line, none, as_json=as_json)
    if systems and not as_json:
        typer.echo("A monitor with the target traffic:NAME takes the answers that come after it.")


def _unwatched_line(system: UnwatchedView) -> str:
    last = f"the last at {system.last_at:%Y-%m-%d %H:%M} UTC"
    return f"{system.source}  {system.answers:,} answers, {last}"


@app.command()
def show(
    name: Name,
    alarms: Annotated[
        bool, typer.Option("--alarms", help="Its alarms, with the answers that contributed most.")
    ] = False,
    windows: Annotated[
        int | None,
        typer.Option(
            min=1, max=1000, metavar="N", help="Its last N windows of traffic, the latest first."
        ),
    ] = None,
    everything: Everything = False,
    as_json: Json = False,
) -> None:
    """Show the evidence and verdicts of a monitor, its alarms, or its windows of traffic."""
    if alarms and windows:
        raise UsageError("--alarms and --windows are two views: ask for one of them.")
    if windows:
        _show_windows(name, windows, everything=everything, as_json=as_json)
    elif alarms:
        _show_alarms(name, as_json=as_json)
    else:
        view = ask(lambda client: client.monitor(name))
        print_json(view) if as_json else print_monitor(view, everything=everything)


def _show_alarms(name: str, *, as_json: bool) -> None:
    alarms = ask(lambda client: client.alarms(name))
    if as_json:
        print_json(alarms)
        return
    console = Console()
    for alarm in alarms:
        print_alarm(alarm, console)
    if not alarms:
        typer.echo("There are no alarms.")


def _show_windows(name: str, last: int, *, everything: bool, as_json: bool) -> None:
    """Show windows of production traffic: the fate of each answer, and the numbers."""

    async def read(client: GatewayClient) -> tuple[MonitorView, list[WindowView]]:
        return await client.monitor(name), await client.windows(name, last)

    monitor, views = ask(read)
    if as_json:
        print_json(views)
        return
    console = Console()
    for window in views:
        print_window(window, console, everything=everything)
    if views:
        print_accounts(monitor, console)
    else:
        typer.echo("No answer was sent in yet; only monitors of traffic have windows.")


@app.command()
def pause(name: Name) -> None:
    """Start no more rounds until `resume`; the evidence stays."""
    ask(lambda client: client.pause_monitor(name))
    typer.echo(f"The monitor {name} is paused; a round under way still ends.")


@app.command()
def resume(name: Name) -> None:
    """Resume a paused monitor: its next round is due now."""
    ask(lambda client: client.resume_monitor(name))
    typer.echo(f"The monitor {name} is resumed.")


@app.command()
def delete(name: Name) -> None:
    """End a monitor for good; its records are kept."""

    async def end(client: GatewayClient) -> MonitorView:
        view = await client.monitor(name)
        await client.delete_monitor(name)
        return view

    view = ask(end)
    typer.echo(f"The monitor {name} is deleted; its records are kept.")
    if active := len(open_alarms_of(view.alarms)):
        typer.echo(
            f"Alarms that were still active: {active}. Channels get no message about their end, so"
            " close the incidents there."
        )
