"""Statements for many rows at once: membership in a list, and bulk inserts."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from typing import Any

from pydantic_core import to_json
from sqlalchemy import ColumnElement, Connection, Dialect, Table, Text, TypeDecorator, bindparam
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.functions import FunctionElement

from biaswatch.shared.store.tables import UtcDateTime, check_zones


class _InJson(TypeDecorator[list[str]]):
    """A list of texts as one parameter, which both databases read in C."""

    impl = Text
    cache_ok = True

    def process_bind_param(self, value: list[str] | None, dialect: Dialect) -> str:
        return to_json(value).decode()


class among(FunctionElement[bool]):  # noqa: N801 - reads as the operator that it is
    """The condition that a column of texts has one of these values; true nowhere for none.

    Unlike `in_` it takes values alone, and no query.
    """

    inherit_cache = True
    name = "among"
    """Without one SQLAlchemy keeps an element, and so its values, until garbage is collected."""

    def __init__(self, column: ColumnElement[str], values: Iterable[str]) -> None:
        super().__init__(column, bindparam(None, list(values), type_=_InJson(), unique=True))


@compiles(among, "postgresql")
def _in_array(element: among, compiler: SQLCompiler, **named: Any) -> str:
    column, values = (compiler.process(each, **named) for each in element.clauses)
    # An array, and no set: the index is gone through once for all of them.
    return f"{column} = ANY (ARRAY (SELECT json_array_elements_text({values}::json)))"


@compiles(among, "sqlite")
def _in_json(element: among, compiler: SQLCompiler, **named: Any) -> str:
    column, values = (compiler.process(each, **named) for each in element.clauses)
    return f"{column} IN (SELECT value FROM json_each({values}))"  # noqa: S608 - a place


Row = Mapping[str, Any]
ROWS_A_STATEMENT = 4
"""Rows of a statement to SQLite, whose driver hands the interpreter over at every statement: for a
row each, that and going from one to the next take a quarter of the time. A statement of many rows
keeps a journal of its own: with twenty rows the disk gets 7 % more bytes, with four 4 %."""
IN_UTC = timedelta(0)
OFFSET_CHARACTERS = len("+00:00")
MOST_ROWS = 500
MOST_BYTES = 1024 * 1024
"""About how much of texts goes in one statement to PostgreSQL, which gets a copy of them."""


def insert_missing(connection: Connection, table: Table, rows: Sequence[Row]) -> None:
    """Insert the rows whose key is not there yet; all have the same columns."""
    if not rows:
        return
    names = tuple(rows[0])
    if connection.dialect.name == "postgresql":
        for some in _parts(rows):
            statement = _of_json(connection.dialect, table, names, returning=False)
            connection.exec_driver_sql(statement, (_as_json(table, some),))
        return
    values = _values(connection.dialect, table, names, rows)
    whole = len(values) - len(values) % ROWS_A_STATEMENT
    starts = range(0, whole, ROWS_A_STATEMENT)
    groups = [tuple(chain.from_iterable(values[n : n + ROWS_A_STATEMENT])) for n in starts]
    for rows_of_one, several in ((ROWS_A_STATEMENT, groups), (1, values[whole:])):
        if several:
            statement = _of_values(connection.dialect, table, names, rows_of_one)
            connection.exec_driver_sql(statement, several)


def insert_records(connection: Connection, table: Table, rows: Sequence[Row]) -> list[str]:
    """Insert the rows whose `id`, which is the key, is not there yet; return the ids of those.

    SQLite has one writer, which this transaction is: what is not there now is new.
    """
    if not rows:
        return []
    names = tuple(rows[0])
    if connection.dialect.name == "postgresql":
        statement = _of_json(connection.dialect, table, names, returning=True)
        return [
            row[0]
            for some in _parts(rows)
            for row in connection.exec_driver_sql(statement, (_as_json(table, some),)).all()
        ]
    ids = to_json([row["id"] for row in rows]).decode()
    known = {row[0] for row in connection.exec_driver_sql(_known(table), (ids,))}
    new = [row for row in rows if row["id"] not in known]
    insert_missing(connection, table, new)
    return [row["id"] for row in new]


def _parts(rows: Sequence[Row]) -> Iterator[Sequence[Row]]:
    """Return the rows in parts that are not too large; a large row is a part of its own."""
    start, size = 0, 0
    for end, row in enumerate(rows):
        more = len(row.get("body") or row.get("answer") or "")
        if end > start and (end - start == MOST_ROWS or size + more > MOST_BYTES):
            yield rows[start:end]
            start, size = end, 0
        size += more
    yield rows[start:]


def _as_json(table: Table, rows: Sequence[Row]) -> str:
    for name in rows[0]:
        if isinstance(table.c[name].type, UtcDateTime):
            check_zones(row[name] for row in rows)
    return to_json(rows).decode()  # a moment is written with its zone, which PostgreSQL reads


@lru_cache(maxsize=256)
def _of_json(dialect: Dialect, table: Table, names: tuple[str, ...], *, returning: bool) -> str:
    """Return PostgreSQL's statement that inserts an array of objects, in its order."""
    quote = dialect.identifier_preparer.quote
    columns = ", ".join(quote(name) for name in names)
    typed = ", ".join(f"{quote(name)} {table.c[name].type.compile(dialect)}" for name in names)
    returned = " RETURNING id" if returning else ""
    return (
        f"INSERT INTO {quote(table.name)} ({columns})"  # noqa: S608 - names of our own tables
        f" SELECT {columns} FROM json_to_recordset(%s::json) AS given({typed})"
        f" ON CONFLICT DO NOTHING{returned}"
    )


@lru_cache(maxsize=256)
def _of_values(dialect: Dialect, table: Table, names: tuple[str, ...], rows: int) -> str:
    """Return SQLite's statement that inserts some rows."""
    quote = dialect.identifier_preparer.quote
    columns, places = ", ".join(quote(name) for name in names), ", ".join("?" for _ in names)
    values = ", ".join([f"({places})"] * rows)
    return (
        f"INSERT INTO {quote(table.name)} ({columns}) VALUES {values}"  # noqa: S608 - as above
        " ON CONFLICT DO NOTHING"
    )


@lru_cache(maxsize=64)
def _known(table: Table) -> str:
    named = f'"{table.name}"'
    return f"SELECT id FROM {named} WHERE id IN (SELECT value FROM json_each(?))"  # noqa: S608 - as above


def _values(
    dialect: Dialect, table: Table, names: tuple[str, ...], rows: Sequence[Row]
) -> list[tuple[Any, ...]]:
    """Return the values of rows as SQLite keeps them."""
    columns = []
    for name in names:
        given, keep = map(itemgetter(name), rows), _processor(dialect, table, name)
        columns.append(map(keep, given) if keep else given)
    return list(zip(*columns, strict=True))


def _processor(dialect: Dialect, table: Table, name: str) -> Callable[[Any], Any] | None:
    """Return what makes a value of a column one that the driver takes, if anything must.

    Moments are often the same in neighbouring rows, and are written once then.
    """
    if isinstance(table.c[name].type, UtcDateTime):
        return lru_cache(maxsize=64)(_moment)
    return table.c[name].type.dialect_impl(dialect).bind_processor(dialect)


def _moment(value: datetime | None) -> str | None:
    """Return a moment as SQLAlchemy writes it into SQLite, in a third of the time."""
    if value is None:
        return None
    if value.utcoffset() != IN_UTC:
        check_zones([value])
        value = value.astimezone(UTC)
    return value.isoformat(" ", "microseconds")[:-OFFSET_CHARACTERS]
