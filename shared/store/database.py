"""Queries and statements on the database, within what one reader may see."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, Engine, Executable, Row, Select, Table, UpdateBase
from sqlalchemy.dialects import postgresql, sqlite

from biaswatch.shared.store.engine import read_transaction, streaming_transaction, write_transaction
from biaswatch.shared.store.statements import is_in

ResultRow = Row[tuple[Any, ...]]
RowChange = Callable[[Any], Mapping[str, Any]]
LOCK_HEX_DIGITS = 15
MAX_KEYS = 500
"""Keys per query, and rows per page: below every database's limit of parameters."""


@dataclass(frozen=True)
class Scope:
    """The part of the store that a reader may see."""

    tenant: str | None = None
    """The only visible and writable tenant; None for every tenant, for services."""
    texts: bool = True
    """False hides texts: records read as if their texts were purged."""


EVERYTHING = Scope()
ScopeNow = Callable[[], Scope]
"""Returns the scope of the current reader."""


def everything() -> Scope:
    """Return the scope of a service, which sees every tenant."""
    return EVERYTHING


@dataclass(frozen=True)
class Database:
    """A database within a scope; every method opens one transaction, unless it is given one."""

    engine: Engine
    scope: ScopeNow = everything

    @property
    def tenant(self) -> str | None:
        """The only visible tenant; None for every tenant."""
        return self.scope().tenant

    def reading(self) -> AbstractContextManager[Connection]:
        """Open a transaction that sees one state and changes nothing."""
        return read_transaction(self.engine)

    def streaming(self) -> AbstractContextManager[Connection]:
        """Open a read transaction for a slow reader, a page of rows at a time."""
        return streaming_transaction(self.engine)

    def writing(self) -> AbstractContextManager[Connection]:
        """Open a transaction that is committed as a whole or not at all."""
        return write_transaction(self.engine)

    def rows(self, query: Executable) -> Sequence[ResultRow]:
        """Return the rows of a query."""
        with self.reading() as connection:
            return connection.execute(query).all()

    def rows_in(
        self, query: Select[Any], column: ColumnElement[str], keys: Iterable[str]
    ) -> list[ResultRow]:
        """Return the rows of a query whose column has one of many values."""
        with self.reading() as connection:
            return [
                row
                for batch in key_chunks(keys)
                for row in connection.execute(query.where(is_in(column, batch))).all()
            ]

    def scalars(self, query: Executable) -> list[Any]:
        """Return the first column of a query."""
        with self.reading() as connection:
            return list(connection.scalars(query))

    def scalars_in(
        self, query: Select[Any], column: ColumnElement[str], keys: Iterable[str]
    ) -> list[Any]:
        """Return the first column of the rows whose column has one of many values."""
        return [row[0] for row in self.rows_in(query, column, keys)]

    def scalar(self, query: Executable) -> Any:
        """Return the first column of the first row, or None without a row."""
        with self.reading() as connection:
            return connection.scalar(query)

    def execute(self, *statements: UpdateBase) -> int:
        """Execute statements in one transaction; return the number of rows of the last one."""
        with self.writing() as connection:
            return [connection.execute(statement).rowcount for statement in statements][-1]

    def insert_new(self, table: Table, rows: Sequence[Mapping[str, Any]]) -> Sequence[ResultRow]:
        """Insert the rows with new keys; return these keys."""
        with self.writing() as connection:
            return insert_new(connection, table, rows)

    def upsert(
        self,
        table: Table,
        rows: Sequence[Mapping[str, Any]],
        change: RowChange | None = None,
        where: ColumnElement[bool] | None = None,
    ) -> None:
        """Insert rows, and change those whose key exists; see the function `upsert`."""
        if rows:
            with self.writing() as connection:
                connection.execute(upsert(connection, table, change, where), rows)

    def visible(self, table: Table) -> list[ColumnElement[bool]]:
        """Return the conditions that exclude rows of other tenants."""
        return [] if (tenant := self.tenant) is None else [table.c.tenant == tenant]


def insert_new(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> Sequence[ResultRow]:
    """Insert the rows with new keys; return these keys."""
    if not rows:
        return []
    statement = _insert(connection, table).on_conflict_do_nothing()
    return connection.execute(statement.returning(*table.primary_key), rows).all()


def upsert(
    connection: Connection,
    table: Table,
    change: RowChange | None = None,
    where: ColumnElement[bool] | None = None,
) -> Any:
    """Return the statement that inserts rows, and changes those whose key exists.

    Parameters
    ----------
    change
        Returns the new values of columns, from the row that was to be inserted; without it, all
        columns but the key get that row's values.
    where
        The condition for a change.
    """
    statement = _insert(connection, table)
    keys = [column.name for column in table.primary_key]
    row = statement.excluded
    changes = (
        change(row)
        if change
        else {column.name: row[column.name] for column in table.c if column.name not in keys}
    )
    return statement.on_conflict_do_update(index_elements=keys, set_=changes, where=where)


def _insert(connection: Connection, table: Table) -> Any:
    """Return the dialect's INSERT, which has an ON CONFLICT clause."""
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    return dialect.insert(table)


def lock_number(id_: str) -> int:
    """Return the number of the advisory lock of an id, in 60 of its 63 bits."""
    return int(id_[:LOCK_HEX_DIGITS], 16)


def key_chunks(keys: Iterable[str]) -> Iterator[list[str]]:
    """Return the distinct keys sorted, as lists short enough for one query."""
    ordered = sorted(set(keys))
    for start in range(0, len(ordered), MAX_KEYS):
        yield ordered[start : start + MAX_KEYS]
