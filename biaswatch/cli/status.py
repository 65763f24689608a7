"""The verb `status`: what alarms, what changed since yesterday, what waits for a person."""

import asyncio
from collections.abc import Iterator
from typing import Annotated

import typer
from rich.console import Console

from biaswatch.cli.options import FOUND_CODE, Json, Server, Token
from biaswatch.local.connections import connected
from biaswatch.render.terminal import print_json, print_sentence, printable
from biaswatch.shared.contracts.completion import PausedTarget
from biaswatch.shared.requests.platform import AlarmLine, DaySpending, PlatformStatus
from biaswatch.shared.requests.run_views import RunProgress

WAITING_CODE = 3
"""Nothing alarms, but something waits for a person."""


def status(server: Server = None, token: Token = None, as_json: Json = False) -> None:
    """Say what alarms, what changed since yesterday, and what waits for a person.

    Ends with 0 where nothing does, 1 where an alarm stands, 3 where something else waits.
    """

    async def work() -> PlatformStatus:
        async with connected(server, token, with_models=False) as client:
            return await client.read(PlatformStatus, "/v1/status")

    found = asyncio.run(work())
    if as_json:
        print_json(found)
    else:
        console = Console(emoji=False)
        for line in lines_of(found):
            said = line.lstrip()
            print_sentence(console, said, bullet=" " * (len(line) - len(said)))
    if code := code_of(found):
        raise typer.Exit(code)


def code_of(found: PlatformStatus) -> int:
    """Return the exit code: alarms come first, then what waits for a person."""
    if found.alarms:
        return FOUND_CODE
    return WAITING_CODE if found.waits else 0


def lines_of(found: PlatformStatus) -> Iterator[str]:
    """Return everything in lines, the most urgent first; what is empty is said in one word."""
    yield f"What alarms: {len(found.alarms) or 'nothing'}"
    yield from map(_alarm, found.alarms)
    waiting = [f"{each.what}: {each.said}" for each in found.troubles]
    waiting += [
        f"monitor overdue: {each.name} should have begun a round at {each.due_at:%Y-%m-%d %H:%M}"
        " UTC."
        for each in found.overdue
    ]
    yield f"What waits for a person: {len(waiting) or 'nothing'}"
    yield from (f"  {each}" for each in waiting)
    changed = len(found.changes) or "nothing"
    yield f"Raised or cleared since {found.at:%H:%M} UTC yesterday: {changed}"
    yield from map(_alarm, found.changes)
    yield f"Runs that ended since then: {len(found.ended) or 'none'}"
    yield from map(_run, found.ended)
    yield f"Runs under way: {len(found.under_way) or 'none'}. Active monitors: {found.monitors}."
    yield from map(_run, found.under_way)
    if found.unwatched:
        sources = ", ".join(f"{name} ({n:,})" for name, n in sorted(found.unwatched.items()))
        yield f"Answers of systems that nobody watches, which are not kept: {sources}."
    yield _spent(found.spending)


def _alarm(each: AlarmLine) -> str:
    return f"  {each.at:%Y-%m-%d %H:%M}  {each.monitor}, {each.what} {each.state}: {each.words}"


def _run(each: RunProgress) -> str:
    targets = ", ".join(each.targets)
    return f"  {each.run_id}  {each.state}  {each.suite}  {targets}  {each.responses}/{each.probes}"


def _spent(day: DaySpending) -> str:
    """Say what the last day cost; judges and rounds of monitors are runs too."""
    cost = "at no known price" if day.cost is None else f"{day.cost:,.2f} by the price table"
    unpriced = f" ({day.unpriced_calls:,} calls have no price there)" if day.unpriced_calls else ""
    spent = f"{day.tokens:,} tokens, {cost}{unpriced}"
    return f"Spent by the {day.runs:,} runs and rounds that began since then: {spent}."


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
