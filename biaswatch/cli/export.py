"""The verb `export`: answers, groups and measurements as a file that other tools read."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress

from biaswatch.cli.options import Server, Token
from biaswatch.exporting.answers import (
    Row,
    exported_rows,
    in_store,
    runs_named,
    write_rows,
    writer_of,
)
from biaswatch.local.connections import connected


def export(
    source: Annotated[
        str, typer.Argument(metavar="RUN | MONITOR | SOURCE", help="What is exported.")
    ],
    output: Annotated[Path, typer.Option("-o", help="A .parquet, .csv or .jsonl file.")],
    since: Annotated[
        datetime | None, typer.Option(help="Of a monitor or live system, from then on (UTC).")
    ] = None,
    server: Server = None,
    token: Token = None,
) -> None:
    """Write every answer with its groups, facts, baselines and measurements to a file."""
    writer_of(output)  # a wrong ending is told before anything is read
    begin = since if since is None or since.tzinfo else since.replace(tzinfo=UTC)
    count = asyncio.run(_export(source, output, begin, server, token))
    typer.echo(f"Wrote {count} answers to {output}.", err=True)


async def _export(
    source: str, output: Path, since: datetime | None, server: str | None, token: str | None
) -> int:
    async with connected(server, token, with_models=False) as client:
        runs, left_out = in_store(await runs_named(client, source, since))
        if left_out:
            typer.echo(left_out, err=True)
        with Progress(console=Console(stderr=True), transient=True) as bars:
            task = bars.add_task("exporting", total=None)

            async def counted() -> AsyncIterator[Row]:
                async for row in exported_rows(client, runs):
                    bars.advance(task)
                    yield row

            return await write_rows(counted(), output)
