"""Row groups of files of answers: each file is checked once, and recent groups are cached."""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.store.archive_files import ArchiveFile
from biaswatch.shared.store.record_rows import Row

if TYPE_CHECKING:
    import pyarrow

    from biaswatch.shared.parquet.folder import ParquetFolder

CACHE_BYTES = 8 * 1024 * 1024
"""Size of the cache of row groups: a reader of a window needs those of one stretch of time."""
CACHED_BOUNDS = 2000
"""Number of files with cached bounds of row groups."""
RECORD_COLUMNS = ["id", "tenant", "keys", "body"]
"""Columns that the body does not repeat; reading a cell is expensive."""
WITHOUT_PARQUET = (
    "Answers of live systems are in files (BIASWATCH_RECORDER_ANSWER_FILES), which takes pyarrow:"
    " install biaswatch with the extra `parquet` (on a laptop: `make extras`), also in the images"
    " of recorder, planner, diagnoser and gateway."
)
IdBounds = tuple[str, str]
"""First and last id of a row group."""


class AnswerFileReader:
    """Reads row groups of files, which never change; safe for use by several threads.

    Every method raises TransientError where a file cannot be read now, or was changed.
    """

    def __init__(self) -> None:
        self._folders: dict[str, ParquetFolder] = {}
        self._bounds: OrderedDict[str, list[IdBounds]] = OrderedDict()
        self._tables: OrderedDict[tuple[str, int | None], pyarrow.Table] = OrderedDict()
        self._cached_bytes = 0
        self._lock = Lock()

    def ids(self, file: ArchiveFile, ids: Collection[str]) -> set[str]:
        """Return the ids that a file contains."""
        self._bounds_of(file)  # checks the file
        rows = parquet_files().with_ids(self._table(file, None), ids)
        return set(rows.column(0).to_pylist())

    def rows(self, file: ArchiveFile, ids: Sequence[str]) -> Iterator[Row]:
        """Return a file's rows of sorted ids, in order."""
        for group, (first, last) in enumerate(self._bounds_of(file)):
            if in_group := ids[bisect_left(ids, first) : bisect_right(ids, last)]:
                table = self._table(file, group)
                is_records = RECORD_COLUMNS[0] in table.column_names
                narrow = table.select(RECORD_COLUMNS) if is_records else table
                yield from parquet_files().with_ids(narrow, in_group).to_pylist()

    def with_prefixes(self, file: ArchiveFile, prefixes: Collection[str]) -> Iterator[Row]:
        """Return a file's rows whose ids start with a prefix; all prefixes have one length."""
        ordered = sorted(prefixes)
        length = len(ordered[0])
        for group, (first, last) in enumerate(self._bounds_of(file)):
            start, end = bisect_left(ordered, first[:length]), bisect_right(ordered, last[:length])
            if in_group := ordered[start:end]:
                table = self._table(file, group)
                yield from parquet_files().with_prefixes(table, in_group).to_pylist()

    def after(self, file: ArchiveFile, id_: str) -> Iterator[Row]:
        """Return a file's rows after an id, in order."""
        for group, (_, last) in enumerate(self._bounds_of(file)):
            if last > id_:
                yield from parquet_files().after(self._table(file, group), id_).to_pylist()

    def _bounds_of(self, file: ArchiveFile) -> list[IdBounds]:
        """Return the bounds of a file's row groups; the first call checks the whole file."""
        with self._lock:
            if (cached := self._bounds.get(file.path)) is not None:
                self._bounds.move_to_end(file.path)
                return cached
        folder = self.folder(str(file.uri))
        if parquet_files().digest_of_bytes(folder, file.path) != file.digest:
            raise TransientError(
                f"{file.path} in {file.uri} does not hold what was written to it. Restore that file"
                " from a backup."
            )
        bounds: list[IdBounds] = parquet_files().id_bounds_of(folder, file.path)
        with self._lock:
            self._bounds[file.path] = bounds
            if len(self._bounds) > CACHED_BOUNDS:
                self._bounds.popitem(last=False)
        return bounds

    def _table(self, file: ArchiveFile, group: int | None) -> "pyarrow.Table":
        """Return a row group of a file, or for None the column of all ids."""
        key = (file.path, group)
        with self._lock:
            if (cached := self._tables.get(key)) is not None:
                self._tables.move_to_end(key)
                return cached
        table = parquet_files().table_of(self.folder(str(file.uri)), file.path, group)
        with self._lock:
            if key not in self._tables:
                self._tables[key] = table
                self._cached_bytes += table.nbytes
            while self._cached_bytes > CACHE_BYTES:
                self._cached_bytes -= self._tables.popitem(last=False)[1].nbytes
        return table

    def folder(self, uri: str) -> "ParquetFolder":
        """Return the folder of an address."""
        if uri not in self._folders:
            self._folders[uri] = open_folder(uri)
        return self._folders[uri]


def parquet_files() -> Any:
    """Return the module of Parquet files, which is loaded where there are any.

    Raises
    ------
    ConfigurationError
        pyarrow is not installed.
    """
    try:
        from biaswatch.shared.parquet import files
    except ModuleNotFoundError:
        raise ConfigurationError(WITHOUT_PARQUET) from None
    return files


def open_folder(uri: str) -> "ParquetFolder":
    """Open a folder of files.

    Raises
    ------
    ConfigurationError
        Its address is wrong, or pyarrow is not installed.
    """
    try:
        from biaswatch.shared.parquet.folder import RETRY_LATER, ParquetFolder
    except ModuleNotFoundError:
        raise ConfigurationError(WITHOUT_PARQUET) from None
    return ParquetFolder(uri, advice=RETRY_LATER)
