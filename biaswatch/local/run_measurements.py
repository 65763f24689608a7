"""Reads the measured answers of a run from a gateway."""

from collections.abc import Callable

from biaswatch.local.client import GatewayClient
from biaswatch.readers.run_tables import RunTable


async def run_table(
    client: GatewayClient,
    run_id: str,
    total: Callable[[int], None] = lambda answers: None,
    advance: Callable[[], None] = lambda: None,
) -> RunTable:
    """Return every answer that a run asked for, measured or not.

    `total` receives the number of answers, and `advance` is called after each of them.
    """
    table = RunTable(await client.analysis(run_id))
    total(table.declared.answers)
    async for answer in client.measurements(run_id):
        table.add(answer)
        advance()
    return table
