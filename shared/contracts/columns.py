"""Many parts of records as columns: each field once, with all of its values in the parts' order."""

from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import accumulate, chain
from operator import attrgetter
from typing import Any

from biaswatch.shared.contracts.record import Part
from biaswatch.shared.lookup import first

MILLION = 1_000_000
WIDEST = 4096
"""Limit of the length of a row of counts, above that of any kind of evidence."""
Column = dict[str, Any]
"""The values of a field in all parts; its only key names the encoding."""


def columns_of(parts: Sequence[Part], leave_out: Collection[str] = ()) -> dict[str, Column]:
    """Return the fields of parts of one kind; what is null in all of them is left out."""
    if not parts:
        return {}
    names = [name for name in type(parts[0]).model_fields if name not in leave_out]
    columns = {name: _column(list(map(attrgetter(name), parts))) for name in names}
    return {name: column for name, column in columns.items() if column is not None}


def _column(values: list[Any]) -> Column | None:
    present = [value for value in values if value is not None]
    if not present:
        return None
    if isinstance(present[0], Part | dict | tuple) and len(present) < len(values):
        at = [place for place, value in enumerate(values) if value is not None]
        return {"some": [at, _column(present)]}
    if isinstance(present[0], Part):
        return {"parts": columns_of(present)}
    if isinstance(present[0], dict):
        return {"counts": _counts(present)}
    if isinstance(present[0], tuple):
        return _tuples(present)
    same = len(present) == len(values) == values.count(values[0])
    return {"same": values[0]} if same else {"each": values}


def _tuples(values: list[tuple[Any, ...]]) -> Column:
    """Return tuples as their sizes and all that is in them; numbers in whole millionths as such."""
    sizes, items = [len(value) for value in values], list(chain.from_iterable(values))
    if items and isinstance(items[0], Part):
        return {"tuples": [sizes, {"parts": columns_of(items)}]}
    return {"tuples": [sizes, _millionths(items) or {"each": items}]}


def _millionths(items: list[Any]) -> Column | None:
    if not items or not _are_numbers(items):
        return None
    millionths = [round(item * MILLION) for item in items]
    return (
        {"millionths": millionths} if [number / MILLION for number in millionths] == items else None
    )


def _are_numbers(items: Iterable[Any]) -> bool:
    return set(map(type, items)) == {float}


def _counts(values: list[dict[str, tuple[int, ...]]]) -> dict[str, Any]:
    """Return rows of counts by their names: where each begins, and as far as it is not zero."""
    names = dict.fromkeys(chain.from_iterable(values))
    columns = {}
    for name in names:
        rows = [value.get(name) for value in values]
        width = len(first((row for row in rows if row is not None), f"No part has {name}."))
        columns[name] = [width, [None if row is None else _trimmed(row) for row in rows]]
    return columns


def _trimmed(row: tuple[int, ...]) -> list[int]:
    filled = [position for position, number in enumerate(row) if number]
    return [filled[0], *row[filled[0] : filled[-1] + 1]] if filled else []


def fields_in(columns: dict[str, Column], size: int) -> list[dict[str, Any]]:
    """Return the fields of each part again.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        The columns do not describe this number of parts.
    """
    names = list(columns)
    read = [_values(columns[name], size) for name in names]
    rows = zip(*read, strict=True) if read else ((),) * size
    parts = [dict(zip(names, row, strict=True)) for row in rows]
    for name in (name for name, values in zip(names, read, strict=True) if None in values):
        for part in parts:
            if part[name] is None:
                del part[name]
    return parts


def _values(column: Column, size: int) -> Sequence[Any]:
    [(written, content)] = column.items()
    values = READERS[written](content, size)
    if len(values) != size:
        raise ValueError(f"a column of {size} has {len(values)} values")
    return values


def _some(content: Any, size: int) -> list[Any]:
    at, column = content
    values = [None] * size
    for place, value in zip(at, _values(column, len(at)), strict=True):
        values[place] = value
    return values


def _tuples_in(content: Any, _size: int) -> list[list[Any]]:
    sizes, column = content
    if min(sizes, default=0) < 0 or max(sizes, default=0) > WIDEST:
        raise ValueError("a tuple has an impossible size")
    items = _values(column, sum(sizes))
    ends = list(accumulate(sizes))
    return [list(items[end - n : end]) for n, end in zip(sizes, ends, strict=True)]


def _counts_in(content: Any, size: int) -> list[dict[str, list[int]]]:
    counts: list[dict[str, list[int]]] = [{} for _ in range(size)]
    for name, (width, rows) in content.items():
        if not 0 <= width <= WIDEST:
            raise ValueError(f"a row of counts has at most {WIDEST} places")
        for fields, row in zip(counts, rows, strict=True):
            if row is not None:
                fields[name] = _whole(row, width)
    return counts


def _whole(row: list[int], width: int) -> list[int]:
    if not row:
        return [0] * width
    first, *counts = row
    if not 0 <= first <= width - len(counts):
        raise ValueError("a row of counts is wider than it may be")
    return [0] * first + counts + [0] * (width - first - len(counts))


READERS: dict[str, Callable[[Any, int], Sequence[Any]]] = {
    "same": lambda content, size: [content] * size,
    "each": lambda content, _: content,
    "millionths": lambda content, _: [number / MILLION for number in content],
    "parts": fields_in,
    "some": _some,
    "tuples": _tuples_in,
    "counts": _counts_in,
}
