"""Keyed inserts: the first row with a key stays, whoever comes again changes nothing."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, Table
from sqlalchemy.dialects import postgresql, sqlite


def insert_new(
    connection: Connection, table: Table, rows: Sequence[Mapping[str, Any]]
) -> list[str]:
    """Insert the rows whose key is not there yet; give the first key column of those."""
    if not rows:
        return []
    dialect = postgresql if connection.dialect.name == "postgresql" else sqlite
    first_key = next(iter(table.primary_key))
    statement = dialect.insert(table).on_conflict_do_nothing().returning(first_key)
    return list(connection.scalars(statement, rows))
