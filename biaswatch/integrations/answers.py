"""Export every answer with its groups, facts, baselines and measurements to a file."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from biaswatch.exporting.answers import (
    Row,
    exported_rows,
    in_store,
    runs_named,
    write_rows,
    writer_of,
)
from biaswatch.integrations.formats import ExportRequest


async def export(request: ExportRequest) -> str:
    """Write the answers to a Parquet, CSV or JSON lines file."""
    output = Path(request.destination)
    writer_of(output)  # refuses an unknown extension before anything is read
    async with request.connect() as client:
        runs, left_out = in_store(await runs_named(client, request.source, request.since))
        if left_out:
            sys.stderr.write(f"{left_out}\n")
        count = await write_rows(_counted(exported_rows(client, runs)), output)
    return f"Wrote {count} answers to {output}."


async def _counted(rows: AsyncIterator[Row]) -> AsyncIterator[Row]:
    """Yield the rows, and show their number on the terminal."""
    with Progress(console=Console(stderr=True), transient=True) as bars:
        task = bars.add_task("exporting", total=None)
        async for row in rows:
            bars.advance(task)
            yield row
