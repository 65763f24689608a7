"""Texts are stored apart from numbers, so that they can be purged for good."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from typing import Any

from pydantic_core import to_json
from sqlalchemy import ColumnElement, Connection, Table, and_, delete, or_, select, update

from biaswatch.shared.contracts import Label, PairVerdict, Probe, Purpose, Record, Response
from biaswatch.shared.contracts.judged_items import ORACLE
from biaswatch.shared.store.database import Database, insert_new
from biaswatch.shared.store.run_tables import BATCHED_CALLS, CALLS
from biaswatch.shared.store.statements import is_in
from biaswatch.shared.store.tables import PURGES, RECORDS, TEXTS, unit_part_of

EMPTY_VALUES: tuple[object, ...] = (None, (), [], {})
"""Values of a text field without a text; the empty string is a text."""
RUN, UNIT, PAIR, BEFORE = "run", "unit", "pair", "before"
EVERY_TENANT = ""
ALWAYS = datetime.min.replace(tzinfo=UTC)


@cache
def _excluded_fields(record: type[Record]) -> set[str]:
    return {*record.text_fields(), *record.embedded_kinds(), "id"}


def body_of(record: Record) -> str:
    """Return the record's JSON without its texts, embedded records and id."""
    return record.json_bytes(_excluded_fields(type(record))).decode()


def texts_of(record: Record) -> dict[str, str]:
    """Return the JSON of each text of a record, by field."""
    if not (names := type(record).text_fields()):
        return {}
    texts = [(name, getattr(record, name)) for name in names]
    return {name: to_json(text).decode() for name, text in texts if text not in EMPTY_VALUES}


def texts_by_record(connection: Connection, ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the JSON of the texts of records, by record and field."""
    query = select(TEXTS.c.record_id, TEXTS.c.field, TEXTS.c.body)
    texts: dict[str, dict[str, str]] = {}
    for record_id, name, body in connection.execute(
        query.where(is_in(TEXTS.c.record_id, ids))
    ).all():
        texts.setdefault(record_id, {})[name] = body
    return texts


def assemble(
    kind: type[Record], body: str, texts: Mapping[str, str], embedded: Mapping[str, Record]
) -> Record:
    """Assemble a record from its rows; a purged text is empty, as if it had never been set."""
    if not embedded:  # all parts are JSON already, and parsing is faster than Python
        members = [f'"{name}":{text}' for name, text in texts.items()]
        return kind.model_validate_json("{" + ",".join([*members, body[1:-1]]) + "}")
    fields: dict[str, Any] = json.loads(body)
    fields.update({name: json.loads(text) for name, text in texts.items()})
    fields.update(embedded)
    return kind.model_validate(fields)


@dataclass(frozen=True)
class TextOwner:
    """The attributes of a text's record that purges select by."""

    tenant: str
    run: str | None
    unit: str | None
    at: datetime
    judging: bool
    """True for questions to judges and their replies."""


@dataclass(frozen=True)
class Purged:
    """Purges of the past; `EVERY_TENANT` means all tenants."""

    runs: frozenset[tuple[str, str]]
    """Tenant and run."""
    units: frozenset[tuple[str, str]]
    """Tenant and unit, since two tenants may have a user of the same name."""
    pairs: frozenset[tuple[str, str]]
    """Tenant and set; covers only texts of judging about the pair."""
    before: Mapping[str, datetime]
    """Time by tenant; covers records made earlier."""

    def covers_unit(self, unit_id: str, tenant: str) -> bool:
        """Return whether the texts of a tenant's unit were purged."""
        return any((owner, unit_id) in self.units for owner in (EVERY_TENANT, tenant))

    def covers(self, record: Record) -> bool:
        """Return whether the record's texts were purged."""
        if not (self.runs or self.units or self.pairs or self.before):  # the usual case
            return False
        return self.covers_texts_of(
            TextOwner(record.tenant, record.run, record.unit, record.at, is_judging(record))
        )

    def covers_texts_of(self, owner: TextOwner) -> bool:
        """Return whether texts were purged, by the attributes of their record."""
        return any(
            (tenant, owner.run) in self.runs
            or (tenant, owner.unit) in self.units
            or (owner.judging and (tenant, owner.unit) in self.pairs)
            or owner.at < self.before.get(tenant, ALWAYS)
            for tenant in (EVERY_TENANT, owner.tenant)
        )


def is_judging(record: Record) -> bool:
    """Return whether a record is a question to a judge, its reply, or a label in its place.

    The unit of these records is the pair of answers.
    """
    if isinstance(record, Label):
        return record.extractor == ORACLE
    return record.purpose is Purpose.JUDGE or isinstance(record, PairVerdict)


def all_purges(connection: Connection) -> Purged:
    """Return every purge of the past."""
    return _purged(connection.execute(select(PURGES.c.tenant, PURGES.c.scope, PURGES.c.key)))


def purges_of(connection: Connection, keys: Iterable[str | None], tenants: Iterable[str]) -> Purged:
    """Return the purges that concern these runs and units, or records of these tenants by age."""
    columns = PURGES.c
    by_age = and_(is_in(columns.tenant, {EVERY_TENANT, *tenants}), columns.scope == BEFORE)
    by_key = is_in(columns.key, sorted({key for key in keys if key is not None}))
    query = select(columns.tenant, columns.scope, columns.key).where(or_(by_key, by_age))
    return _purged(connection.execute(query))


def _purged(rows: Iterable[Any]) -> Purged:
    by_scope: dict[str, set[tuple[str, str]]] = {RUN: set(), UNIT: set(), PAIR: set()}
    before: dict[str, datetime] = {}
    for row in rows:
        if row.scope in by_scope:
            by_scope[row.scope].add((row.tenant, row.key))
        else:
            time = datetime.fromisoformat(row.key)
            before[row.tenant] = max(time, before.get(row.tenant, ALWAYS))
    runs, units, pairs = (frozenset(by_scope[scope]) for scope in (RUN, UNIT, PAIR))
    return Purged(runs, units, pairs, before)


@dataclass(frozen=True)
class Purge:
    """One purge of the past."""

    tenant: str
    scope: str
    key: str
    at: datetime


@dataclass(eq=False)
class Purges:
    """Removes texts by run, unit or age; every method returns the number of removed texts.

    A scope with a tenant restricts every purge to that tenant.
    """

    db: Database

    def run(self, run_id: str, now: datetime) -> int:
        """Remove the texts of a run."""
        return self._purge(RUN, run_id, now, lambda table: table.c.run_id == run_id)

    def unit(self, unit_id: str, now: datetime) -> int:
        """Remove the texts of a unit of analysis: a prompt, a user, a conversation."""
        return self._purge(UNIT, unit_id, now, lambda table: _of_unit(table, unit_id))

    def pair(self, set_name: str, now: datetime) -> int:
        """Remove the texts of judges and of people in their place about the pairs of a set."""
        labels = RECORDS[Label.kind].c

        def of_record(columns: Any, condition: ColumnElement[bool]) -> ColumnElement[bool]:
            # By id: units of records have no index.
            return select(columns.id).where(columns.id == TEXTS.c.record_id, condition).exists()

        def condition(table: Table) -> ColumnElement[bool]:
            if table is not TEXTS:
                return _of_unit(table, set_name)
            judged = (
                of_record(columns, columns.purpose == Purpose.JUDGE.value)
                for columns in (RECORDS[Probe.kind].c, RECORDS[Response.kind].c)
            )
            of_kind = table.c.kind == PairVerdict.kind
            labelled = of_record(labels, labels.lane == ORACLE)
            return and_(_of_unit(table, set_name), or_(of_kind, *judged, labelled))

        return self._purge(PAIR, set_name, now, condition)

    def before(self, time: datetime, now: datetime) -> int:
        """Remove the texts of records made before a time."""
        key = time.astimezone(UTC).isoformat()
        removed = self._purge(BEFORE, key, now, lambda table: table.c.at < time)
        # A nightly purge would otherwise leave one row per night.
        tenant = self.db.tenant or EVERY_TENANT
        earlier = (PURGES.c.tenant == tenant, PURGES.c.scope == BEFORE, PURGES.c.key < key)
        self.db.execute(delete(PURGES).where(*earlier))
        return removed

    def since(self, time: datetime) -> list[Purge]:
        """Return the purges since a time, one by one."""
        query = select(PURGES).where(PURGES.c.at >= time)
        return [Purge(**row._asdict()) for row in self.db.rows(query)]

    def so_far(self) -> Purged:
        """Return every purge of the past."""
        with self.db.reading() as connection:
            return all_purges(connection)

    def _purge(
        self, scope: str, key: str, now: datetime, condition: Callable[[Table], ColumnElement[bool]]
    ) -> int:
        purge = {"tenant": self.db.tenant or EVERY_TENANT, "scope": scope, "key": key, "at": now}
        calls, batched, texts = (
            (condition(t), *self.db.visible(t)) for t in (CALLS, BATCHED_CALLS, TEXTS)
        )
        with self.db.writing() as connection:
            insert_new(connection, PURGES, [purge])
            connection.execute(update(CALLS).where(*calls).values(answer=None))
            connection.execute(delete(BATCHED_CALLS).where(*batched))
            return connection.execute(delete(TEXTS).where(*texts)).rowcount


def _of_unit(table: Table, unit_id: str) -> ColumnElement[bool]:
    """Return the condition that a row belongs to a unit."""
    if table is not TEXTS:
        return table.c.unit_id == unit_id
    return and_(TEXTS.c.unit_part == unit_part_of(unit_id), table.c.unit_id == unit_id)
