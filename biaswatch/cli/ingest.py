"""`biaswatch ingest`: sends recorded production answers in, for the monitors of their system."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import Progress

from biaswatch.cli.options import Server, Token
from biaswatch.local.connections import connected
from shared.errors import TransientError, UsageError
from shared.files import json_lines, read_text

AT_ONCE = 500


def ingest(
    source: Annotated[str, typer.Argument(help="The live system: `support` for traffic:support.")],
    file: Annotated[Path, typer.Argument(help="JSON Lines, one answer a line, as the API's.")],
    server: Server = None,
    token: Token = None,
) -> None:
    """Send recorded production answers in; sent again, each still counts once."""
    answers = list(answers_in(file))
    if not answers:
        raise UsageError(f"{file} holds no answer.")
    try:
        asyncio.run(_send(source, answers, server, token))
    except KeyboardInterrupt:
        typer.echo("Stopped. The same command again sends all; each still counts once.", err=True)
        raise typer.Exit(TransientError.exit_code) from None
    typer.echo(f"{len(answers)} answers of {source} are taken in.")


async def _send(
    source: str, answers: list[dict[str, Any]], server: str | None, token: str | None
) -> None:
    async with connected(server, token) as client:
        with Progress(console=Console(stderr=True), transient=True) as progress:
            task = progress.add_task("sending", total=len(answers))
            for start in range(0, len(answers), AT_ONCE):
                batch = answers[start : start + AT_ONCE]
                await client.ingest(source, batch)
                progress.advance(task, len(batch))


def answers_in(file: Path) -> Iterator[dict[str, Any]]:
    """Read recorded answers, each an object that says when it was given."""
    for place, answer in json_lines(read_text(file, "answers"), file):
        if not isinstance(answer, dict) or not answer.get("at"):
            # Without it, the second sending of a file would count in another window.
            raise UsageError(f"{place}: an answer is an object that says `at` when.")
        yield answer
