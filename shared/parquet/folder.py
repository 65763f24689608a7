"""Where Parquet files lie: a folder of this machine, or of an object store that speaks S3."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pyarrow.fs

from biaswatch.shared.errors import TransientError, UsageError

KINDS = ("s3", "gs", "file")
UNFINISHED = ".unfinished"
REPEAT = "The same command goes on where this one stopped."
AGAIN = "Once the place of the files works again, so does this."


class ParquetFolder:
    """Files below one address; a file is there whole or not at all.

    Object stores do so by themselves, and a local file gets its name when it is on the disk.

    Parameters
    ----------
    uri
        The address: a path, `file://`, `s3://` or `gs://`.
    then
        What follows where a file cannot be written or read now, for whoever reads the error.
    """

    def __init__(self, uri: str, then: str = REPEAT) -> None:
        self.uri = checked_uri(uri)
        self._then = then
        try:
            self._files, self._base = pyarrow.fs.FileSystem.from_uri(self.uri)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise UsageError(f"{uri} cannot be opened: {_first_line(error)}.") from None
        self._local = isinstance(self._files, pyarrow.fs.LocalFileSystem)

    @contextmanager
    def written(self, path: str) -> Iterator[Any]:
        """Open a file to write; it has its name only once all of it is written.

        Raises
        ------
        TransientError
            It cannot be written now.
        """
        whole = self._whole(path)
        name = whole + UNFINISHED if self._local else whole
        with self._sentences(f"{path} cannot be written to {self.uri}"):
            if self._local:
                self._files.create_dir(os.path.dirname(whole), recursive=True)  # noqa: PTH120
            with self._files.open_output_stream(name) as stream:
                yield stream
            if self._local:
                _finish(Path(name), Path(whole))

    @contextmanager
    def opened(self, path: str) -> Iterator[Any]:
        """Open a file to read.

        Raises
        ------
        TransientError
            It is not there, or cannot be read now.
        """
        what = f"{path} cannot be read from {self.uri}"
        with self._sentences(what), self._files.open_input_file(self._whole(path)) as file:
            yield file

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        with self._sentences(f"{path} cannot be removed from {self.uri}"):
            for name in (self._whole(path), self._whole(path) + UNFINISHED):
                if self._files.get_file_info(name).type is not pyarrow.fs.FileType.NotFound:
                    self._files.delete_file(name)

    def _whole(self, path: str) -> str:
        return f"{self._base.rstrip('/')}/{path}"

    @contextmanager
    def _sentences(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pyarrow.ArrowException) as error:
            raise TransientError(f"{what}: {_first_line(error)}. {self._then}") from None


def checked_uri(uri: str) -> str:
    """Return an address of files as it is kept: a folder by its whole path.

    Raises
    ------
    UsageError
        It is of another kind, or holds a key.
    """
    parts = urlsplit(uri)
    if parts.username or parts.password or "key=" in parts.query.lower():
        raise UsageError(
            "An address of files is kept in the store, so it must hold no key. Give keys as S3"
            " programs take them: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a role."
        )
    if not parts.scheme:
        return Path(uri).expanduser().resolve().as_uri()
    if parts.scheme not in KINDS:
        raise UsageError(f"{uri} is no folder and begins with none of s3://, gs://, file://.")
    return uri.rstrip("/")


def _finish(unfinished: Path, whole: Path) -> None:
    """Name a file once it is on the disk, and have the name there too."""
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(whole)
    folder = os.open(whole.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _first_line(error: Exception) -> str:
    said = str(error).strip().splitlines()
    return said[0].rstrip(".")[:300] if said else type(error).__name__
