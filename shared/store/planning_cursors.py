"""How far lists of a run have been gone through: what it asks by lane, its pairs to be judged."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass

from sqlalchemy import ColumnElement, Connection, Engine, Table, and_, delete, select, update

from biaswatch.shared.store.engine import insert_new, read_transaction, upsert, write_transaction
from biaswatch.shared.store.run_tables import PLANNING_CURSORS


@dataclass(frozen=True)
class PlanningCursor:
    """One pass through a list of a run: each part of it is expected, then published.

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

    def __init__(self, engine: Engine, table: Table = PLANNING_CURSORS) -> None:
        self._engine = engine
        self._table = table

    def unfinished(self) -> list[PlanningCursor]:
        """Return every pass that is not at its end, in the order of runs and lanes."""
        table = self._table.c
        query = select(self._table).order_by(table.publication, table.run_id, table.lane)
        with read_transaction(self._engine) as connection:
            return [PlanningCursor(**row) for row in connection.execute(query).mappings()]

    def begin(self, cursors: Iterable[PlanningCursor]) -> int:
        """Begin passes, but none where one is under way; return how many."""
        with write_transaction(self._engine) as connection:
            return len(insert_new(connection, self._table, [asdict(c) for c in cursors]))

    def renew(self, cursor: PlanningCursor) -> None:
        """Begin a pass; one that is under way begins anew where its number is lower."""
        row = asdict(cursor)
        with write_transaction(self._engine) as connection:
            statement = upsert(connection, self._table).values(row)
            connection.execute(
                statement.on_conflict_do_update(
                    index_elements=["run_id", "lane"],
                    set_=row,
                    where=self._table.c.publication < cursor.publication,
                )
            )

    def settle(self, cursor: PlanningCursor, reached: str | None) -> None:
        """Move a pass on, or end it, unless another process has, or another pass has its place."""
        mine = self._still(cursor)
        with write_transaction(self._engine) as connection:
            if reached is None:
                connection.execute(delete(self._table).where(mine))
            else:
                connection.execute(update(self._table).where(mine).values(reached=reached))

    def _still(self, cursor: PlanningCursor) -> ColumnElement[bool]:
        table = self._table.c
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
