"""Locations of Parquet files: a folder of this machine, or an object store."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any
from urllib.parse import urlsplit

import pyarrow.fs

from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.parquet.filesystems import open_filesystem

KINDS = ("s3", "gs", "file")
UNFINISHED = ".unfinished"
REPEAT = "The same command goes on where this one stopped."
RETRY_LATER = "Once the place of the files works again, so does this."
MAX_REASON_CHARACTERS = 300
CHUNK_BYTES = 1024 * 1024
CHECK_S = 4.0


class ParquetFolder:
    """Files below one address; a file exists as a whole or not at all.

    A local file is renamed once it is on the disk. A file for an object store is written to a
    temporary file and uploaded when it is complete: an upload that pyarrow has begun cannot be
    aborted, so an error would give a part of the file its name (apache/arrow#40502), and each open
    upload would wait for its own time-outs.

    Parameters
    ----------
    uri
        The address: a path, `file://`, `s3://` or `gs://`.
    advice
        Last sentence of errors of reading and writing.
    """

    def __init__(self, uri: str, advice: str = REPEAT) -> None:
        self.uri = checked_uri(uri)
        self._advice = advice
        try:
            self._files, self._base = open_filesystem(self.uri)
        except (pyarrow.ArrowException, OSError, ValueError) as error:
            raise UsageError(f"{uri} cannot be opened: {_reason(error)}.") from None
        self._checked_files: pyarrow.fs.FileSystem | None = None
        self._local = isinstance(self._files, pyarrow.fs.LocalFileSystem)

    @contextmanager
    def written(self, path: str) -> Iterator[Any]:
        """Open a file to write; it gets its name once it is complete.

        Raises
        ------
        TransientError
            It cannot be written now.
        """
        written = self._renamed if self._local else self._uploaded
        with (
            self._readable_errors(f"{path} cannot be written to {self.uri}"),
            written(self._full_path(path)) as stream,
        ):
            yield stream

    @contextmanager
    def opened(self, path: str) -> Iterator[Any]:
        """Open a file to read.

        Raises
        ------
        TransientError
            It does not exist, or cannot be read now.
        """
        with (
            self._readable_errors(f"{path} cannot be read from {self.uri}"),
            self._files.open_input_file(self._full_path(path)) as file,
        ):
            yield file

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""
        with self._readable_errors(f"{path} cannot be removed from {self.uri}"):
            for name in (self._full_path(path), self._full_path(path) + UNFINISHED):
                if self._files.get_file_info(name).type is not pyarrow.fs.FileType.NotFound:
                    self._files.delete_file(name)

    def check_available(self) -> None:
        """Check that the place of the files answers.

        Raises
        ------
        TransientError
            It does not answer within a few seconds.
        """
        with self._readable_errors(f"{self.uri} does not answer"):
            if self._checked_files is None:
                self._checked_files = open_filesystem(self.uri, attempts=1, request_s=CHECK_S)[0]
            self._checked_files.get_file_info(self._base)

    @contextmanager
    def _renamed(self, name: str) -> Iterator[Any]:
        self._files.create_dir(os.path.dirname(name), recursive=True)  # noqa: PTH120
        with self._files.open_output_stream(name + UNFINISHED) as stream:
            yield stream
        _finish(Path(name + UNFINISHED), Path(name))

    @contextmanager
    def _uploaded(self, name: str) -> Iterator[Any]:
        with TemporaryFile() as stream:
            yield stream
            stream.seek(0)
            with self._files.open_output_stream(name) as upload:
                shutil.copyfileobj(stream, upload, CHUNK_BYTES)

    def _full_path(self, path: str) -> str:
        return f"{self._base.rstrip('/')}/{path}"

    @contextmanager
    def _readable_errors(self, problem: str) -> Iterator[None]:
        try:
            yield
        except (OSError, pyarrow.ArrowException) as error:
            raise TransientError(f"{problem}: {_reason(error)}. {self._advice}") from None


def checked_uri(uri: str) -> str:
    """Return an address in the form that the store keeps; a folder as an absolute path.

    Raises
    ------
    UsageError
        It is of another kind, or contains a key.
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
        raise UsageError(f"{uri} is not a folder, and does not begin with s3://, gs:// or file://.")
    return uri.rstrip("/")


def _finish(unfinished: Path, final: Path) -> None:
    """Rename a file once it is on the disk, and sync its folder."""
    with unfinished.open("rb") as file:
        os.fsync(file.fileno())
    unfinished.replace(final)
    folder = os.open(final.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".")[:MAX_REASON_CHARACTERS] if lines else type(error).__name__
