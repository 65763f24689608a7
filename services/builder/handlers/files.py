"""Reads local texts: a file, or every .txt of a folder, never outside the plan's own folder."""

from pathlib import Path

from services.builder.domain.material import Document
from services.builder.domain.plan import FilesSource
from shared.errors import UsageError

LARGEST_BYTES = 50 * 1024 * 1024


def read_files(source: FilesSource, home: Path) -> list[Document]:
    """Return the texts of a source, in the order of their names.

    Raises
    ------
    UsageError
        The path leaves the plan's folder, holds no text, or cannot be read.
    """
    root, path = home.resolve(), inside(home, source.path)
    files = sorted(path.rglob("*.txt")) if path.is_dir() else [path]
    if not files:
        raise UsageError(f"The source {source.path!r} holds no .txt file.")
    return [_document(file, root, source) for file in files]


def inside(home: Path, name: str) -> Path:
    """Return the path of a file the plan names.

    Raises
    ------
    UsageError
        It leaves the plan's folder: a plan may come from somebody else, and must not carry other
        files of this machine away.
    """
    path = (home.resolve() / name).resolve()
    if not path.is_relative_to(home.resolve()):
        raise UsageError(f"The file {name!r} lies outside the plan's folder {home}.")
    return path


def _document(file: Path, root: Path, source: FilesSource) -> Document:
    try:
        if not file.resolve().is_relative_to(root):
            raise UsageError(f"The source {file} points outside the plan's folder.")
        if file.stat().st_size > LARGEST_BYTES:
            raise UsageError(f"The source {file} is larger than {LARGEST_BYTES // 1024**2} MiB.")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The source {file} cannot be read: {error}.") from None
    return Document(file.relative_to(root).as_posix(), text, source.licence)
