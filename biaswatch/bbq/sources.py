"""BBQ files, from their authors or from Hugging Face: complete, or not at all."""

import importlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from biaswatch.bbq.rows import ROWS, BbqRow, read_rows
from biaswatch.readers.downloads import download
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.files import checked

SOURCE = "https://raw.githubusercontent.com/nyu-mll/BBQ/main/data"
"""Where its authors publish it."""
LARGEST_BYTES = 64 * 1024 * 1024


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
        download(f"{source.rstrip('/')}/{category}.jsonl", part, LARGEST_BYTES)
        rows = _checked(part, category)
        part.replace(file)
    except OSError as error:
        raise UsageError(f"{file} cannot be written ({error.strerror}).") from None
    finally:
        part.unlink(missing_ok=True)
    return rows, True


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
