"""Parquet in folders, by patterns and on S3, as a table that DuckDB reads part by part."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from glob import glob
from pathlib import Path
from typing import Any

import pandas as pd

from biaswatch.engines.queries import DUCKDB, named
from biaswatch.engines.summed_diagnosis import EngineTable
from biaswatch.readers.columns import check_names
from biaswatch.readers.row_ids import exact_frame
from biaswatch.readers.tables import TableColumns, check_named
from biaswatch.shared.errors import UsageError

REMOTE = ("s3://", "gs://")
MOST_CELLS = 20_000_000
"""Most cells of a table read into memory; larger ones are diagnosed by sums."""


def is_dataset(source: str) -> bool:
    """Tell whether a source is remote or several Parquet files."""
    return source.startswith(REMOTE) or "*" in source or Path(source).is_dir()


@contextmanager
def parquet_table(source: str, memory_mib: int = 1024) -> Iterator[EngineTable]:
    """Open a folder, a pattern or an address of Parquet files.

    Raises
    ------
    UsageError
        No file matches.
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
        The table has no rows, lacks a column, or no columns are named.
    """
    present = [str(row[0]) for row in table.run(f"DESCRIBE SELECT * FROM {table.source}")]  # noqa: S608
    check_named(columns, present, source)
    check_names(columns.all, present, source)
    [(rows,)] = table.run(f"SELECT COUNT(*) FROM {table.source}")  # noqa: S608
    if not rows:
        raise UsageError(f"{source} has no rows.")
    return int(rows)


def check_measured(table: EngineTable, source: str, columns: TableColumns) -> None:
    """Raise UsageError if no row has both a group and a number.

    Raises
    ------
    UsageError
        No row is complete; the files probably belong to another table.
    """
    labelled, measured = (
        " OR ".join(f"{named(name, DUCKDB)} IS NOT NULL" for name in names)
        for names in (columns.groups, columns.features)
    )
    query = f"SELECT COUNT(*) FROM {table.source} WHERE ({labelled}) AND ({measured})"  # noqa: S608
    [(rows,)] = table.run(query)
    if not rows:
        raise UsageError(
            f"No row of {source} has a group ({', '.join(columns.groups)}) and a number"
            f" ({', '.join(columns.features)}). All its Parquet files are read as one table: name"
            " the files of one kind, as in 'FOLDER/answers-*.parquet', or other columns."
        )


def column_warnings(table: EngineTable, source: str, columns: TableColumns) -> list[str]:
    """Return warnings about columns missing from some local files."""
    if source.startswith(REMOTE):
        return []
    files = _files(source)
    rows = table.run(f"SELECT file_name, name FROM parquet_schema({_listed(files)})")  # noqa: S608
    by_name: dict[str, set[str]] = {}
    for file, name in rows:
        by_name.setdefault(str(name), set()).add(str(file))
    lacking = {
        name: len(files) - len(by_name.get(name, ()))
        for name in dict.fromkeys(columns.all)
        if name in by_name  # else the paths of the files hold it
    }
    return [
        f"{count} of {len(files)} files have no column {name}: their rows have no value of it."
        for name, count in lacking.items()
        if count
    ]


def whole_frame(table: EngineTable, columns: TableColumns) -> pd.DataFrame:
    """Return the columns of a table as a frame."""
    names = list(dict.fromkeys(columns.all))
    listed = ", ".join(named(name, DUCKDB) for name in names)
    rows = table.run(f"SELECT {listed} FROM {table.source}")  # noqa: S608 - names are quoted
    return exact_frame({name: [row[n] for row in rows] for n, name in enumerate(names)})


def _local(source: str) -> str:
    files = _files(source)
    if not files:
        hint = " Tables of other kinds are read one at a time: name a .csv or .jsonl file in it."
        folder = Path(source).is_dir()
        raise UsageError(f"There is no Parquet file at {source}.{hint if folder else ''}")
    return f"read_parquet({_listed(files)}, union_by_name = true, hive_partitioning = true)"


def _files(source: str) -> list[str]:
    """Return the files of a folder or pattern, without hidden folders."""
    pattern = f"{source.rstrip('/')}/**/*.parquet" if Path(source).is_dir() else source
    paths = glob(pattern, recursive=True)  # noqa: PTH207 - the pattern may be absolute
    return sorted(path for path in paths if Path(path).is_file())


def _listed(files: Sequence[str]) -> str:
    quoted = ("'" + path.replace("'", "''") + "'" for path in files)
    return f"[{', '.join(quoted)}]"


def _remote(connection: Any, source: str) -> str:
    """Register remote files, read by pyarrow and queried by DuckDB."""
    import pyarrow.dataset

    from biaswatch.shared.parquet.filesystems import open_filesystem

    where, _, query = source.partition("?")
    folder = where.split("*", 1)[0].rsplit("/", 1)[0] if "*" in where else where
    ending = f"?{query}" if query else ""
    try:
        files, path = open_filesystem(folder + ending)
        dataset = pyarrow.dataset.dataset(
            path, filesystem=files, format="parquet", partitioning="hive"
        )
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        first = str(error).strip().splitlines()[0][:300].rstrip(".")
        raise UsageError(f"{source} cannot be read: {first}.") from None
    connection.register("remote", dataset)
    return "remote"
