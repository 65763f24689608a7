"""Texts are stored apart from numbers, so that they can be purged for good."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from pydantic_core import to_json
from sqlalchemy import ColumnElement, Connection, Engine, Table, and_, delete, or_, select, update

from biaswatch.shared.contracts import Label, PairVerdict, Probe, Purpose, Record, Response
from biaswatch.shared.contracts.pair_verdict import ORACLE
from biaswatch.shared.store.engine import (
    ScopeNow,
    everything,
    insert_new,
    read_transaction,
    write_transaction,
)
from biaswatch.shared.store.statements import among
from biaswatch.shared.store.tables import CALLS, PURGES, RECORDS, TEXTS, unit_part_of

NOTHING: tuple[object, ...] = (None, (), [], {})
"""What a field of texts holds where there is none; an empty text is one."""


@cache
def _apart(record: type[Record]) -> set[str]:
    return {*record.text_fields(), *record.embedded_kinds(), "id"}


def body_of(record: Record) -> str:
    """Return the record's JSON without its texts, its embedded records and its id."""
    return record.json_bytes(_apart(type(record))).decode()


def texts_of(record: Record) -> dict[str, str]:
    """Return the JSON of each text the record has."""
    if not (names := type(record).text_fields()):
        return {}
    texts = [(name, getattr(record, name)) for name in names]
    return {name: to_json(text).decode() for name, text in texts if text not in NOTHING}


def texts_by_record(connection: Connection, ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the JSON of the texts of some records, by record and field."""
    query = select(TEXTS.c.record_id, TEXTS.c.field, TEXTS.c.body).where(
        among(TEXTS.c.record_id, ids)
    )
    found: dict[str, dict[str, str]] = {}
    for record_id, name, body in connection.execute(query):
        found.setdefault(record_id, {})[name] = body
    return found


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


RUN, UNIT, PAIR, BEFORE = "run", "unit", "pair", "before"
EVERY_TENANT = ""
ALWAYS = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class TextOwner:
    """What a purge asks of the record that has a text."""

    tenant: str
    run: str | None
    unit: str | None
    at: datetime
    judging: bool
    """Whether it is what a judge was asked or said."""


@dataclass(frozen=True)
class Purged:
    """What has been purged so far; `EVERY_TENANT` stands for all tenants."""

    runs: frozenset[tuple[str, str]]
    """Tenant and run."""
    units: frozenset[tuple[str, str]]
    """Tenant and unit: two tenants may have a user of one name."""
    pairs: frozenset[tuple[str, str]]
    """Tenant and set: what judges were asked and said about the pair is covered, nothing else."""
    before: Mapping[str, datetime]
    """By tenant: records made before this are covered."""

    def covers_unit(self, unit_id: str, tenant: str) -> bool:
        """Tell whether the texts of a tenant's unit must not be kept."""
        return any((each, unit_id) in self.units for each in (EVERY_TENANT, tenant))

    def covers(self, record: Record) -> bool:
        """Tell whether the record's texts must not be kept."""
        if not (self.runs or self.units or self.pairs or self.before):  # the usual case
            return False
        return self.covers_texts_of(
            TextOwner(record.tenant, record.run, record.unit, record.at, is_judging(record))
        )

    def covers_texts_of(self, owner: TextOwner) -> bool:
        """Tell whether texts must not be kept, by what is known of their record."""
        return any(
            (tenant, owner.run) in self.runs
            or (tenant, owner.unit) in self.units
            or (owner.judging and (tenant, owner.unit) in self.pairs)
            or owner.at < self.before.get(tenant, ALWAYS)
            for tenant in (EVERY_TENANT, owner.tenant)
        )


def is_judging(record: Record) -> bool:
    """Tell whether it is what a judge was asked or said, or what a person said in its place.

    Its unit is the pair of answers.
    """
    if isinstance(record, Label):
        return record.extractor == ORACLE
    return record.purpose is Purpose.JUDGE or isinstance(record, PairVerdict)


def purged(connection: Connection) -> Purged:
    """Read what has been purged so far."""
    kept: dict[str, set[tuple[str, str]]] = {RUN: set(), UNIT: set(), PAIR: set()}
    before: dict[str, datetime] = {}
    for row in connection.execute(select(PURGES.c.tenant, PURGES.c.scope, PURGES.c.key)):
        if row.scope in kept:
            kept[row.scope].add((row.tenant, row.key))
        else:
            moment = datetime.fromisoformat(row.key)
            before[row.tenant] = max(moment, before.get(row.tenant, ALWAYS))
    runs, units, pairs = (frozenset(kept[each]) for each in (RUN, UNIT, PAIR))
    return Purged(runs, units, pairs, before)


class Purges:
    """Removes texts by run, by unit or by age; each method returns how many were removed.

    In a scope with a tenant, nothing of any other is removed.
    """

    def __init__(self, engine: Engine, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._scope = scope

    def run(self, run_id: str, now: datetime) -> int:
        """Remove the texts of a run."""
        return self._purge(RUN, run_id, now, lambda table: table.c.run_id == run_id)

    def unit(self, unit_id: str, now: datetime) -> int:
        """Remove the texts of a unit of analysis: a prompt, a user, a conversation."""
        return self._purge(UNIT, unit_id, now, lambda table: _of_unit(table, unit_id))

    def pair(self, set_name: str, now: datetime) -> int:
        """Remove what judges, and people in their place, said about the pairs of a set."""
        labels = RECORDS[Label.kind].c

        def which(table: Table) -> ColumnElement[bool]:
            about = _of_unit(table, set_name)
            if table is not TEXTS:
                return about
            judged = [
                table.c.record_id.in_(
                    select(each.c.id).where(
                        each.c.unit_id == set_name, each.c.purpose == Purpose.JUDGE.value
                    )
                )
                for each in (RECORDS[Probe.kind], RECORDS[Response.kind])
            ]
            labelled = select(labels.id).where(labels.unit_id == set_name, labels.lane == ORACLE)
            judged.append(table.c.record_id.in_(labelled))
            return and_(about, or_(table.c.kind == PairVerdict.kind, *judged))

        return self._purge(PAIR, set_name, now, which)

    def before(self, moment: datetime, now: datetime) -> int:
        """Remove the texts of records made before a moment."""
        key = moment.astimezone(UTC).isoformat()
        removed = self._purge(BEFORE, key, now, lambda table: table.c.at < moment)
        self._supersede(key)
        return removed

    def _supersede(self, key: str) -> None:
        """Forget earlier moments: a purge every night would leave a row a night."""
        earlier = and_(
            PURGES.c.tenant == (self._scope().tenant or EVERY_TENANT),
            PURGES.c.scope == BEFORE,
            PURGES.c.key < key,
        )
        with write_transaction(self._engine) as connection:
            connection.execute(delete(PURGES).where(earlier))

    def so_far(self) -> Purged:
        """Return all that has been purged."""
        with read_transaction(self._engine) as connection:
            return purged(connection)

    def _purge(
        self, scope: str, key: str, now: datetime, which: Callable[[Table], ColumnElement[bool]]
    ) -> int:
        tenant = self._scope().tenant

        def rows(table: Table) -> ColumnElement[bool]:
            return which(table) if tenant is None else and_(which(table), table.c.tenant == tenant)

        purge = {"tenant": tenant or EVERY_TENANT, "scope": scope, "key": key, "at": now}
        with write_transaction(self._engine) as connection:
            insert_new(connection, PURGES, [purge])
            connection.execute(update(CALLS).where(rows(CALLS)).values(answer=None))
            return connection.execute(delete(TEXTS).where(rows(TEXTS))).rowcount


def _of_unit(table: Table, unit_id: str) -> ColumnElement[bool]:
    """Return the condition that a row is of a unit; an older version writes no parts of units."""
    mine = table.c.unit_id == unit_id
    if table is not TEXTS:
        return mine
    part = TEXTS.c.unit_part
    return and_(or_(part == unit_part_of(unit_id), part.is_(None)), mine)
