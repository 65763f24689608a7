"""Rows as Parquet files that are read back: the same rows, by number and by hash."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

import pyarrow
import pyarrow.parquet

from shared.parquet.folder import ParquetFolder

RECORDS, TEXTS, NUMBERS = "records", "texts", "numbers"
AT_ONCE = 2000
"""Rows that are read together."""
ROW_GROUP = 20_000
"""Rows of one group in a file: small ones cost every reader, large ones our memory."""
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


@dataclass(frozen=True)
class Proof:
    """What a file holds, so that it can be told whether it still does."""

    rows: int
    digest: str


class RowsDigest:
    """The hash of rows one after the other, however they are cut into parts."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = list(names)
        self._hash = hashlib.sha256()
        self.rows = 0

    def add(self, rows: Iterable[Row]) -> None:
        """Take in some rows."""
        for row in rows:
            cells = [_plain(row.get(name)) for name in self._names]
            self._hash.update(json.dumps(cells, separators=(",", ":")).encode() + b"\n")
            self.rows += 1

    @property
    def proof(self) -> Proof:
        """What was taken in so far."""
        return Proof(self.rows, self._hash.hexdigest())


def _plain(cell: Any) -> Any:
    return cell.astimezone(UTC).isoformat() if isinstance(cell, datetime) else cell


class RowsWriter:
    """Writes rows to one file, in groups of like size."""

    def __init__(self, stream: Any, schema: pyarrow.Schema) -> None:
        self._schema = schema
        self._writer = pyarrow.parquet.ParquetWriter(stream, schema, compression="zstd")
        self._waiting: list[Row] = []
        self._digest = RowsDigest(schema.names)

    def add(self, rows: Iterable[Row]) -> None:
        """Write some rows."""
        found = list(rows)
        self._digest.add(found)
        self._waiting += found
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
        return self._digest.proof

    def _flush(self) -> None:
        if self._waiting:
            rows = [{name: row.get(name) for name in self._schema.names} for row in self._waiting]
            self._writer.write_table(pyarrow.Table.from_pylist(rows, schema=self._schema))
            self._waiting = []


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


def table_of(folder: ParquetFolder, path: str, *, ids_alone: bool = False) -> pyarrow.Table:
    """Return all rows of a file, or its first column, by which they are in order."""
    with folder.opened(path) as stream, pyarrow.parquet.ParquetFile(stream) as file:
        return file.read(columns=file.schema_arrow.names[:1] if ids_alone else None)
