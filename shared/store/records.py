"""Records in the store: each is written once, however often it arrives, and read whole."""

from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import closing
from datetime import datetime
from typing import Any, TypeVar, cast

from pydantic_core import from_json
from sqlalchemy import ColumnElement, Connection, Engine, Select, Table, func, select

from biaswatch.shared.contracts import Probe, Purpose, Record, Response, Run
from biaswatch.shared.contracts.identity import is_id
from biaswatch.shared.store.archived_runs import here
from biaswatch.shared.store.engine import (
    MOST_PARAMETERS,
    ScopeNow,
    chunks,
    everything,
    read_transaction,
    streaming_transaction,
    write_transaction,
)
from biaswatch.shared.store.record_rows import (
    CountedAs,
    Row,
    WriteResult,
    count_new,
    counted_as,
    row_of,
    text_rows_of,
)
from biaswatch.shared.store.statements import among, insert_missing, insert_records
from biaswatch.shared.store.tables import RECORDS, TEXTS
from biaswatch.shared.store.texts import assemble, purged, texts_by_record

R = TypeVar("R", bound=Record)
ByKind = dict[str, dict[str, Record]]
PAGE = MOST_PARAMETERS + 1
"""Rows of a query: more than ids in one, so that nobody looks for those beyond the last id."""


class Records:
    """Reads and writes records."""

    def __init__(self, engine: Engine, scope: ScopeNow = everything) -> None:
        self._engine = engine
        self._scope = scope

    def write(self, records: Iterable[Record]) -> WriteResult:
        """Write records and those embedded in them, in one transaction; the first copy stays.

        Raises
        ------
        TransientError
            The store is not available; nothing was written.
        ValueError
            A record is another tenant's than that of the scope: a fault of the caller.
        """
        return self._write_rows(self._by_kind(records))

    def _by_kind(self, records: Iterable[Record]) -> ByKind:
        """Return records and those embedded in them by kind and id, the first copy of each."""
        mine = self._scope().tenant
        by_kind: ByKind = {}
        for record in records:
            for each in (record, *record.embedded):
                if mine not in {None, each.tenant}:
                    raise ValueError(f"A {each.kind} record of another tenant cannot be written.")
                by_kind.setdefault(each.kind, {}).setdefault(each.id, each)
        return by_kind

    def _write_rows(self, by_kind: ByKind) -> WriteResult:
        written = WriteResult()
        with write_transaction(self._engine) as connection:
            gone = purged(connection)
            counted: Counter[CountedAs] = Counter()
            left = self._without_files(connection, here(connection, by_kind))
            for kind, found in sorted(left.items()):
                # In the order of ids, so that two writers of the same records cannot deadlock.
                rows = {id_: row_of(found[id_]) for id_ in sorted(found)}
                new = insert_records(connection, RECORDS[kind], list(rows.values()))
                written.new[kind] += len(new)
                written.new_ids.update(new)
                written.known[kind] += len(found) - len(new)
                texts = [row for id_ in new for row in text_rows_of(found[id_], rows[id_], gone)]
                insert_missing(connection, TEXTS, texts)
                counted += counted_as(kind, (rows[id_] for id_ in new))
            count_new(connection, counted)
        return written

    def _without_files(self, connection: Connection, by_kind: ByKind) -> ByKind:
        """Return the records that become rows; there are no others here."""
        return by_kind

    def count(self, kind: type[Record], **keys: str) -> int:
        """Count the records of a kind: all, or those with this run_id, purpose, monitor_id, ..."""
        table = RECORDS[kind.kind]
        query = select(func.count()).select_from(table)
        query = query.where(*(table.c[name] == key for name, key in keys.items()))
        query = query.where(*self._mine(table, keys.get("run_id")))
        with read_transaction(self._engine) as connection:
            return int(connection.scalar(query) or 0)

    def count_by(self, kind: type[Record], column: str, keys: Iterable[str]) -> dict[str, int]:
        """Count the records of a kind for each of these values of a column that has any."""
        table = RECORDS[kind.kind]
        found: dict[str, int] = {}
        with read_transaction(self._engine) as connection:
            for some in chunks(keys):
                query = select(table.c[column], func.count()).group_by(table.c[column])
                query = query.where(among(table.c[column], some), *self._mine(table))
                rows = connection.execute(query).all()
                found |= {str(row[0]): int(row[1]) for row in rows}
        return found

    def count_without(self, kind: type[Record], other: type[Record], *, run_id: str) -> int:
        """Count the records of a run that name another one which is not there."""
        table, there = RECORDS[kind.kind], RECORDS[other.kind]
        found = select(there.c.id).where(there.c.id == table.c[f"{other.kind}_id"]).exists()
        mine = (table.c.run_id == run_id, *self._mine(table, run_id))
        query = select(func.count()).select_from(table).where(*mine, ~found)
        with read_transaction(self._engine) as connection:
            return int(connection.scalar(query) or 0)

    def missing(self, kind: type[Record], ids: Iterable[str]) -> set[str]:
        """Return the ids that are not in the store."""
        wanted = set(ids)
        table = RECORDS[kind.kind]
        with read_transaction(self._engine) as connection:
            for some in chunks(wanted):
                query = select(table.c.id).where(among(table.c.id, some), *self._mine(table))
                wanted.difference_update(connection.scalars(query))
        return wanted

    def read(self, kind: type[R], *, run_id: str, texts: bool = True) -> Iterator[R]:
        """Return the records of a run, in the order of their ids; faster without texts."""
        table = RECORDS[kind.kind]
        query = select(table).where(table.c.run_id == run_id, *self._mine(table, run_id))
        yield from self._read(kind, query, texts=texts)

    def of_runs(self, kind: type[R], run_ids: Iterable[str]) -> Iterator[R]:
        """Return the records of several runs that have few of this kind."""
        table = RECORDS[kind.kind]
        for some in chunks(run_ids):
            mine = (among(table.c.run_id, some), *self._mine(table))
            yield from self._read(kind, select(table).where(*mine))

    def numbers(self, kind: type[R], *, run_id: str) -> Generator[Row, None, None]:
        """Return a run's records without texts and embedded records, as plain data.

        Close it where not all is read: it holds a connection as long as it is open.
        """
        table = RECORDS[kind.kind]
        mine = (table.c.run_id == run_id, *self._mine(table, run_id))
        query = select(table.c.body).where(*mine).order_by(table.c.id)
        with streaming_transaction(self._engine) as connection:
            streamed = connection.execution_options(yield_per=MOST_PARAMETERS)
            # Closed even where the reader stops early: PostgreSQL would keep its cursor.
            with closing(streamed.scalars(query)) as bodies:
                for body in bodies:
                    yield from_json(body)

    def numbers_of(self, kind: type[Record], ids: Iterable[str]) -> dict[str, Row]:
        """Return those of these records that exist, by their ids, as what `numbers` returns."""
        table = RECORDS[kind.kind]
        found: dict[str, Row] = {}
        with read_transaction(self._engine) as connection:
            for some in chunks(filter(is_id, ids)):
                query = select(table.c.id, table.c.body).where(among(table.c.id, some))
                rows = connection.execute(query.where(*self._mine(table)))
                found.update((id_, from_json(body)) for id_, body in rows)
        return found

    def answered_of(self, response_ids: Iterable[str]) -> dict[str, tuple[Row, Row]]:
        """Return those of these responses that exist, each with its probe, as `numbers` does."""
        responses, probes = RECORDS[Response.kind], RECORDS[Probe.kind]
        found: dict[str, tuple[Row, Row]] = {}
        with read_transaction(self._engine) as connection:
            for some in chunks(response_ids):
                query = select(responses.c.id, responses.c.body, probes.c.body.label("probe"))
                query = query.join(probes, probes.c.id == responses.c.probe_id)
                query = query.where(among(responses.c.id, some), *self._mine(responses))
                for id_, body, probe in connection.execute(query):
                    found[id_] = from_json(body), from_json(probe)
        return found

    def of_monitor(self, kind: type[R], monitor_id: str) -> Iterator[R]:
        """Return the records of a monitor, in the order of their ids."""
        table = RECORDS[kind.kind]
        mine = (table.c.monitor_id == monitor_id, *self._mine(table))
        yield from self._read(kind, select(table).where(*mine))

    def of_monitors(self, kind: type[R], monitor_ids: Iterable[str]) -> Iterator[R]:
        """Return the records of several monitors."""
        table = RECORDS[kind.kind]
        for some in chunks(monitor_ids):
            mine = (among(table.c.monitor_id, some), *self._mine(table))
            yield from self._read(kind, select(table).where(*mine))

    def all(self, kind: type[R]) -> Iterator[R]:
        """Return every record of a kind, in the order of their ids."""
        table = RECORDS[kind.kind]
        yield from self._read(kind, select(table).where(*self._mine(table)))

    def latest(self, kind: type[R], most: int, *, purpose: Purpose) -> list[R]:
        """Return the latest `most` records of a kind and purpose, newest first."""
        rank = {id_: n for n, id_ in enumerate(self.latest_ids(kind, most, purpose=purpose))}
        return sorted(self.get(kind, rank), key=lambda record: rank[record.id])

    def latest_ids(
        self, kind: type[Record], most: int, *, purpose: Purpose | None = None, begins: str = ""
    ) -> list[str]:
        """Return the ids of the latest `most` of a kind, newest first: of a purpose, or all."""
        table = RECORDS[kind.kind]
        query = select(table.c.id).where(table.c.id.startswith(begins), *self._mine(table))
        query = query.where(table.c.purpose == purpose.value) if purpose else query
        query = query.order_by(table.c.at.desc(), table.c.id).limit(most)
        with read_transaction(self._engine) as connection:
            return list(connection.scalars(query))

    def sees(self, record: Record) -> bool:
        """Tell whether a record that was read before is in the scope of this moment."""
        return self._scope().tenant in {None, record.tenant}

    def since(self, kind: type[R], moment: datetime, *, purpose: Purpose) -> list[R]:
        """Return the records of a kind and purpose made at or after a moment, by their ids."""
        table = RECORDS[kind.kind]
        query = select(table).where(table.c.purpose == purpose.value, table.c.at >= moment)
        return list(self._read(kind, query.where(*self._mine(table))))

    def get(self, kind: type[R], ids: Iterable[str], *, texts: bool = True) -> Iterator[R]:
        """Return the records with these ids that exist, in the order of their ids.

        Text that cannot be an id never reaches the database. Without texts it is faster.
        """
        table = RECORDS[kind.kind]
        for some in chunks(filter(is_id, ids)):
            mine = (among(table.c.id, some), *self._mine(table))
            yield from self._read(kind, select(table).where(*mine), texts=texts)

    def by_key(self, kind: type[R], key: str, values: Iterable[str], **equal: str) -> Iterator[R]:
        """Return the records whose column `key` has one of these values, by their ids."""
        table = RECORDS[kind.kind]
        beside = [table.c[name] == value for name, value in equal.items()]
        for some in chunks(values):
            mine = (among(table.c[key], some), *beside, *self._mine(table))
            yield from self._read(kind, select(table).where(*mine))

    def ids_of_run(self, kind: type[Record], run_id: str, *, after: str, most: int) -> list[str]:
        """Return at most so many ids of a run's records that come after an id, in their order."""
        table = RECORDS[kind.kind]
        query = select(table.c.id).where(table.c.run_id == run_id, table.c.id > after)
        query = query.where(*self._mine(table, run_id)).order_by(table.c.id).limit(most)
        with read_transaction(self._engine) as connection:
            return list(connection.scalars(query))

    def _mine(self, table: Table, run_id: str | None = None) -> list[ColumnElement[bool]]:
        """Return what keeps other tenants' rows out.

        All rows of a run of one's own are one's own: reading the column of each would cost much.
        """
        tenant = self._scope().tenant
        if tenant is None or (run_id is not None and self._tenant_of_run(run_id) == tenant):
            return []
        return [table.c.tenant == tenant]

    def _tenant_of_run(self, run_id: str) -> str | None:
        runs = RECORDS[Run.kind]
        with read_transaction(self._engine) as connection:
            return connection.scalar(select(runs.c.tenant).where(runs.c.id == run_id))

    def _read(self, kind: type[R], query: Select[Any], *, texts: bool = True) -> Iterator[R]:
        table = RECORDS[kind.kind]
        texts = texts and self._scope().texts
        inside = (table.c[f"{name}_id"] for name in kind.embedded_kinds())
        query = query.with_only_columns(table.c.id, table.c.body, *inside)
        rows: list[Row] = []
        while not rows or len(rows) == PAGE:
            last = rows[-1]["id"] if rows else ""
            page = query.where(table.c.id > last).order_by(table.c.id).limit(PAGE)
            with read_transaction(self._engine) as connection:
                rows = [dict(row) for row in connection.execute(page).mappings()]
                ids = [row["id"] for row in rows] if texts and kind.text_fields() else []
                found = texts_by_record(connection, ids) if ids else {}
            if not rows:
                return
            yield from self._whole(kind, rows, found, texts=texts)

    def _whole(
        self, kind: type[R], rows: Sequence[Row], said: dict[str, dict[str, str]], *, texts: bool
    ) -> Iterator[R]:
        inside: dict[str, dict[str, Record]] = {}
        for name, part in kind.embedded_kinds().items():
            ids = [row[f"{name}_id"] for row in rows]
            parts = self.get(part, ids, texts=texts)
            inside[name] = {record.id: record for record in parts}
        for row in rows:
            embedded = {name: found[row[f"{name}_id"]] for name, found in inside.items()}
            yield cast("R", assemble(kind, row["body"], said.get(row["id"], {}), embedded))
