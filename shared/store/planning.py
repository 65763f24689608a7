"""The probes of a run, and cursors that record how far they were published."""

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from itertools import islice, product

from sqlalchemy import Connection, Table, delete, select, update

from biaswatch.shared.contracts import (
    Probe,
    Run,
    SuiteOutline,
    SuiteProbe,
    Target,
    drawn_sets,
    probe_of,
)
from biaswatch.shared.store.database import MAX_KEYS, Database, upsert
from biaswatch.shared.store.run_tables import PLANNING_CURSORS
from biaswatch.shared.store.suites import Suites


class PlannedProbes:
    """The probes of a run in the order of `probes_of`, read from its suite page by page."""

    def __init__(
        self,
        suites: Suites,
        outline: SuiteOutline,
        run: Run,
        positions: Sequence[int] | None = None,
    ) -> None:
        """Plan these positions of the suite, by default those of the run."""
        self._suites = suites
        self._outline = outline
        self._run = run
        self._positions = _positions(suites, outline, run) if positions is None else positions
        self._small_suite: list[tuple[int, SuiteProbe]] | None = None

    @property
    def suite_hash(self) -> str:
        """Hash of the suite."""
        return self._outline.hash

    @property
    def strata(self) -> tuple[str, ...]:
        """Facts of questions within which the suite compares."""
        return self._outline.header.strata

    @property
    def questions(self) -> int:
        """Number of questions, each counted once."""
        return len(self._positions)

    def amount(self, targets: int, scaffolds: int | None = None) -> int:
        """Return the number of probes for a number of targets and scaffolds."""
        scaffolds = len(self._run.scaffolds) if scaffolds is None else scaffolds
        return self.questions * targets * scaffolds * self._run.repeats

    def narrowed(self, fits: Callable[[SuiteProbe], bool]) -> "PlannedProbes":
        """Return the part of the plan whose questions fit; reads every question once."""
        return self.at_positions(array("q", (n for n, probe in self.items() if fits(probe))))

    def of_sets(self, names: Collection[str]) -> "PlannedProbes":
        """Return the part of the plan in some sets, without reading questions."""
        return self._subset(self._suites.positions_of_sets(self._outline.hash, names))

    def of_groups(self, numbers: Collection[int]) -> "PlannedProbes":
        """Return the part of the plan about some groups of the suite, without reading questions."""
        return self._subset(self._suites.positions_of_groups(self._outline.hash, numbers))

    def at_positions(self, positions: Sequence[int]) -> "PlannedProbes":
        """Return the part of the plan at some of its positions, which are in order."""
        return PlannedProbes(self._suites, self._outline, self._run, positions)

    def _subset(self, positions: Iterable[int]) -> "PlannedProbes":
        is_range = isinstance(self._positions, range)
        planned: Collection[int] = self._positions if is_range else set(self._positions)
        return self.at_positions(array("q", (n for n in positions if n in planned)))

    def read(
        self,
        at: datetime,
        *,
        first: int = 0,
        targets: Sequence[Target] | None = None,
        scaffolds: Sequence[str] | None = None,
    ) -> Iterator[Probe]:
        """Return the probes of all or some targets and scaffolds, from number `first` on."""
        run, header = self._run, self._outline.header
        targets = run.targets if targets is None else targets
        scaffolds = run.scaffolds if scaffolds is None else scaffolds
        skipped, offset = divmod(first, max(1, len(self._positions)))
        for repeat, target, scaffold in islice(
            product(range(run.repeats), targets, scaffolds), skipped, None
        ):
            for position, probe in self.items(offset):
                yield probe_of(run, header, probe, target, scaffold, repeat, at, position=position)
            offset = 0

    def items(self, first: int = 0) -> Iterator[tuple[int, SuiteProbe]]:
        """Return the questions from number `first` on, with their positions in the suite.

        A small suite is read once and kept.
        """
        if len(self._positions) <= MAX_KEYS:
            if self._small_suite is None:
                self._small_suite = self._read(self._positions)
            yield from self._small_suite[first:]
            return
        for start in range(first, len(self._positions), MAX_KEYS):
            yield from self._read(self._positions[start : start + MAX_KEYS])

    def ends(self, limit: int) -> list[tuple[int, SuiteProbe]]:
        """Return the first and the last questions, each once, without reading others."""
        positions = self._positions
        last = positions[max(limit, len(positions) - limit) :]
        return self._read([*positions[:limit], *last])

    def _read(self, positions: Sequence[int]) -> list[tuple[int, SuiteProbe]]:
        probes = self._suites.probes(self._outline.hash, positions)
        return list(zip(positions, probes, strict=True))


def _positions(suites: Suites, outline: SuiteOutline, run: Run) -> Sequence[int]:
    """Return the positions of a run's questions: all, or the sets drawn for its round."""
    if run.sets is None:
        return range(outline.probes)
    drawn = drawn_sets(run, (name for _, name in suites.sets(outline.hash)))
    return array("q", (n for n, name in suites.sets(outline.hash) if name in drawn))


@dataclass(frozen=True)
class PlanningCursor:
    """One pass through a list of a run: each part is expected, then published.

    The cursor moves on once a part is on the bus. After a crash that part is published again under
    the same number, which the bus drops.
    """

    run_id: str
    lane: str
    publication: int
    """Number of this pass; another pass publishes the same records anew."""
    repair: bool = False
    """True to publish answers without measurements again."""
    reached: str = ""
    """The last published item; empty at the start."""


@dataclass(eq=False)
class PlanningCursors:
    """The unfinished passes; any process may move one on."""

    db: Database
    table: Table = PLANNING_CURSORS

    def unfinished(self) -> list[PlanningCursor]:
        """Return every unfinished pass, in the order of publications, runs and lanes."""
        columns = self.table.c
        query = select(self.table).order_by(columns.publication, columns.run_id, columns.lane)
        return [PlanningCursor(**row._asdict()) for row in self.db.rows(query)]

    def begin(self, cursors: Iterable[PlanningCursor]) -> int:
        """Begin passes where none is in progress; return how many."""
        return len(self.db.insert_new(self.table, [asdict(cursor) for cursor in cursors]))

    def renew(self, cursor: PlanningCursor) -> None:
        """Begin a pass; a pass in progress restarts if its number is lower."""
        earlier = self.table.c.publication < cursor.publication
        self.db.upsert(self.table, [asdict(cursor)], where=earlier)

    def settle(self, cursor: PlanningCursor, reached: str | None) -> None:
        """Move a pass on, or end it, unless another process or a later pass has."""
        columns = self.table.c
        unchanged = (
            columns.run_id == cursor.run_id,
            columns.lane == cursor.lane,
            columns.publication == cursor.publication,
            columns.reached == cursor.reached,
        )
        if reached is None:
            self.db.execute(delete(self.table).where(*unchanged))
        else:
            self.db.execute(update(self.table).where(*unchanged).values(reached=reached))


def restart(connection: Connection, cursors: Iterable[PlanningCursor]) -> None:
    """Begin passes in a transaction; those in progress restart."""
    for cursor in cursors:
        connection.execute(upsert(connection, PLANNING_CURSORS), asdict(cursor))
