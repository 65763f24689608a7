"""BBQ files, from their authors or from Hugging Face: complete, or not at all."""

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import httpx2

from biaswatch.bbq.rows import ROWS, BbqRow, read_rows
from shared.errors import TransientError, UsageError
from shared.files import checked

SOURCE = "https://raw.githubusercontent.com/nyu-mll/BBQ/main/data"
"""Where its authors publish it."""
LARGEST_BYTES = 64 * 1024 * 1024
TIMEOUT_S = 60
FOUND = 200


def fetch(category: str, folder: Path, source: str = SOURCE) -> tuple[int, bool]:
    """Fetch one category's file into a folder; give its rows, and whether it was fetched now.

    Raises
    ------
    TransientError
        The source does not answer.
    UsageError
        What it serves is not the file, or it cannot be written.
    """
    file = folder / f"{category}.jsonl"
    if file.exists():
        return _checked(file, category), False
    part = file.with_suffix(".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _download(f"{source.rstrip('/')}/{category}.jsonl", part)
        rows = _checked(part, category)
        part.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}).") from None
    finally:
        part.unlink(missing_ok=True)
    return rows, True


def _download(url: str, part: Path) -> None:
    size = 0
    try:
        # The address is ours or the user's own; where it would lead elsewhere it is not followed.
        with httpx2.stream("GET", url, timeout=TIMEOUT_S, follow_redirects=False) as reply:
            if reply.status_code != FOUND:
                raise UsageError(f"{url} answered HTTP {reply.status_code}; nothing was fetched.")
            with part.open("wb") as out:
                for chunk in reply.iter_bytes():
                    size += len(chunk)
                    if size > LARGEST_BYTES:
                        raise UsageError(f"{url} is larger than any file of BBQ; it is not one.")
                    out.write(chunk)
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise TransientError(
            f"{url} cannot be fetched ({type(error).__name__}). Try again, or put the files into a"
            " folder and name it with --from."
        ) from None


def _checked(file: Path, category: str) -> int:
    rows = sum(1 for _ in read_rows(file))
    if rows != ROWS[category]:
        raise UsageError(
            f"{file} holds {rows} rows, the published {category} {ROWS[category]}. Remove it and"
            " fetch it again."
        )
    return rows


SPLIT = "test"


def read_hub(name: str, category: str) -> list[BbqRow]:
    """Load one category.

    Raises
    ------
    UsageError
        The extra is not installed, or what is there are no rows of BBQ.
    TransientError
        The hub does not answer, or refuses.
    """
    try:
        datasets: Any = importlib.import_module("datasets")
    except ImportError:
        raise UsageError(
            "Loading from Hugging Face needs the extra `datasets`: install 'biaswatch[datasets]'."
            " `biaswatch suites fetch bbq` needs nothing."
        ) from None
    try:
        items = datasets.load_dataset(name, category, split=SPLIT)
    except Exception as error:  # noqa: BLE001 - the library raises what it likes; all means: no data
        why = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise TransientError(
            f"{name} cannot be loaded ({why}). `biaswatch suites fetch bbq` gets the same questions"
            " from their authors."
        ) from None
    return rows_of(items, name, category)


def rows_of(items: Iterable[Mapping[str, Any]], name: str, category: str) -> list[BbqRow]:
    """Check the items of a category, and their number."""
    rows = [
        checked(BbqRow, {"category": category, **item}, f"{name}, {category}, item {number}")
        for number, item in enumerate(items, start=1)
    ]
    if len(rows) != ROWS[category]:
        raise UsageError(f"{name} holds {len(rows)} rows of {category}, not {ROWS[category]}.")
    return rows
