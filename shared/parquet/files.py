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
AT_ONCE = 2000
"""Rows that are read together."""
ROW_GROUP = 20_000
"""Rows of one group in a file: small ones cost every reader, large ones our memory."""
LIVE_GROUP, LIVE_GROUP_BYTES = 1_000, 1024 * 1024
"""About the most rows, and bytes, of a group of answers as they came: readers take whole groups."""
pyarrow.set_memory_pool(pyarrow.system_memory_pool())
# Services have little memory: what pyarrow's own pool is given, it keeps.
MOMENT = pyarrow.timestamp("us", tz="UTC")
WORD = pyarrow.string()
COMMON = [
    ("kind", WORD), ("tenant", WORD), ("run_id", WORD), ("unit_id", WORD), ("at", MOMENT),
    ("purpose", WORD),
]  # fmt: skip
SCHEMAS = {
    RECORDS: pyarrow.schema(
        [("id", WORD), *COMMON, ("lane", WORD), ("keys", WORD), ("body", WORD)]
    ),
    TEXTS: pyarrow.schema([("record_id", WORD), ("field", WORD), *COMMON, ("body", WORD)]),
}
Row = Mapping[str, Any]


class Proof(NamedTuple):
    """What a file holds, so that it can be told whether it still does."""

    rows: int
    digest: str


class RowsDigest:
    """The hash of rows one after the other, however they are cut into parts."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._hash = hashlib.sha256()
        self.rows = 0

    def add(self, rows: Sequence[Row]) -> None:
        """Take in some rows."""
        if not rows:
            return
        cells = [[_plain(row.get(name)) for name in self._names] for row in rows]
        # All in one call: written one by one, rows take longer than the file itself.
        self._hash.update(to_json(cells, inf_nan_mode="constants")[1:-1] + b",")
        self.rows += len(rows)

    @property
    def proof(self) -> Proof:
        """What was taken in so far."""
        return Proof(self.rows, self._hash.hexdigest())


def _plain(cell: Any) -> Any:
    return cell.astimezone(UTC) if isinstance(cell, datetime) else cell


class HashedStream:
    """Hashes what is written through it."""

    closed = False

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._hash = hashlib.sha256()

    def write(self, data: bytes) -> int:
        """Write some bytes."""
        self._hash.update(data)
        return int(self._stream.write(data))

    def flush(self) -> None:
        """Leave it to the stream itself, which is closed by who opened it."""

    def close(self) -> None:
        """As `flush`."""

    @property
    def digest(self) -> str:
        """The hash of all bytes so far."""
        return self._hash.hexdigest()


class RowsWriter:
    """Writes rows to one file, in groups of like size; a context, for when writing fails."""

    def __init__(self, stream: Any, schema: pyarrow.Schema, digest: RowsDigest | None) -> None:
        self._schema = schema
        self._digest = digest
        self._live = digest is None
        self._stream = stream
        self._writer = pyarrow.parquet.ParquetWriter(
            stream, schema, compression="zstd", write_page_checksum=True
        )
        self._waiting: list[Row] = []
        self._rows = 0

    @classmethod
    def of_rows(cls, stream: Any, schema: pyarrow.Schema) -> "RowsWriter":
        """Return a writer whose proof is of the rows, so that what is read can be compared."""
        return cls(stream, schema, RowsDigest(schema.names))

    @classmethod
    def of_bytes(cls, stream: Any, schema: pyarrow.Schema) -> "RowsWriter":
        """Return a writer whose proof is of the file's bytes, which costs a tenth."""
        return cls(HashedStream(stream), schema, None)

    def add(self, rows: Sequence[Row]) -> None:
        """Write some rows."""
        if self._digest is not None:
            self._digest.add(rows)
        self._rows += len(rows)
        self._waiting += rows
        if len(self._waiting) >= ROW_GROUP:
            self._flush()

    def __enter__(self) -> "RowsWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()  # once more after `close`, which changes nothing

    def close(self) -> Proof:
        """Write what is left; return what the file should hold."""
        self._flush()
        self._writer.close()
        return self._digest.proof if self._digest else Proof(self._rows, self._stream.digest)

    def _flush(self) -> None:
        if self._waiting:
            columns = [
                pyarrow.array([row.get(field.name) for row in self._waiting], field.type)
                for field in self._schema
            ]
            table = pyarrow.table(columns, schema=self._schema)
            size = _live_group(table) if self._live else ROW_GROUP
            self._writer.write_table(table, row_group_size=size)
            self._waiting = []


def _live_group(table: pyarrow.Table) -> int:
    """Return how many rows of a table of answers go into a group."""
    in_bytes = LIVE_GROUP_BYTES * table.num_rows // max(1, table.nbytes)
    return int(max(1, min(LIVE_GROUP, in_bytes)))


def rows_of(
    folder: ParquetFolder, path: str, columns: Sequence[str] | None = None
) -> Iterator[list[dict[str, Any]]]:
    """Return the rows of a file, some at a time."""
    with folder.opened(path) as stream, pyarrow.parquet.ParquetFile(stream) as file:
        for batch in file.iter_batches(batch_size=AT_ONCE, columns=columns):
            yield batch.to_pylist()


def proof_of(folder: ParquetFolder, path: str) -> Proof:
    """Return what a file holds, by reading all of it."""
    with folder.opened(path) as stream, pyarrow.parquet.ParquetFile(stream) as file:
        digest = RowsDigest(file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=AT_ONCE):
            digest.add(batch.to_pylist())
    return digest.proof


def path_of(dataset: str, tenant: str, source: str, day: str, name: str) -> str:
    """Return where a file of a dataset lies: partitions as Hive writes them."""
    where = f"tenant={quote(tenant, safe='')}/source={quote(source, safe='')}/day={day}"
    return f"{dataset}/{where}/{name}.parquet"


def live_path_of(dataset: str, tenant: str, day: str, run_id: str, name: str) -> str:
    """Return where a file of answers lies as they came, apart from what is archived."""
    where = f"tenant={quote(tenant, safe='')}/day={day}/run={run_id}"
    return f"live-{dataset}/{where}/{name}.parquet"


READ_BYTES = 1024 * 1024


def digest_of_bytes(folder: ParquetFolder, path: str) -> str:
    """Return the hash of a file's bytes.

    Raises
    ------
    TransientError
        It cannot be read now.
    """
    read = hashlib.sha256()
    with folder.opened(path) as stream:
        while data := stream.read(READ_BYTES):
            read.update(data)
    return read.hexdigest()


def table_of(folder: ParquetFolder, path: str, group: int | None = None) -> pyarrow.Table:
    """Return one group of rows of a file, or of all its rows the first column.

    Raises
    ------
    TransientError
        It cannot be read now, or does not hold what was written.
    """
    with (
        folder.opened(path) as stream,
        pyarrow.parquet.ParquetFile(stream, page_checksum_verification=True) as file,
    ):
        # By one thread: services have one core, and each thread would keep memory of its own.
        if group is None:
            return file.read(columns=file.schema_arrow.names[:1], use_threads=False)
        return file.read_row_group(group, use_threads=False)


def id_bounds_of(folder: ParquetFolder, path: str) -> list[tuple[str, str]]:
    """Return the least and the largest value of the first column in each group of a file."""
    with folder.opened(path) as stream, pyarrow.parquet.ParquetFile(stream) as file:
        groups = [file.metadata.row_group(n).column(0) for n in range(file.num_row_groups)]
    return [(each.statistics.min, each.statistics.max) for each in groups]


def among(table: pyarrow.Table, ids: Collection[str]) -> pyarrow.Table:
    """Return the rows whose first column has one of these values."""
    wanted = pyarrow.array(list(ids), WORD)
    return table.filter(pyarrow.compute.is_in(table.column(0), value_set=wanted))


def beginning(table: pyarrow.Table, beginnings: Sequence[str]) -> pyarrow.Table:
    """Return the rows whose first column begins with one of these, which are of one length."""
    begins = pyarrow.compute.utf8_slice_codeunits(table.column(0), 0, len(beginnings[0]))
    wanted = pyarrow.array(beginnings, WORD)
    return table.filter(pyarrow.compute.is_in(begins, value_set=wanted))


def after(table: pyarrow.Table, value: str) -> pyarrow.Table:
    """Return the rows whose first column comes after a value."""
    return table.filter(pyarrow.compute.greater(table.column(0), value))
