"""Items of JSON arrays of any size, with one item in memory at a time."""

import json
from collections.abc import Iterator
from math import inf
from typing import Any, TextIO

from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing.json_objects import MAX_LEVELS, is_too_deep, without_surrogates
from biaswatch.shared.parsing.json_stream import (
    MAX_VALUE_CHARACTERS,
    JsonReader,
    TooLargeValueError,
)

NOT_JSON = "this is not JSON"


def array_items(file: TextIO, path: object) -> Iterator[tuple[str, Any]]:
    """Yield place and value of each item; a place is `FILE, item 3`.

    Raises
    ------
    UsageError
        The text is not an array, or an item is too large or too deep.
    OSError, UnicodeDecodeError
        The file cannot be read.
    """
    number = 0
    try:
        reader = JsonReader(lambda size: file.read(size).encode(), json.JSONDecoder(), inf)
        for number, _ in enumerate(reader.items(), start=1):
            place = f"{path}, item {number}"
            yield place, checked_depth(without_surrogates(reader.value()), place)
        reader.end()
    except TooLargeValueError:
        limit_mib = MAX_VALUE_CHARACTERS >> 20
        raise UsageError(
            f"{path}, item {number}: {NOT_JSON}, or it has more than {limit_mib} MiB."
        ) from None
    except (json.JSONDecodeError, RecursionError):
        raise UsageError(f"{path}, item {number}: {NOT_JSON}.") from None


def checked_depth(value: Any, place: str) -> Any:
    """Return a value that is not nested too deeply.

    Raises
    ------
    UsageError
        It has more than `MAX_LEVELS` levels.
    """
    if is_too_deep(value):
        raise UsageError(f"{place}: this is nested more than {MAX_LEVELS} levels deep.")
    return value
