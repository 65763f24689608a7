"""The verbs of monitors: from `apply` to `delete`, and what a plan of one needs."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from biaswatch.cli.options import Everything, Json, Server, Token, is_there
from biaswatch.local.client import GatewayClient, Reply
from biaswatch.local.connections import connected
from biaswatch.readers.suites import load_monitor
from biaswatch.readers.targets import sent_target
from biaswatch.render.monitors import (
    monitor_line,
    print_accounts,
    print_alarm,
    print_monitor,
    print_window,
)
from biaswatch.render.terminal import print_json, print_rows, print_sentence, printable
from biaswatch.shared.contracts import comparison_titles
from biaswatch.shared.requests.evidence import WindowView
from biaswatch.shared.requests.monitor_views import AppliedMonitor, MonitorView
from biaswatch.shared.requests.traffic import UnwatchedView

app = typer.Typer(
    name="monitor", no_args_is_help=True, help="Watch a model: rounds by cadence, honest alarms."
)
File = Annotated[
    Path, typer.Argument(help="The monitor's file, YAML or JSON.", callback=is_there, is_eager=True)
]
Name = Annotated[str, typer.Argument(help="The monitor, as `monitor list` lists it.")]


def _ask(
    work: Callable[[GatewayClient], Awaitable[Reply]], server: str | None, token: str | None
) -> Reply:
    async def connect_and_ask() -> Reply:
        async with connected(server, token) as client:
            return await work(client)

    return asyncio.run(connect_and_ask())


@app.command()
def apply(file: File, server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """Begin a monitor, or change it; the same file again changes nothing."""
    asked, suite = load_monitor(file, lambda target: sent_target(target, server))
    body = asked.model_dump(mode="json", exclude_none=True)

    async def work(client: GatewayClient) -> AppliedMonitor:
        if suite is not None:
            await client.keep(suite)
        return await client.apply_monitor(body)

    applied = _ask(work, server, token)
    if as_json:
        print_json(applied)
    elif not applied.changed:
        typer.echo(f"The monitor {asked.name} is as the file says; nothing changed.")
    else:
        anew = "begins with no evidence" if applied.anew else "goes on with its evidence"
        typer.echo(f"The monitor {asked.name} {anew}.")
        for note in applied.notes:
            print_sentence(Console(emoji=False), note)


@app.command("list")
def list_(server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """List the monitors and how they stand."""
    found = _ask(lambda client: client.monitors(), server, token)
    if as_json:
        print_json(found)
        return
    for each in found:
        typer.echo(monitor_line(each))
    if not found:
        typer.echo("There are no monitors yet. `biaswatch monitor apply FILE` begins one.")


@app.command()
def show(
    name: Name,
    everything: Everything = False,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Show the evidence, verdicts and alarms of a monitor."""
    found = _ask(lambda client: client.monitor(name), server, token)
    if as_json:
        print_json(found)
        return
    print_monitor(found, everything=everything)


@app.command()
def alarms(name: Name, server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """Show a monitor's alarms with the answers that contributed most, side by side."""
    found = _ask(lambda client: client.alarms(name), server, token)
    if as_json:
        print_json(found)
        return
    console = Console()
    for each in found:
        print_alarm(each, console)
    if not found:
        typer.echo("There are no alarms.")


@app.command()
def windows(
    name: Name,
    last: Annotated[int, typer.Option(min=1, max=1000, help="How many, the latest first.")] = 5,
    everything: Everything = False,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Show the windows of production traffic: what became of each answer, and the numbers."""

    async def work(client: GatewayClient) -> tuple[MonitorView, list[WindowView]]:
        return await client.monitor(name), await client.windows(name, last)

    monitor, found = _ask(work, server, token)
    if as_json:
        print_json(found)
        return
    console = Console()
    for each in found:
        print_window(each, console, everything=everything)
    if found:
        print_accounts(monitor, console)
    else:
        typer.echo("No answer was sent in yet; only monitors of traffic have windows.")


@app.command()
def unwatched(server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """List live systems that send answers and that no monitor watches; none of these is kept."""
    found = _ask(lambda client: client.read(list[UnwatchedView], "/v1/unwatched"), server, token)
    if as_json:
        print_json(found)
        return
    for each in found:
        came = f"{each.answers:,} answers, the last at {each.last_at:%Y-%m-%d %H:%M} UTC"
        typer.echo(printable(f"{each.source}  {came}"))
    if found:
        typer.echo("A monitor with the target traffic:NAME takes the answers that come after it.")
    if not found:
        typer.echo("Every answer that was sent in is of a system that a monitor watches.")


@app.command()
def pause(name: Name, server: Server = None, token: Token = None) -> None:
    """Begin no more rounds until `resume`; the evidence stays."""
    _ask(lambda client: client.pause_monitor(name), server, token)
    typer.echo(f"The monitor {name} is paused; a round under way still ends.")


@app.command()
def resume(name: Name, server: Server = None, token: Token = None) -> None:
    """Go on with a paused monitor: its next round is due now."""
    _ask(lambda client: client.resume_monitor(name), server, token)
    typer.echo(f"The monitor {name} goes on.")


@app.command()
def delete(name: Name, server: Server = None, token: Token = None) -> None:
    """End a monitor for good; its records are kept."""
    _ask(lambda client: client.delete_monitor(name), server, token)
    typer.echo(f"The monitor {name} is deleted; its records are kept.")


@app.command()
def plan(
    file: File,
    effect: Annotated[
        float, typer.Option(help="The gap to be found: in the feature's units, or in log odds.")
    ],
    feature: Annotated[
        str | None, typer.Option(help="Plan for this one alone: extractor.feature.")
    ] = None,
    sd: Annotated[
        float | None,
        typer.Option(help="Of a set's gap, or of values within a group; a quarter of the range."),
    ] = None,
    level: Annotated[
        float | None,
        typer.Option(help="The second group's mean or share selected; the middle, or a half."),
    ] = None,
    binary: Annotated[
        bool,
        typer.Option(
            "--binary", help="Answers are 0 or 1 (low or high): the level tells the deviation."
        ),
    ] = False,
    missing: Annotated[
        float,
        typer.Option(help="Share of all answers that will be missing, such as refusals: 0.02."),
    ] = 0.0,
    spread: Annotated[
        float,
        typer.Option(help="Deviation of sets' log odds, where selections are compared: 1 or 2."),
    ] = 0.0,
    new_users: Annotated[
        int | None,
        typer.Option(min=1, help="Users of both groups whom a window of traffic brings."),
    ] = None,
    first_share: Annotated[
        float | None, typer.Option(help="The first group's share of these users; a half.")
    ] = None,
    strata: Annotated[
        int | None, typer.Option(min=1, help="Strata that these users are spread over; one.")
    ] = None,
    answer_tokens: Annotated[
        int | None, typer.Option(min=1, help="Tokens of one answer; 200.")
    ] = None,
    price_read: Annotated[
        float | None, typer.Option(help="Price of a million tokens read.")
    ] = None,
    price_written: Annotated[float | None, typer.Option(help="... written.")] = None,
    as_json: Json = False,
) -> None:
    """Say how long a monitor needs to find a gap: units, rounds, tokens, money."""
    # The mathematics is slow to load.
    from biaswatch.planning.monitor_assumptions import Assumptions
    from biaswatch.planning.monitors import explained, planned
    from biaswatch.shared.analysis.monitors.plans import AskedSets, plan_of, upkeep_of

    asked, suite = load_monitor(file)
    sets = AskedSets.of_suite(suite) if suite else None
    prices = (price_read, price_written)
    users = (new_users, binary, missing, spread, first_share, strata)
    assumed = Assumptions(effect, sd, level, feature, answer_tokens, prices, *users)
    plan = plan_of(asked, sets)
    rows = planned(plan, upkeep_of(asked), suite, assumed)
    if not as_json:
        titles = comparison_titles(plan)
        rows = [{**row, "comparison": titles[str(row["comparison"])]} for row in rows]
    said = explained(rows, traffic=suite is None)
    print_rows(rows, said, as_json=as_json, always=("units",), left_out=("effect", "why"))
