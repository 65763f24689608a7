"""Planning without a bus: what would be published is returned."""

import asyncio

from biaswatch.services.planner.handlers.runs import RunPlanner
from biaswatch.shared.contracts import Record, Run
from biaswatch.shared.store import Store


def planned(store: Store, plans: RunPlanner, run: Run) -> list[Record]:
    """Plan a run, and go through all that is to be gone through."""
    asyncio.run(plans.plan(run))
    return gone_through(store, plans)


def gone_through(store: Store, plans: RunPlanner) -> list[Record]:
    """Move every pass to its end."""
    records: list[Record] = []
    while cursors := store.planning_cursors.unfinished():
        for cursor in cursors:
            part = plans.planning.prepare(cursor)
            records += part.records if part else ()
            plans.planning.settle(cursor, part)
    return records
