"""Reads the measured answers of a run from a gateway."""

from collections.abc import Callable

from biaswatch.local.client import GatewayClient
from biaswatch.readers.run_tables import RunTable


async def run_table(
    client: GatewayClient,
    run_id: str,
    begun: Callable[[int], None] = lambda answers: None,
    added: Callable[[], None] = lambda: None,
) -> RunTable:
    """Return every answer that a run asked for, measured or not.

    `begun` is told how many there are, and `added` is called after each.
    """
    table = RunTable(await client.analysis(run_id))
    begun(table.declared.answers)
    async for answer in client.measurements(run_id):
        table.add(answer)
        added()
    return table
