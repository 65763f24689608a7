"""Texts are stored apart from numbers, so that they can be purged for good."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, delete, select, update

from shared.contracts import Record
from shared.store.engine import insert_new, read_transaction, write_transaction
from shared.store.tables import CALLS, PURGES, TEXTS


@cache
def _apart(record: type[Record]) -> frozenset[str]:
    return frozenset({*record.text_fields(), *record.embedded_kinds(), "id"})


def body_of(record: Record) -> str:
    """Return the record's JSON without its texts, its embedded records and its id."""
    return record.model_dump_json(exclude=set(_apart(type(record))), exclude_none=True)


def texts_of(record: Record) -> dict[str, str]:
    """Return the JSON of each text the record has."""
    dumped = record.model_dump(mode="json", include=set(type(record).text_fields()))
    return {
        name: json.dumps(value) for name, value in dumped.items() if value not in (None, [], {})
    }


def assemble(
    kind: type[Record], body: str, texts: Mapping[str, str], embedded: Mapping[str, Record]
) -> Record:
    """Assemble a record from its rows; a purged text is empty, as if it had never been set."""
    if not embedded:  # it is all JSON already, and the parser is faster than Python
        said = [f'"{name}":{text}' for name, text in texts.items()]
        return kind.model_validate_json("{" + ",".join([*said, body[1:-1]]) + "}")
    fields: dict[str, Any] = json.loads(body)
    fields.update({name: json.loads(text) for name, text in texts.items()})
    fields.update(embedded)
    return kind.model_validate(fields)


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
    """Removes texts by run, by unit or by age; each method returns how many were removed."""

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
        with read_transaction(self._engine) as connection:
            return purged(connection)

    def _purge(
        self,
        scope: str,
        key: str,
        texts: ColumnElement[bool],
        calls: ColumnElement[bool],
        now: datetime,
    ) -> int:
        with write_transaction(self._engine) as connection:
            insert_new(connection, PURGES, [{"scope": scope, "key": key, "at": now}])
            connection.execute(update(CALLS).where(calls).values(answer=None))
            return connection.execute(delete(TEXTS).where(texts)).rowcount
