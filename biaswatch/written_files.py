"""Write the files of commands atomically."""

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from biaswatch.shared.errors import UsageError


def check_ending(path: Path, endings: Iterable[str]) -> None:
    """Raise UsageError if no format has the ending of a file; call it before the work."""
    if path.suffix.lower() not in endings:
        raise UsageError(f"The name of {path} must end in one of {', '.join(endings)}.")


def check_writable(path: Path) -> None:
    """Raise UsageError if a file cannot be written; call it before the work."""
    if not path.exists() or path.is_file():
        part = _part_of(path)
        with _errors_as_sentences(path):
            part.touch()
            part.unlink()


def _part_of(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}.part")


@contextmanager
def atomic_file(path: Path, kind: str = "") -> Iterator[Path]:
    """Yield the path of a temporary file that replaces this file at the end.

    If writing fails or is interrupted, an existing file stays unchanged. Special files, such as
    pipes, are written directly. The message of an error begins with the `kind` of the file.

    Raises
    ------
    UsageError
        The file cannot be written; the message names the reason.
    """
    end = path.resolve() if path.is_symlink() else path
    if end.exists() and not end.is_file():
        with _errors_as_sentences(path, kind):
            yield path
        return
    part = _part_of(end)
    try:
        with _errors_as_sentences(path, kind):
            part.touch()  # raises an OSError with the reason, unlike some libraries
            if end.exists():
                shutil.copymode(end, part)
            yield part
            _move(part, end)
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def write_atomically(path: Path, text: str) -> None:
    """Write a text to a file atomically.

    Raises
    ------
    UsageError
        The file cannot be written; the message names the reason.
    """
    with atomic_file(path) as part:
        part.write_text(text, encoding="utf-8")


def _move(part: Path, end: Path) -> None:
    """Replace a file; copy if it is a mount point, which cannot be replaced."""
    try:
        part.replace(end)
    except OSError:
        shutil.copyfile(part, end)


@contextmanager
def _errors_as_sentences(path: Path, kind: str = "") -> Iterator[None]:
    try:
        yield
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        name = f"{kind} {path}" if kind else str(path)
        raise UsageError(f"{name} cannot be written ({why}).") from None
