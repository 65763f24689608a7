"""Files that commands write: whole or not at all, and never half of one in the place of another."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from biaswatch.shared.errors import UsageError


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """Yield where to write what becomes this file once all of it is written.

    Where writing fails or is stopped, nothing of it is left, and a file that was there before stays
    as it was. What is no plain file, such as a pipe, is written as it comes.

    Raises
    ------
    UsageError
        It cannot be written; the sentence says why.
    """
    end = path.resolve() if path.is_symlink() else path
    if end.exists() and not end.is_file():
        with _told(path):
            yield path
        return
    part = end.with_name(f".{end.name}.{os.getpid()}.part")
    try:
        with _told(path):
            part.touch()  # it says why it cannot be written, where libraries do not
            if end.exists():
                shutil.copymode(end, part)
            yield part
            _move(part, end)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_whole(path: Path, text: str) -> None:
    """Write a text as a file, whole or not at all.

    Raises
    ------
    UsageError
        It cannot be written; the sentence says why.
    """
    with written_whole(path) as part:
        part.write_text(text, encoding="utf-8")


def _move(part: Path, end: Path) -> None:
    """Put a file that is whole into its place; one that is mounted alone can only be copied."""
    try:
        part.replace(end)
    except OSError:
        shutil.copyfile(part, end)


@contextmanager
def _told(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise UsageError(f"{path} cannot be written ({why}).") from None
