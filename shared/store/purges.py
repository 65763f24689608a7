"""Purging: texts are removed for good, numbers remain, and no late copy brings a text back."""

from dataclasses import dataclass
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, Engine, delete, select, update

from shared.contracts import Record
from shared.store.engine import reading, writing
from shared.store.keyed import insert_new
from shared.store.tables import CALLS, PURGES, TEXTS

RUN, UNIT, BEFORE = "run", "unit", "before"


@dataclass(frozen=True)
class Purged:
    """What has been purged so far."""

    runs: frozenset[str]
    units: frozenset[str]
    before: datetime

    def covers(self, record: Record) -> bool:
        """Tell whether the record's texts must not be kept."""
        return record.run in self.runs or record.unit in self.units or record.at < self.before


def purged(connection: Connection) -> Purged:
    """Read what has been purged so far."""
    rows = connection.execute(select(PURGES.c.scope, PURGES.c.key)).all()
    keys = {scope: frozenset(r.key for r in rows if r.scope == scope) for scope in (RUN, UNIT)}
    moments = [datetime.fromisoformat(row.key) for row in rows if row.scope == BEFORE]
    return Purged(keys[RUN], keys[UNIT], max(moments, default=datetime.min.replace(tzinfo=UTC)))


class Purges:
    """Removes texts by run, by unit, or by age; each gives how many texts were removed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def run(self, run_id: str, now: datetime) -> int:
        """Remove the texts of a run."""
        return self._purge(RUN, run_id, TEXTS.c.run_id == run_id, CALLS.c.run_id == run_id, now)

    def unit(self, unit_id: str, now: datetime) -> int:
        """Remove the texts of a unit of analysis: a prompt, a user, a conversation."""
        return self._purge(
            UNIT, unit_id, TEXTS.c.unit_id == unit_id, CALLS.c.unit_id == unit_id, now
        )

    def before(self, moment: datetime, now: datetime) -> int:
        """Remove the texts of records made before a moment."""
        key = moment.astimezone(UTC).isoformat()
        return self._purge(BEFORE, key, TEXTS.c.at < moment, CALLS.c.at < moment, now)

    def so_far(self) -> Purged:
        """Return all that has been purged."""
        with reading(self._engine) as connection:
            return purged(connection)

    def _purge(
        self,
        scope: str,
        key: str,
        texts: ColumnElement[bool],
        calls: ColumnElement[bool],
        now: datetime,
    ) -> int:
        with writing(self._engine) as connection:
            insert_new(connection, PURGES, [{"scope": scope, "key": key, "at": now}])
            connection.execute(update(CALLS).where(calls).values(answer=None))
            return connection.execute(delete(TEXTS).where(texts)).rowcount
