"""The verbs for dead letters, which are records that failed: list, replay, discard."""

import asyncio
import json
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer
from rich.console import Console

from biaswatch.cli.admin.audit import operator_act, write_acts
from biaswatch.cli.options import Json
from biaswatch.local.connections import bus_connection, bus_url
from biaswatch.render.terminal import print_table, terminal_table
from biaswatch.shared.bus.dead_letters import DeadLetter, dead_letters, discard, replay
from biaswatch.shared.bus.jetstream import Admin, JetStreamPublisher
from biaswatch.shared.contracts import AuditAction
from biaswatch.shared.errors import UsageError
from biaswatch.shared.runtime.settings import Settings, load_settings
from biaswatch.shared.store import Store

app = typer.Typer(
    name="dead-letters",
    help="Records that could not be processed: list, replay, discard.",
    no_args_is_help=True,
)

Numbers = Annotated[list[str] | None, typer.Argument(help="Their numbers, from `list`.")]
Every = Annotated[bool, typer.Option("--all", help="All dead letters, or all of --durable.")]
Durable = Annotated[str | None, typer.Option(help="Only dead letters of this durable.")]


@dataclass(frozen=True)
class OperatorBus:
    """An operator's connection."""

    admin: Admin
    publisher: JetStreamPublisher
    settings: Settings


@app.command("list")
def list_dead(durable: Durable = None, as_json: Json = False) -> None:
    """List dead letters, with their durables and reasons."""
    letters: list[DeadLetter] = []

    async def work(bus: OperatorBus) -> None:
        letters.extend([letter async for letter in dead_letters(bus.admin, durable=durable)])

    _on_the_bus(work)
    if as_json:
        typer.echo(json.dumps([_as_dict(letter) for letter in letters], indent=2))
        return
    if not letters:
        typer.echo("There are no dead letters.")
        return
    rows = (  # reasons are untrusted; as plain text they cannot add colours or links
        (
            letter.name, f"{letter.at:%Y-%m-%d %H:%M:%S}", letter.durable, str(letter.attempts),
            letter.reason,
        )
        for letter in letters
    )  # fmt: skip
    head = ("number", "at", "durable", "attempts", "reason")
    print_table(Console(), terminal_table(head, rows))


@app.command("replay")
def replay_dead(numbers: Numbers = None, every: Every = False, durable: Durable = None) -> None:
    """Publish records again to their streams, to be processed again."""
    _apply(
        numbers,
        every,
        durable,
        AuditAction.DEAD_LETTER_REPLAY,
        lambda bus, letter: replay(letter, bus.admin, bus.publisher),
        # With --all, dead letters that cannot be replayed are left.
        leave=lambda letter: every and letter.foreign,
    )


@app.command("discard")
def discard_dead(numbers: Numbers = None, every: Every = False, durable: Durable = None) -> None:
    """Remove dead letters for good."""
    action = AuditAction.DEAD_LETTER_DISCARD
    _apply(numbers, every, durable, action, lambda bus, letter: discard(letter, bus.admin))


def _apply(
    numbers: list[str] | None,
    every: bool,
    durable: str | None,
    action: AuditAction,
    act: Callable[[OperatorBus, DeadLetter], Coroutine[Any, Any, None]],
    leave: Callable[[DeadLetter], bool] = lambda _: False,
) -> None:
    """Apply an action to the chosen letters, or to none if one of them does not exist."""
    if bool(numbers) == every:
        raise UsageError("Name the dead letters by number, or use --all, but not both.")
    wanted = set(numbers or ())
    done: list[str] = []
    left: list[str] = []

    async def work(bus: OperatorBus) -> None:
        letters = [letter async for letter in dead_letters(bus.admin, durable=durable)]
        if unknown := wanted - {letter.name for letter in letters}:
            listed = ", ".join(sorted(unknown))
            raise UsageError(
                f"There is no dead letter {listed}. `admin dead-letters list` lists them."
            )
        chosen = [letter for letter in letters if every or letter.name in wanted]
        left.extend(letter.name for letter in chosen if leave(letter))
        chosen = [letter for letter in chosen if letter.name not in left]
        await _audit(bus, action, chosen)
        for letter in chosen:
            await act(bus, letter)
            done.append(letter.name)

    _on_the_bus(work)
    stayed = ", ".join(left)
    typer.echo(
        f"Done: {len(done)} of the dead letters."
        + (
            f" {stayed} did not come from a service and cannot be replayed; `discard` removes them."
            * bool(left)
        )
    )


async def _audit(bus: OperatorBus, action: AuditAction, chosen: Sequence[DeadLetter]) -> None:
    """Record the action on each letter before it is performed."""
    acts = [
        operator_act(action, letter.name, durable=letter.durable, record=letter.message_id)
        for letter in chosen
    ]
    if acts:
        with Store.open(bus.settings.store) as store:
            await write_acts(bus.settings, store, bus.publisher, acts)


def _on_the_bus(work: Callable[[OperatorBus], Coroutine[Any, Any, None]]) -> None:
    settings = load_settings(Settings)

    async def run(url: str) -> None:
        async with bus_connection(settings, url) as connection:
            await work(OperatorBus(Admin(connection), JetStreamPublisher(connection), settings))

    with bus_url(settings) as url:
        asyncio.run(run(url))


def _as_dict(letter: DeadLetter) -> dict[str, object]:
    """Return the fields of a letter, without its bytes, which may hold texts of users."""
    shown = (
        "name",
        "stream",
        "number",
        "at",
        "durable",
        "subject",
        "attempts",
        "error",
        "reason",
        "message_id",
    )
    fields = {name: getattr(letter, name) for name in shown}
    return {**fields, "at": letter.at.isoformat(), "bytes": len(letter.data)}
