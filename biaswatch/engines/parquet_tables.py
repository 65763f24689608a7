"""Parquet in folders, by patterns and on S3, as a table that DuckDB reads part by part."""

from collections.abc import Iterator
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any

import pandas as pd

from biaswatch.engines.queries import DUCKDB, named
from biaswatch.engines.summed_diagnosis import EngineTable
from biaswatch.readers.table_columns import check_names
from biaswatch.readers.tables import TableColumns, check_named
from shared.errors import UsageError

REMOTE = ("s3://", "gs://")
MOST_CELLS = 20_000_000
"""Of a table that is read whole; a larger one is diagnosed by its sums."""


def is_dataset(source: str) -> bool:
    """Tell whether a source is several Parquet files, or some elsewhere."""
    return source.startswith(REMOTE) or "*" in source or Path(source).is_dir()


@contextmanager
def parquet_table(source: str, memory_mib: int = 1024) -> Iterator[EngineTable]:
    """Open a folder, a pattern or an address of Parquet files.

    Raises
    ------
    UsageError
        There is no such file.
    """
    import duckdb

    with duckdb.connect() as connection:
        connection.execute(f"SET memory_limit = '{memory_mib}MiB'")
        connection.execute("SET preserve_insertion_order = false")
        table = _remote(connection, source) if source.startswith(REMOTE) else _local(source)

        def run(sql: str) -> list[Any]:
            try:
                return list(connection.execute(sql).fetchall())
            except duckdb.Error as error:
                first = str(error).strip().splitlines()[0][:300].rstrip(".")
                raise UsageError(f"{source} cannot be read: {first}.") from None

        yield EngineTable(run, table, DUCKDB)


def checked_rows(table: EngineTable, source: str, columns: TableColumns) -> int:
    """Return how many rows a table has.

    Raises
    ------
    UsageError
        It has none, or lacks a column, or no columns are named.
    """
    there = [str(row[0]) for row in table.run(f"DESCRIBE SELECT * FROM {table.source}")]  # noqa: S608
    check_named(columns, there, source)
    check_names(columns.all, there, source)
    [(rows,)] = table.run(f"SELECT COUNT(*) FROM {table.source}")  # noqa: S608
    if not rows:
        raise UsageError(f"{source} has no rows.")
    return int(rows)


def whole_frame(table: EngineTable, columns: TableColumns) -> pd.DataFrame:
    """Return the columns of a table as a frame."""
    names = list(dict.fromkeys(columns.all))
    listed = ", ".join(named(name, DUCKDB) for name in names)
    rows = table.run(f"SELECT {listed} FROM {table.source}")  # noqa: S608 - names are quoted
    return pd.DataFrame(rows, columns=names)


def _local(source: str) -> str:
    pattern = f"{source.rstrip('/')}/**/*.parquet" if Path(source).is_dir() else source
    if not glob(pattern, recursive=True):  # noqa: PTH207 - the pattern may be absolute
        others = " Tables of other kinds are read one at a time: name a .csv or .jsonl file in it."
        folder = Path(source).is_dir()
        raise UsageError(f"There is no Parquet file at {source}.{others if folder else ''}")
    quoted = pattern.replace("'", "''")
    return f"read_parquet('{quoted}', union_by_name = true, hive_partitioning = true)"


def _remote(connection: Any, source: str) -> str:
    """Register files elsewhere: pyarrow reads them, and DuckDB asks it for the columns it needs."""
    import pyarrow.dataset
    import pyarrow.fs

    where, _, query = source.partition("?")
    folder = where.split("*", 1)[0].rsplit("/", 1)[0] if "*" in where else where
    ending = f"?{query}" if query else ""
    try:
        files, path = pyarrow.fs.FileSystem.from_uri(folder + ending)
        dataset = pyarrow.dataset.dataset(
            path, filesystem=files, format="parquet", partitioning="hive"
        )
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        first = str(error).strip().splitlines()[0][:300].rstrip(".")
        raise UsageError(f"{source} cannot be read: {first}.") from None
    connection.register("remote", dataset)
    return "remote"
