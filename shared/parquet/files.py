"""Parquet files of rows: written, hashed, read back and searched."""

import hashlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, NamedTuple
from urllib.parse import quote

import pyarrow
import pyarrow.compute
import pyarrow.parquet
from pydantic_core import to_json

from biaswatch.shared.parquet.folder import ParquetFolder

RECORDS, TEXTS, NUMBERS = "records", "texts", "numbers"
BATCH_ROWS = 2000
"""Rows that are read together."""
READ_BYTES = 1024 * 1024
GROUP_ROWS = 20_000
"""Rows per row group of the archive: small groups cost every reader, large ones our memory."""
LIVE_GROUP_ROWS, LIVE_GROUP_BYTES = 1_000, 1024 * 1024
"""Limits of a row group of production answers, since readers load whole groups."""
pyarrow.set_memory_pool(pyarrow.system_memory_pool())
# Services have little memory, and pyarrow's own pool keeps the memory it is given.
TIME = pyarrow.timestamp("us", tz="UTC")
TEXT = pyarrow.string()
COMMON = [
    ("kind", TEXT), ("tenant", TEXT), ("run_id", TEXT), ("unit_id", TEXT), ("at", TIME),
    ("purpose", TEXT),
]  # fmt: skip
SCHEMAS = {
    RECORDS: pyarrow.schema(
        [("id", TEXT), *COMMON, ("lane", TEXT), ("keys", TEXT), ("body", TEXT)]
    ),
    TEXTS: pyarrow.schema([("record_id", TEXT), ("field", TEXT), *COMMON, ("body", TEXT)]),
}
Row = Mapping[str, Any]


class Proof(NamedTuple):
    """Number of rows and digest of a file, to verify it later."""

    rows: int
    digest: str


class RowsDigest:
    """The hash of a sequence of rows, independent of its batches."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._hash = hashlib.sha256()
        self.rows = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Add rows."""
        if not rows:
            return
        cells = [[_in_utc(row.get(name)) for name in self._names] for row in rows]
        # In one call: one call per row takes longer than writing the file.
        self._hash.update(to_json(cells, inf_nan_mode="constants")[1:-1] + b",")
        self.rows += len(rows)

    @property
    def proof(self) -> Proof:
        """The proof of the added rows."""
        return Proof(self.rows, self._hash.hexdigest())


def _in_utc(cell: Any) -> Any:
    return cell.astimezone(UTC) if isinstance(cell, datetime) else cell


class HashedStream:
    """Hashes the bytes written through it; the owner of the stream closes it."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write bytes."""
        self._hash.update(data)
        return int(self._stream.write(data))

    def flush(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""

    @property
    def digest(self) -> str:
        """The hash of the written bytes."""
        return self._hash.hexdigest()


class RowsWriter:
    """Writes rows to one file, in groups of similar size; a context manager for errors."""

    def __init__(self, stream: Any, schema: pyarrow.Schema, digest: RowsDigest | None) -> None:
        self._schema = schema
        self._digest = digest
        self._stream = stream
        self._writer = pyarrow.parquet.ParquetWriter(
            stream, schema, compression="zstd", write_page_checksum=True
        )
        self._buffer: list[Row] = []
        self._rows = 0

    @classmethod
    def of_rows(cls, stream: Any, schema: pyarrow.Schema) -> "RowsWriter":
        """Return a writer whose proof hashes rows, which can be compared after reading back."""
        return cls(stream, schema, RowsDigest(schema.names))

    @classmethod
    def of_bytes(cls, stream: Any, schema: pyarrow.Schema) -> "RowsWriter":
        """Return a writer whose proof hashes the file's bytes, at a tenth of the cost."""
        return cls(HashedStream(stream), schema, None)

    def add(self, rows: Sequence[Row]) -> None:
        """Write rows."""
        if self._digest is not None:
            self._digest.add(rows)
        self._rows += len(rows)
        self._buffer += rows
        if len(self._buffer) >= GROUP_ROWS:
            self._flush()

    def __enter__(self) -> "RowsWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()  # has no effect after `close`

    def close(self) -> Proof:
        """Write the remaining rows; return the proof of the file."""
        self._flush()
        self._writer.close()
        return self._digest.proof if self._digest else Proof(self._rows, self._stream.digest)

    def _flush(self) -> None:
        if self._buffer:
            columns = [
                pyarrow.array([row.get(field.name) for row in self._buffer], field.type)
                for field in self._schema
            ]
            table = pyarrow.table(columns, schema=self._schema)
            size = GROUP_ROWS if self._digest else _live_group_rows(table)
            self._writer.write_table(table, row_group_size=size)
            self._buffer = []


def _live_group_rows(table: pyarrow.Table) -> int:
    """Return the size of row groups for a table of production answers."""
    rows = LIVE_GROUP_BYTES * table.num_rows // max(1, table.nbytes)
    return int(max(1, min(LIVE_GROUP_ROWS, rows)))


def rows_of(
    folder: ParquetFolder, path: str, columns: Sequence[str] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Return the rows of a file in batches."""
    with folder.opened(path) as stream, pyarrow.parquet.ParquetFile(stream) as file:
        for batch in file.iter_batches(batch_size=BATCH_ROWS, columns=columns):
            yield batch.to_pylist()


def proof_of(folder: ParquetFolder, path: str) -> Proof:
    """Return the proof of a file by reading all of it."""
    with folder.opened(path) as stream, pyarrow.parquet.ParquetFile(stream) as file:
        digest = RowsDigest(file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=BATCH_ROWS):
            digest.add(batch.to_pylist())
    return digest.proof


def path_of(dataset: str, tenant: str, source: str, day: str, name: str) -> str:
    """Return the path of a file of a dataset, with Hive partitions."""
    partitions = f"tenant={quote(tenant, safe='')}/source={quote(source, safe='')}/day={day}"
    return f"{dataset}/{partitions}/{name}.parquet"


def live_path_of(dataset: str, tenant: str, day: str, run_id: str, name: str) -> str:
    """Return the path of a file of production answers, apart from the archive."""
    partitions = f"tenant={quote(tenant, safe='')}/day={day}/run={run_id}"
    return f"live-{dataset}/{partitions}/{name}.parquet"


def digest_of_bytes(folder: ParquetFolder, path: str) -> str:
    """Return the hash of a file's bytes.

    Raises
    ------
    TransientError
        It cannot be read now.
    """
    digest = hashlib.sha256()
    with folder.opened(path) as stream:
        while data := stream.read(READ_BYTES):
            digest.update(data)
    return digest.hexdigest()


def table_of(folder: ParquetFolder, path: str, group: int | None = None) -> pyarrow.Table:
    """Return one row group of a file, or for None the first column of all rows.

    Raises
    ------
    TransientError
        It cannot be read now, or its checksum is wrong.
    """
    with (
        folder.opened(path) as stream,
        pyarrow.parquet.ParquetFile(stream, page_checksum_verification=True) as file,
    ):
        # Without threads: services have one core, and each thread keeps memory of its own.
        if group is None:
            return file.read(columns=file.schema_arrow.names[:1], use_threads=False)
        return file.read_row_group(group, use_threads=False)


def id_bounds_of(folder: ParquetFolder, path: str) -> list[tuple[str, str]]:
    """Return the smallest and largest value of the first column in each row group."""
    with folder.opened(path) as stream, pyarrow.parquet.ParquetFile(stream) as file:
        groups = [file.metadata.row_group(n).column(0) for n in range(file.num_row_groups)]
    return [(group.statistics.min, group.statistics.max) for group in groups]


def with_ids(table: pyarrow.Table, ids: Collection[str]) -> pyarrow.Table:
    """Return the rows whose first column has one of these values."""
    wanted = pyarrow.array(list(ids), TEXT)
    return table.filter(pyarrow.compute.is_in(table.column(0), value_set=wanted))


def with_prefixes(table: pyarrow.Table, prefixes: Sequence[str]) -> pyarrow.Table:
    """Return the rows whose first column starts with a prefix; all prefixes have one length."""
    starts = pyarrow.compute.utf8_slice_codeunits(table.column(0), 0, len(prefixes[0]))
    wanted = pyarrow.array(prefixes, TEXT)
    return table.filter(pyarrow.compute.is_in(starts, value_set=wanted))


def after(table: pyarrow.Table, value: str) -> pyarrow.Table:
    """Return the rows whose first column is greater than a value."""
    return table.filter(pyarrow.compute.greater(table.column(0), value))
