"""How far a run's list of what is asked has been gone through, lane by lane."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from sqlalchemy import ColumnElement, Connection, Engine, and_, delete, select, update

from shared.store.engine import insert_new, read_transaction, upsert, write_transaction
from shared.store.run_tables import PLANNING_CURSORS


@dataclass(frozen=True)
class PlanningCursor:
    """One pass through what a run asks in one lane: each part of it is expected, then published.

    A pass is moved on when a part is on the bus, so that whoever goes on after a death publishes
    that part again, under the same number, which the bus drops.
    """

    run_id: str
    lane: str
    publication: int
    """The number of this pass; another pass publishes the same records anew."""
    repair: bool = False
    """Whether answers are published again that were not measured."""
    reached: str = ""
    """What was published last; empty at the beginning."""


class PlanningCursors:
    """The passes that are not at their end; any process may move one on."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def unfinished(self) -> list[PlanningCursor]:
        """Return every pass that is not at its end, in the order of runs and lanes."""
        table = PLANNING_CURSORS.c
        query = select(PLANNING_CURSORS).order_by(table.publication, table.run_id, table.lane)
        with read_transaction(self._engine) as connection:
            return [PlanningCursor(**row) for row in connection.execute(query).mappings()]

    def begin(self, cursors: Iterable[PlanningCursor]) -> int:
        """Begin passes, but none where one is under way; return how many."""
        with write_transaction(self._engine) as connection:
            return len(insert_new(connection, PLANNING_CURSORS, [asdict(c) for c in cursors]))

    def move(self, cursor: PlanningCursor, reached: str) -> None:
        """Move a pass on, unless another process has, or another pass has taken its place."""
        with write_transaction(self._engine) as connection:
            moved = update(PLANNING_CURSORS).where(_still(cursor)).values(reached=reached)
            connection.execute(moved)

    def end(self, cursor: PlanningCursor) -> None:
        """End a pass, unless another process has moved it on."""
        with write_transaction(self._engine) as connection:
            connection.execute(delete(PLANNING_CURSORS).where(_still(cursor)))


def _still(cursor: PlanningCursor) -> ColumnElement[bool]:
    table = PLANNING_CURSORS.c
    return and_(
        table.run_id == cursor.run_id,
        table.lane == cursor.lane,
        table.publication == cursor.publication,
        table.reached == cursor.reached,
    )


def restart(connection: Connection, cursors: Iterable[PlanningCursor]) -> None:
    """Begin passes in a transaction; one that is under way begins anew."""
    for cursor in cursors:
        row = asdict(cursor)
        statement = upsert(connection, PLANNING_CURSORS).values(row)
        connection.execute(
            statement.on_conflict_do_update(index_elements=["run_id", "lane"], set_=row)
        )
