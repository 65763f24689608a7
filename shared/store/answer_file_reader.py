"""Parts of files of answers: each file is checked once, some parts of it are kept in memory."""

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Collection, Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Any

from biaswatch.shared.errors import ConfigurationError, TransientError
from biaswatch.shared.store.archive_files import ArchiveFile

if TYPE_CHECKING:
    import pyarrow

    from biaswatch.shared.parquet.folder import ParquetFolder

KEPT_BYTES = 8 * 1024 * 1024
"""Of parts of files: who goes through a window needs those of one stretch of time."""
KEPT_BOUNDS = 2000
"""Files of which it is kept where their parts begin and end."""
OF_RECORDS = ["id", "tenant", "keys", "body"]
WITHOUT_PARQUET = (
    "Answers of live systems are in files (BIASWATCH_RECORDER_ANSWER_FILES), which takes pyarrow:"
    " install biaswatch with the extra `parquet` (on a laptop: `make extras`), also in the images"
    " of recorder, planner, diagnoser and gateway."
)
Row = dict[str, Any]
IdBounds = tuple[str, str]
"""The first id of a part of a file, and the last."""


class AnswerFileReader:
    """Reads parts of files, which never change; several threads may ask at the same time."""

    def __init__(self) -> None:
        self._folders: dict[str, ParquetFolder] = {}
        self._bounds: OrderedDict[str, list[IdBounds]] = OrderedDict()
        self._kept: OrderedDict[tuple[str, int | None], pyarrow.Table] = OrderedDict()
        self._bytes = 0
        self._lock = Lock()

    def ids(self, file: ArchiveFile, among: Collection[str]) -> set[str]:
        """Return which of some ids a file holds.

        Raises
        ------
        TransientError
            It cannot be read now.
        """
        self._bounds_of(file)  # checks the file
        found = parquet_parts().among(self._table(file, None), among)
        return set(found.column(0).to_pylist())

    def rows(self, file: ArchiveFile, among: Sequence[str]) -> Iterator[Row]:
        """Return the rows of some ids, which are sorted, that a file holds, in their order.

        Of records without what their bodies tell as well: cells are dear.

        Raises
        ------
        TransientError
            It cannot be read now.
        """
        for part, (first, last) in enumerate(self._bounds_of(file)):
            if mine := among[bisect_left(among, first) : bisect_right(among, last)]:
                table = self._table(file, part)
                narrow = table.select(OF_RECORDS) if OF_RECORDS[0] in table.column_names else table
                yield from parquet_parts().among(narrow, mine).to_pylist()

    def beginning(self, file: ArchiveFile, beginnings: Collection[str]) -> Iterator[Row]:
        """Return the rows of a file whose ids begin with one of these, all of the same length.

        Raises
        ------
        TransientError
            It cannot be read now.
        """
        ordered = sorted(beginnings)
        length = len(ordered[0])
        for part, (first, last) in enumerate(self._bounds_of(file)):
            from_, to = bisect_left(ordered, first[:length]), bisect_right(ordered, last[:length])
            if mine := ordered[from_:to]:
                table = self._table(file, part)
                yield from parquet_parts().beginning(table, mine).to_pylist()

    def after(self, file: ArchiveFile, id_: str) -> Iterator[Row]:
        """Return the rows of a file after an id, in their order.

        Raises
        ------
        TransientError
            It cannot be read now.
        """
        for part, (_, last) in enumerate(self._bounds_of(file)):
            if last > id_:
                yield from parquet_parts().after(self._table(file, part), id_).to_pylist()

    def _bounds_of(self, file: ArchiveFile) -> list[IdBounds]:
        """Return where the parts of a file begin and end; who asks first checks the whole file."""
        with self._lock:
            if (known := self._bounds.get(file.path)) is not None:
                return known
        folder = self._folder(file)
        if parquet_parts().digest_of_bytes(folder, file.path) != file.digest:
            raise TransientError(
                f"{file.path} in {file.uri} does not hold what was written to it. Restore that file"
                " from a backup."
            )
        bounds: list[IdBounds] = parquet_parts().id_bounds_of(folder, file.path)
        with self._lock:
            self._bounds[file.path] = bounds
            if len(self._bounds) > KEPT_BOUNDS:
                self._bounds.popitem(last=False)
        return bounds

    def _table(self, file: ArchiveFile, part: int | None) -> "pyarrow.Table":
        """Return a part of a file's rows, or the column of all ids, which is its first."""
        key = (file.path, part)
        with self._lock:
            if (kept := self._kept.get(key)) is not None:
                self._kept.move_to_end(key)
                return kept
        read = parquet_parts().table_of(self._folder(file), file.path, part)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = read
                self._bytes += read.nbytes
            while self._bytes > KEPT_BYTES:
                self._bytes -= self._kept.popitem(last=False)[1].nbytes
        return read

    def _folder(self, file: ArchiveFile) -> "ParquetFolder":
        uri = str(file.uri)
        if uri not in self._folders:
            self._folders[uri] = open_folder(uri)
        return self._folders[uri]


def parquet_parts() -> Any:
    """Return the module that reads parts of files, which is loaded where there are any.

    Raises
    ------
    ConfigurationError
        What it takes is not installed.
    """
    try:
        from biaswatch.shared.parquet import files
    except ModuleNotFoundError:
        raise ConfigurationError(WITHOUT_PARQUET) from None
    return files


def open_folder(uri: str) -> "ParquetFolder":
    """Open a place of files.

    Raises
    ------
    ConfigurationError
        Its address is wrong, or what it takes is not installed.
    """
    try:
        from biaswatch.shared.parquet.folder import AGAIN, ParquetFolder
    except ModuleNotFoundError:
        raise ConfigurationError(WITHOUT_PARQUET) from None
    return ParquetFolder(uri, then=AGAIN)
