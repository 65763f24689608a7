"""Parts of files whose first column is in order: read alone, and looked through."""

import hashlib
from collections.abc import Collection, Sequence

import pyarrow
import pyarrow.compute
import pyarrow.parquet

from biaswatch.shared.parquet.folder import ParquetFolder
from biaswatch.shared.parquet.rows import WORD

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
