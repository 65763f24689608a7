"""Rows of files of answers: read whole, kept in memory while there is room for them."""

from collections import OrderedDict
from collections.abc import Collection, Iterator
from threading import Lock
from typing import TYPE_CHECKING, Any

from shared.errors import ConfigurationError
from shared.store.archive_files import ArchiveFile

if TYPE_CHECKING:
    import pyarrow

    from shared.parquet.folder import ParquetFolder

KEPT_BYTES = 24 * 1024 * 1024
"""Some dozens of files of 5,000 answers: who goes through a window needs those of one stretch."""
AT_ONCE = 500
OF_RECORDS = ["id", "tenant", "keys", "body"]
WITHOUT_PARQUET = (
    "Answers of live systems are in files (BIASWATCH_RECORDER_ANSWER_FILES), which takes pyarrow:"
    " install biaswatch with the extra `parquet`, also in the images of recorder, planner,"
    " diagnoser and gateway."
)
Row = dict[str, Any]


def _narrow(table: "pyarrow.Table") -> "pyarrow.Table":
    """Return a table of records without what is told by their bodies: cells are dear."""
    return table.select(OF_RECORDS) if OF_RECORDS[0] in table.column_names else table


class ReadFiles:
    """Reads files that never change; several threads may ask at the same time."""

    def __init__(self) -> None:
        self._folders: dict[str, ParquetFolder] = {}
        self._kept: OrderedDict[tuple[str, bool], pyarrow.Table] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def ids(self, file: ArchiveFile, among: Collection[str]) -> set[str]:
        """Return which of some ids a file holds.

        Raises
        ------
        TransientError
            It cannot be read now.
        """
        found = self._found(self._table(file, ids_alone=True), among)
        return set(found.column(0).to_pylist())

    def rows(self, file: ArchiveFile, among: Collection[str]) -> list[Row]:
        """Return the rows of some ids that a file holds, in their order.

        Raises
        ------
        TransientError
            It cannot be read now.
        """
        table = self._table(file, ids_alone=False)
        rows: list[Row] = self._found(_narrow(table), among).to_pylist()
        return rows

    def beginning(self, file: ArchiveFile, beginnings: Collection[str]) -> list[Row]:
        """Return the rows of a file whose ids begin with one of these, all of the same length.

        Raises
        ------
        TransientError
            It cannot be read now.
        """
        import pyarrow.compute

        table = self._table(file, ids_alone=False)
        length = len(next(iter(beginnings), ""))
        begins = pyarrow.compute.utf8_slice_codeunits(table.column(0), 0, length)
        wanted = pyarrow.array(list(beginnings), pyarrow.string())
        rows: list[Row] = table.filter(pyarrow.compute.is_in(begins, value_set=wanted)).to_pylist()
        return rows

    def after(self, file: ArchiveFile, id_: str) -> Iterator[Row]:
        """Return the rows of a file after an id, in their order.

        Raises
        ------
        TransientError
            It cannot be read now.
        """
        import pyarrow.compute

        table = self._table(file, ids_alone=False)
        rest = table.filter(pyarrow.compute.greater(table.column(0), id_))
        for start in range(0, rest.num_rows, AT_ONCE):
            yield from rest.slice(start, AT_ONCE).to_pylist()

    @staticmethod
    def _found(table: "pyarrow.Table", among: Collection[str]) -> "pyarrow.Table":
        import pyarrow.compute

        wanted = pyarrow.array(list(among), pyarrow.string())
        return table.filter(pyarrow.compute.is_in(table.column(0), value_set=wanted))

    def _table(self, file: ArchiveFile, *, ids_alone: bool) -> "pyarrow.Table":
        """Return a file's rows, or the column of its ids, which is its first."""
        key = (file.path, ids_alone)
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return kept
        read = self._read(file, ids_alone=ids_alone)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = read
                self._bytes += read.nbytes
            while self._bytes > KEPT_BYTES and len(self._kept) > 1:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return read

    def _read(self, file: ArchiveFile, *, ids_alone: bool) -> "pyarrow.Table":
        try:
            from shared.parquet.folder import AGAIN, ParquetFolder
            from shared.parquet.rows import table_of
        except ModuleNotFoundError:
            raise ConfigurationError(WITHOUT_PARQUET) from None

        uri = str(file.uri)
        if uri not in self._folders:
            self._folders[uri] = ParquetFolder(uri, then=AGAIN)
        return table_of(self._folders[uri], file.path, ids_alone=ids_alone)
