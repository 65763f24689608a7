"""The questions of a run, and cursors that record how far they were published."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice, product

from sqlalchemy import ColumnElement, Connection, Engine, Table, and_, delete, select, update

from biaswatch.shared.contracts import (
    Probe,
    Run,
    SuiteOutline,
    SuiteProbe,
    Target,
    drawn_sets,
    probe_of,
)
from biaswatch.shared.store.engine import (
    MOST_PARAMETERS,
    insert_new,
    read_transaction,
    upsert,
    write_transaction,
)
from biaswatch.shared.store.run_tables import PLANNING_CURSORS
from biaswatch.shared.store.suites import Suites


class PlannedProbes:
    """What a run asks, in the order of `probes_of`, without the suite in memory."""

    def __init__(
        self, suites: Suites, outline: SuiteOutline, run: Run, asked: Sequence[int] | None = None
    ) -> None:
        """Put the plan together; `asked` are positions of the suite, the run's unless given."""
        self._suites = suites
        self._outline = outline
        self._run = run
        self._asked = _asked(suites, outline, run) if asked is None else asked
        self._few: list[tuple[int, SuiteProbe]] | None = None

    @property
    def suite_hash(self) -> str:
        """Return the hash of the suite that the questions are of."""
        return self._outline.hash

    @property
    def strata(self) -> tuple[str, ...]:
        """The facts of questions within which the suite compares."""
        return self._outline.header.strata

    @property
    def questions(self) -> int:
        """Return how many questions the run asks, each counted once."""
        return len(self._asked)

    def amount(self, targets: int, scaffolds: int | None = None) -> int:
        """Return how many probes so many targets and scaffolds of the run are asked."""
        ways = len(self._run.scaffolds) if scaffolds is None else scaffolds
        return self.questions * targets * ways * self._run.repeats

    def narrowed(self, fits: Callable[[SuiteProbe], bool]) -> "PlannedProbes":
        """Return the part of the plan whose questions fit; every question is looked at once."""
        fitting = array("q", (place for place, item in self.items() if fits(item)))
        return PlannedProbes(self._suites, self._outline, self._run, fitting)

    def of_sets(self, names: Collection[str]) -> "PlannedProbes":
        """Return the part of the plan that may be of a set: no other question is looked at."""
        return self._at(self._suites.positions_of_sets(self._outline.hash, names))

    def of_groups(self, numbers: Collection[int]) -> "PlannedProbes":
        """Return the part of the plan about some of the suite's groups; no question is read."""
        return self._at(self._suites.positions_of_groups(self._outline.hash, numbers))

    def at_positions(self, asked: Sequence[int]) -> "PlannedProbes":
        """Return the part of the plan at some of its positions, which are asked and in order."""
        return PlannedProbes(self._suites, self._outline, self._run, asked)

    def _at(self, positions: Iterable[int]) -> "PlannedProbes":
        every = isinstance(self._asked, range)
        asked: Collection[int] = self._asked if every else set(self._asked)
        mine = array("q", (place for place in positions if place in asked))
        return PlannedProbes(self._suites, self._outline, self._run, mine)

    def read(
        self,
        at: datetime,
        *,
        first: int = 0,
        targets: Sequence[Target] | None = None,
        scaffolds: Sequence[str] | None = None,
    ) -> Iterator[Probe]:
        """Return the probes of all or some targets and scaffolds, from the `first` on, from 0."""
        run, header = self._run, self._outline.header
        asked = run.targets if targets is None else targets
        ways = run.scaffolds if scaffolds is None else scaffolds
        skipped, offset = divmod(first, max(1, len(self._asked)))
        for repeat, target, scaffold in islice(
            product(range(run.repeats), asked, ways), skipped, None
        ):
            for place, item in self.items(offset):
                yield probe_of(run, header, item, target, scaffold, repeat, at, position=place)
            offset = 0

    def items(self, first: int = 0) -> Iterator[tuple[int, SuiteProbe]]:
        """Return what is asked from some question on, each with its position in the suite.

        A small suite is read once.
        """
        if len(self._asked) <= MOST_PARAMETERS:
            if self._few is None:
                self._few = self._read(self._asked)
            yield from self._few[first:]
            return
        for start in range(first, len(self._asked), MOST_PARAMETERS):
            yield from self._read(self._asked[start : start + MOST_PARAMETERS])

    def ends(self, most: int) -> list[tuple[int, SuiteProbe]]:
        """Return the first and the last so many questions, each once; no other is read."""
        first, last = self._asked[:most], self._asked[max(most, len(self._asked) - most) :]
        return self._read([*first, *last])

    def _read(self, positions: Sequence[int]) -> list[tuple[int, SuiteProbe]]:
        items = self._suites.probes(self._outline.hash, positions)
        return list(zip(positions, items, strict=True))


def _asked(suites: Suites, outline: SuiteOutline, run: Run) -> Sequence[int]:
    """Return the positions of what a run asks: all, or the sets that fall to this round."""
    if run.sets is None:
        return range(outline.probes)
    drawn = drawn_sets(run, (name for _, name in suites.sets(outline.hash)))
    return array("q", (n for n, name in suites.sets(outline.hash) if name in drawn))


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
