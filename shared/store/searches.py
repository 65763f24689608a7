"""Searches: budgets, states and closed rounds; updates name the state they start from."""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import ColumnElement, Row, func, or_, select, update

from biaswatch.shared.contracts.run import Run
from biaswatch.shared.contracts.search import Search, SearchRound
from biaswatch.shared.store.database import Database, insert_new
from biaswatch.shared.store.monitoring_tables import SEARCH_ROUNDS, SEARCHES

CACHED_PLANS = 64
"""Plans that are kept decoded; a space has up to a mebibyte."""
COLUMNS = SEARCHES.c
WITHOUT_BODY = [column for column in COLUMNS if column.name != "body"]


class SearchPhase(StrEnum):
    """The state of a search."""

    ACTIVE = "active"
    ENDED = "ended"
    """The rest of its budget cannot find anything more; a larger budget continues it."""
    STOPPED = "stopped"
    """A person or an error ended it; the same request continues it."""


@dataclass(frozen=True)
class StoredSearch:
    """A search and the state of its rounds."""

    id: str
    tenant: str
    at: datetime
    space: str
    """The name of the space."""
    target: str
    """The name of the target."""
    calls: int
    """The current budget."""
    closed_calls: int
    """Calls of closed rounds."""
    missing: int
    """Calls of closed rounds without a measured answer."""
    state: SearchPhase
    why: str | None
    """Why it waits, has ended or was stopped."""
    next_round: int
    """The next round, which is the number of closed rounds."""
    run: Run | None
    """The run of the round under way."""
    planned_calls: int | None
    """The budget with which that round was planned."""


@dataclass(eq=False)
class Searches:
    """Reads and moves searches; of two processes that move one, one succeeds."""

    db: Database
    _plans: dict[tuple[str, int], Search] = field(default_factory=dict)
    """Plans by search and budget; no other part of a plan changes."""

    def start(self, search: Search) -> StoredSearch:
        """Start a search, continue a stopped one, or raise the budget of an existing one."""
        row = {
            "id": search.id,
            "tenant": search.tenant,
            "at": search.at,
            "space": search.space.name,
            "target": search.target.name,
            "body": search.model_dump_json(exclude={"id"}),
            "calls": search.calls,
            "state": SearchPhase.ACTIVE.value,
            **dict.fromkeys(("asked", "missing", "next_round"), 0),
        }
        active = {"state": SearchPhase.ACTIVE.value, "why": None}
        with self.db.writing() as connection:
            insert_new(connection, SEARCHES, [row])
            same = COLUMNS.id == search.id
            stopped = COLUMNS.state == SearchPhase.STOPPED.value
            continued = or_(COLUMNS.calls < search.calls, stopped)
            connection.execute(update(SEARCHES).where(same, continued).values(active))
            larger = update(SEARCHES).where(same, COLUMNS.calls < search.calls)
            connection.execute(larger.values(calls=search.calls))
        return self._stored(search.id)

    def stop(self, id_: str, why: str) -> bool:
        """Stop a search; return False if it is not active. Its round under way still closes."""
        active = (COLUMNS.id == id_, COLUMNS.state == SearchPhase.ACTIVE.value)
        values = {"state": SearchPhase.STOPPED.value, "why": why}
        return self.db.execute(update(SEARCHES).where(*active).values(values)) == 1

    def wait(self, stored: StoredSearch, why: str | None) -> None:
        """Note why an active search waits, or that it does not."""
        if why != stored.why:
            self._move(stored, why=why)

    def begin(self, stored: StoredSearch, run: Run) -> bool:
        """Begin the next round; return False if another process has moved the search."""
        body = run.model_dump_json(exclude={"id"})
        unchanged = COLUMNS.calls == stored.calls
        return self._move(stored, unchanged, run=body, planned_calls=stored.calls, why=None)

    def end(self, stored: StoredSearch, why: str, state: SearchPhase = SearchPhase.ENDED) -> bool:
        """End a search; return False if another process has moved it or raised its budget."""
        return self._move(stored, COLUMNS.calls == stored.calls, state=state.value, why=why)

    def close(self, stored: StoredSearch, round_: SearchRound) -> bool:
        """Keep the answers of the round under way; return False if another process has."""
        if stored.run is None or round_.number != stored.next_round:
            raise ValueError(f"The search {stored.id} has no round {round_.number} under way.")
        row = {
            "search_id": stored.id,
            "number": round_.number,
            "body": round_.model_dump_json(exclude={"id"}),
        }
        # A request for scenarios is one call.
        answers = [value for set_ in round_.sets for value in set_.values] or [0.0]
        closed = (COLUMNS.id == stored.id, COLUMNS.next_round == stored.next_round)
        values = {
            "asked": stored.closed_calls + len(answers),
            "missing": stored.missing + answers.count(None),
            "next_round": stored.next_round + 1,
            "run": None,
            "planned_calls": None,
        }
        with self.db.writing() as connection:
            if connection.execute(update(SEARCHES).where(*closed).values(values)).rowcount != 1:
                return False
            insert_new(connection, SEARCH_ROUNDS, [row])
        return True

    def under_way(self) -> list[StoredSearch]:
        """Return active searches, and stopped ones whose last round is not closed."""
        active = COLUMNS.state == SearchPhase.ACTIVE.value
        query = select(*WITHOUT_BODY).where(or_(active, COLUMNS.run.is_not(None)))
        return [_stored(row) for row in self.db.rows(query.order_by(COLUMNS.at, COLUMNS.id))]

    def count_active(self) -> int:
        """Count the active searches of the scope."""
        active = COLUMNS.state == SearchPhase.ACTIVE.value
        query = select(func.count()).select_from(SEARCHES)
        return int(self.db.scalar(query.where(active, *self.db.visible(SEARCHES))) or 0)

    def latest(self, last: int, begins: str = "") -> list[StoredSearch]:
        """Return the latest searches of the scope whose ids begin so, newest first."""
        query = select(*WITHOUT_BODY).where(*self.db.visible(SEARCHES))
        query = query.where(COLUMNS.id.startswith(begins, autoescape=True))
        query = query.order_by(COLUMNS.at.desc(), COLUMNS.id).limit(last)
        return [_stored(row) for row in self.db.rows(query)]

    def get(self, id_: str) -> StoredSearch | None:
        """Return a search of the scope, or None."""
        query = select(*WITHOUT_BODY).where(COLUMNS.id == id_, *self.db.visible(SEARCHES))
        rows = self.db.rows(query)
        return _stored(rows[0]) if rows else None

    def plan(self, stored: StoredSearch, calls: int | None = None) -> Search:
        """Return the plan of a search, with its budget or that of an earlier moment."""
        key = stored.id, calls or stored.calls
        if key not in self._plans:
            if len(self._plans) >= CACHED_PLANS:
                self._plans.clear()
            body = self.db.scalar(select(COLUMNS.body).where(COLUMNS.id == stored.id))
            search = Search.model_validate_json(body)
            self._plans[key] = search.model_copy(update={"calls": key[1]})
        return self._plans[key]

    def rounds(self, stored: StoredSearch, first: int = 0) -> list[SearchRound]:
        """Return the closed rounds of a search, in order, from one on."""
        columns = SEARCH_ROUNDS.c
        query = select(columns.body).where(columns.search_id == stored.id)
        # A round that closed since `stored` was read belongs to a later state.
        query = query.where(columns.number >= first, columns.number < stored.next_round)
        query = query.order_by(columns.number)
        return [SearchRound.model_validate_json(body) for body in self.db.scalars(query)]

    def _stored(self, id_: str) -> StoredSearch:
        [row] = self.db.rows(select(*WITHOUT_BODY).where(COLUMNS.id == id_))
        return _stored(row)

    def _move(
        self, stored: StoredSearch, *conditions: ColumnElement[bool], **values: object
    ) -> bool:
        """Change an active search between two rounds, unless another process moved it."""
        unmoved = (
            COLUMNS.id == stored.id,
            COLUMNS.state == SearchPhase.ACTIVE.value,
            COLUMNS.next_round == stored.next_round,
            COLUMNS.run.is_(None),
            *conditions,
        )
        return self.db.execute(update(SEARCHES).where(*unmoved).values(**values)) == 1


def _stored(row: Row[tuple[Any, ...]]) -> StoredSearch:
    return StoredSearch(
        id=row.id,
        tenant=row.tenant,
        at=row.at,
        space=row.space,
        target=row.target,
        calls=row.calls,
        closed_calls=row.asked,
        missing=row.missing,
        state=SearchPhase(row.state),
        why=row.why,
        next_round=row.next_round,
        run=Run.model_validate_json(row.run) if row.run else None,
        planned_calls=row.planned_calls,
    )
