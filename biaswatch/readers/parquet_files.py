"""Read Parquet files of any origin within bounds: a small file may decode to more than memory."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from biaswatch.shared.errors import UsageError

MOST_BYTES = 1024**3
"""Bytes of all values once decoded; a repeated text counts each time."""
AT_ONCE_BYTES = 256 * 1024 * 1024
"""Decoded bytes of one batch of a file that is read in parts."""
MOST_VALUES_A_ROW = 10_000
"""Mean number of values per row of a column of lists."""
ROWS_AT_ONCE = 65_536


def read_parquet(path: Path, most_columns: int, most_cells: int) -> pyarrow.Table:
    """Return the flat columns of a file, without lists and structures.

    Raises
    ------
    UsageError
        The file is not Parquet, or is larger than the bounds.
    OSError
        The file cannot be opened.
    """
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            _check(path, file, most_columns, most_cells)
        names = _flat(file)
        texts = [name for name in names if _is_text(file.schema_arrow.field(name).type)]
        # Texts stay dictionary-encoded until their total length is known.
        with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as folded:
            parts = [_unfolded(part) for part in list(_parts(path, folded, names))]
    except pyarrow.ArrowException as error:
        first = (str(error).splitlines() or [""])[0].rstrip(".")[:200]
        raise UsageError(f"{path}: this is not Parquet, or it is broken ({first}).") from None
    if not parts:
        empty = pyarrow.schema([file.schema_arrow.field(name) for name in names])
        return empty.empty_table()
    return pyarrow.Table.from_batches(parts)


def nested_columns(path: Path) -> list[str]:
    """Return the columns of a file that hold lists or structures."""
    schema = pyarrow.parquet.read_schema(path)
    return [field.name for field in schema if pyarrow.types.is_nested(field.type)]


def zstandard_bytes(data: bytes, most_bytes: int) -> bytes:
    """Return the first bytes of data compressed with Zstandard.

    Raises
    ------
    OSError
        It is not compressed data, or it is damaged.
    """
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(data), "zstd") as stream:
        return bytes(stream.read(most_bytes))


def parquet_batches(path: Path, rows_at_once: int) -> Iterator[pyarrow.RecordBatch]:
    """Yield all columns of a file of any length, in batches of rows.

    Raises
    ------
    UsageError
        The file is not Parquet, or one batch exceeds the memory bound.
    OSError
        The file cannot be opened.
    """
    try:
        with pyarrow.parquet.ParquetFile(path) as file:
            if any(_values_a_row(chunk) > MOST_VALUES_A_ROW for chunk in _chunks(file)):
                raise UsageError(
                    f"{path} has rows of more than {MOST_VALUES_A_ROW:,} values. Leave out that"
                    " column."
                )
            texts = [field.name for field in file.schema_arrow if _is_text(field.type)]
        with pyarrow.parquet.ParquetFile(path, read_dictionary=texts) as folded:
            for batch in folded.iter_batches(batch_size=rows_at_once):
                _check_bytes(
                    path, sum(_bytes_of(column) for column in batch.columns), AT_ONCE_BYTES
                )
                yield _unfolded(batch)
    except pyarrow.ArrowException as error:
        first = (str(error).splitlines() or [""])[0].rstrip(".")[:200]
        raise UsageError(f"{path}: this is not Parquet, or it is broken ({first}).") from None


def _values_a_row(chunk: tuple[Any, int]) -> float:
    column, rows = chunk
    return float(column.num_values / max(rows, 1))


def _chunks(file: Any) -> list[tuple[Any, int]]:
    """Return the metadata of each column chunk, and the rows of its row group."""
    metadata = file.metadata
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    return [(group.column(n), group.num_rows) for group in groups for n in range(group.num_columns)]


def _check(path: Path, file: Any, most_columns: int, most_cells: int) -> None:
    metadata = file.metadata
    if metadata.num_columns > most_columns:
        raise UsageError(f"{path} has more than {most_columns:,} columns. Leave some out.")
    chunks = [chunk for chunk, _ in _chunks(file)]
    cells = max(metadata.num_rows * metadata.num_columns, sum(chunk.num_values for chunk in chunks))
    if cells > most_cells:
        raise UsageError(
            f"{path} has {cells:,} cells, and a table at most {most_cells:,}. Leave out columns"
            " that are not needed, or split it by domain."
        )
    _check_bytes(path, sum(chunk.total_uncompressed_size for chunk in chunks))


def _check_bytes(path: Path, size: int, most: int | None = None) -> None:
    most = most or MOST_BYTES
    if size > most:
        raise UsageError(
            f"{path} decodes to more than {most // 1024**2} MiB at once. Leave out columns of"
            " long texts, or split it by domain."
        )


def _flat(file: Any) -> list[str]:
    kinds = pyarrow.types
    return [field.name for field in file.schema_arrow if not kinds.is_nested(field.type)]


def _is_text(kind: Any) -> bool:
    kinds = pyarrow.types
    tests = (kinds.is_string, kinds.is_large_string, kinds.is_binary, kinds.is_large_binary)
    return any(test(kind) for test in tests)


def _parts(path: Path, file: Any, names: list[str]) -> Iterator[pyarrow.RecordBatch]:
    size = 0
    for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, columns=names):
        size += sum(_bytes_of(column) for column in batch.columns)
        _check_bytes(path, size)
        yield batch


def _bytes_of(column: Any) -> int:
    """Return the bytes of a column once its dictionary is decoded."""
    if not pyarrow.types.is_dictionary(column.type):
        return int(column.nbytes)
    lengths = pyarrow.compute.binary_length(column.dictionary)
    total = pyarrow.compute.sum(lengths.cast("int64").take(column.indices)).as_py()
    return int(total or 0)


def _unfolded(batch: pyarrow.RecordBatch) -> pyarrow.RecordBatch:
    columns = [
        column.dictionary_decode() if pyarrow.types.is_dictionary(column.type) else column
        for column in batch.columns
    ]
    return pyarrow.RecordBatch.from_arrays(columns, names=batch.schema.names)
