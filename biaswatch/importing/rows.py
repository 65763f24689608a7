"""Read the rows of a file one by one, with their locations."""

import csv
import hashlib
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from biaswatch.importing.inspect_files import zipped_samples
from biaswatch.shared.errors import UsageError
from biaswatch.shared.files import NOT_UTF8, json_rows_of_file, open_text

LONGEST_CELL = 8 * 1024 * 1024
LONGEST_ROW = 2 * LONGEST_CELL
AT_ONCE = 512
Row = tuple[str, dict[str, Any]]
"""Location and fields of a row."""


def rows_of(path: Path) -> Iterator[Row]:
    """Yield the rows of a CSV, Parquet, Inspect or (with any other extension) JSON file.

    CSV and JSON may be compressed (`.gz`).

    Raises
    ------
    UsageError
        The file or a row cannot be read; the message names the location.
    """
    match suffix_of(path):
        case ".csv":
            yield from _csv(path)
        case ".parquet":
            yield from _parquet(path)
        case ".eval":
            yield from zipped_samples(path)
        case _:
            for where, row in json_rows_of_file(path, "answers"):
                if not isinstance(row, dict):
                    raise UsageError(f"{where}: an answer must be an object with named fields.")
                yield where, row


def suffix_of(path: Path) -> str:
    """Return the extension of a file in lower case, below that of its compression."""
    suffix = path.suffix.lower()
    return Path(path.stem).suffix.lower() if suffix == ".gz" else suffix


def _csv(path: Path) -> Iterator[Row]:
    csv.field_size_limit(LONGEST_CELL)
    try:
        with open_text(path, "") as file:
            lines = _BoundedLines(path, file)
            reader = csv.DictReader(lines)
            if len(names := reader.fieldnames or ()) == 1 and re.search(r"[;\t|]", names[0]):
                raise UsageError(f"{path} is not separated by commas: save it with commas.")
            for number, row in enumerate(reader, start=1):
                lines.taken = 0
                if None in row:
                    raise UsageError(f"{path}, row {number}: it has more cells than names.")
                yield f"{path}, row {number}", {name: text for name, text in row.items() if text}
    except OSError as error:
        raise UsageError(f"The answers {path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise UsageError(f"The answers {path} cannot be read ({NOT_UTF8}).") from None
    except csv.Error as error:
        raise UsageError(f"{path}: this is not CSV ({error}).") from None


def _parquet(path: Path) -> Iterator[Row]:
    from biaswatch.readers.parquet_files import parquet_batches

    number = 0
    try:
        for batch in parquet_batches(path, AT_ONCE):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                number += 1
                kept = {name: value for name, value in row.items() if value is not None}
                yield f"{path}, row {number}", kept
    except UsageError:
        raise
    except (OSError, ValueError, OverflowError) as error:  # such as a time out of range
        why = getattr(error, "strerror", None) or "it is not Parquet, or a value has no Python type"
        raise UsageError(f"The answers {path} cannot be read ({why}).") from None


class _BoundedLines:
    """The lines of a file, with a bound on the characters of a row."""

    def __init__(self, path: Path, file: TextIO) -> None:
        self._path = path
        self._file = file
        self.taken = 0
        """Characters since the last row."""

    def __iter__(self) -> Iterator[str]:
        while line := self._file.readline(LONGEST_ROW + 1):
            self.taken += len(line)
            if self.taken > LONGEST_ROW:
                raise UsageError(
                    f"{self._path}: a row has more than {LONGEST_ROW >> 20} MiB. A quote may be"
                    " missing at its end."
                )
            yield line


COMPARED = ("text", "reason", "groups", "unit")


class RepeatedIds:
    """Track the ids of answers, and digests of their content."""

    def __init__(self) -> None:
        self.differing = 0
        """Number of answers with the id of another answer and different content."""
        self._ids: set[str] = set()
        self._seen: set[bytes] = set()

    def is_new(self, answer: Mapping[str, Any]) -> bool:
        """Record an answer; return whether it has no id, or is new."""
        if (key := answer.get("id")) is None:
            return True
        content = repr((key, *(answer.get(name) for name in COMPARED))).encode()
        digest = hashlib.blake2b(content, digest_size=16).digest()
        if digest in self._seen:
            return False
        self._seen.add(digest)
        self.differing += key in self._ids
        self._ids.add(key)
        return True
