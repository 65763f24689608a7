"""Many parts of records as columns: each field once, with all of its values in the parts' order."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.contracts.record import Part
from biaswatch.shared.stats.arrays import adjacent
from biaswatch.shared.stats.estimate import Estimate

Ints = NDArray[np.int64]
Column = dict[str, Any]
"""The values of a field in all parts; its only key names the encoding.

`same`: one value; `each`: a list; `chosen`: places in a list of few values, and these;
`array`: numbers, NaN for null, or tuples of numbers as rows;
`parts`: the columns of a nested part, or of a mapping; `some`: places and a column of what is not
null; `tuples`: sizes and a column of all items.
"""
Columns = dict[str, Column]


def columns_of(parts: Sequence[Part | Estimate], leave_out: Collection[str] = ()) -> Columns:
    """Return the fields of parts of one kind; what is null in all of them is left out."""
    if not parts:
        return {}
    names = [name for name in _names_of(parts[0]) if name not in leave_out]
    return present_in({name: column_of(list(map(attrgetter(name), parts))) for name in names})


def _names_of(part: Part | Estimate) -> Iterable[str]:
    return vars(part) if isinstance(part, Estimate) else type(part).model_fields


def column_of(values: list[Any]) -> Column | None:
    """Return the column of values; None where all are null."""
    present = [value for value in values if value is not None]
    if not present:
        return None
    is_null_in_some = len(present) < len(values)
    if isinstance(present[0], Part | Estimate | dict | tuple) or (
        is_null_in_some and _are(present, int)
    ):
        column = _nested(present)
        places = [place for place, value in enumerate(values) if value is not None]
        return {"some": [np.array(places), column]} if is_null_in_some else column
    if not is_null_in_some and values.count(values[0]) == len(values):
        return {"same": values[0]}
    if _are(present, float):
        return {"array": np.array(values, dtype=np.float64)}
    numbers = None if is_null_in_some else _numbers(values)
    return numbers or _chosen(values) or {"each": values}


def _chosen(values: list[Any]) -> Column | None:
    """Return values that are few texts again and again as places among these."""
    different = dict.fromkeys(values)
    if REPEATED * len(different) > len(values) or len(different) > MOST_CHOSEN:
        return None
    code_of = {value: code for code, value in enumerate(different)}
    return chosen_from(list(different), [code_of[value] for value in values])


def _in_places(column: Column) -> Column:
    """Return a column as `column_of` does, also where parts that repeat are read once."""
    return ("each" in column and _chosen(column["each"])) or column


def chosen_from(values: Sequence[Any], codes: Sequence[int] | Ints) -> Column:
    """Return a column of values, from the place of each among the different ones."""
    return {"chosen": [np.array(codes, dtype=np.uint8), values]}


MOST_CHOSEN = 256


def _nested(values: list[Any]) -> Column:
    if isinstance(values[0], Part | Estimate):
        different = {id(value): value for value in values}
        if REPEATED * len(different) > len(values):
            return {"parts": columns_of(values)}
        places = {key: place for place, key in enumerate(different)}
        rows = np.array([places[id(value)] for value in values])
        fields = taken(columns_of(list(different.values())), rows)
        return {"parts": {name: _in_places(column) for name, column in fields.items()}}
    if isinstance(values[0], dict):
        names = dict.fromkeys(chain.from_iterable(values))
        columns = {name: column_of([value.get(name) for value in values]) for name in names}
        return {"parts": present_in(columns)}
    return _tuples(values) if isinstance(values[0], tuple) else _numbers(values) or {"each": values}


REPEATED = 4
"""How often the same objects are there, on average, when they are read once."""


def _tuples(values: list[tuple[Any, ...]]) -> Column:
    """Return numbers in tuples of one size as an array, and others with their sizes."""
    sizes, items = list(map(len, values)), list(chain.from_iterable(values))
    if items and isinstance(items[0], Part):
        return {"tuples": [np.array(sizes), {"parts": columns_of(items)}]}
    column = _numbers(items) or {"each": items}
    if "array" in column and sizes.count(sizes[0]) == len(sizes):
        return {"array": column["array"].reshape(len(sizes), sizes[0])}
    return {"tuples": [np.array(sizes), column]}


def _numbers(values: list[Any]) -> Column | None:
    """Return an array of numbers of one type; None for anything else, and for wider integers."""
    kind = next((kind for kind in (float, int) if _are(values, kind)), None)
    if kind is None or (kind is int and not -MOST < min(values) <= max(values) < MOST):
        return None
    return {"array": np.array(values, dtype=np.float64 if kind is float else np.int64)}


def _are(values: list[Any], kind: type) -> bool:
    return set(map(type, values)) == {kind}


MOST = 2**53
"""Integers below it are exact also as floating-point numbers."""


def fields_in(columns: Columns, size: int) -> list[dict[str, Any]]:
    """Return the fields of each part again, without what is null.

    Raises
    ------
    ValueError, TypeError, KeyError, IndexError
        The columns do not describe this number of parts.
    """
    names = list(columns)
    read = [values_in(columns[name], size) for name in names]
    rows = zip(*read, strict=True) if read else ((),) * size
    parts = [dict(zip(names, row, strict=True)) for row in rows]
    for name in (name for name, values in zip(names, read, strict=True) if None in values):
        for part in parts:
            if part[name] is None:
                del part[name]
    return parts


def values_in(column: Column, size: int) -> Sequence[Any]:
    """Return the values of a column; raise as `fields_in` does."""
    [(written, content)] = column.items()
    values = READERS[written](content, size)
    if len(values) != size:
        raise ValueError(f"a column of {size} has {len(values)} values")
    return values


def _array_in(array: NDArray[Any], _size: int) -> list[Any]:
    values: list[Any] = array.tolist()
    if array.ndim == 1 and array.dtype.kind == "f":
        for place in np.flatnonzero(np.isnan(array)).tolist():
            values[place] = None
    return values


def _some_in(content: Any, size: int) -> list[Any]:
    places, column = content
    values = [None] * size
    for place, value in zip(places.tolist(), values_in(column, len(places)), strict=True):
        values[place] = value
    return values


def _tuples_in(content: Any, _size: int) -> list[list[Any]]:
    sizes, column = content
    ends = np.cumsum(sizes).tolist()
    items = values_in(column, ends[-1] if ends else 0)
    return [list(items[end - n : end]) for n, end in zip(sizes.tolist(), ends, strict=True)]


READERS: dict[str, Callable[[Any, int], Sequence[Any]]] = {
    "same": lambda content, size: [content] * size,
    "each": lambda content, _: content,
    "array": _array_in,
    "chosen": lambda content, _: [content[1][code] for code in content[0].tolist()],
    "parts": fields_in,
    "some": _some_in,
    "tuples": _tuples_in,
}


def taken(columns: Columns, rows: Ints | slice) -> Columns:
    """Return the columns of some parts, in this order; what is null in all of them is left out."""
    rows = adjacent(rows)
    return present_in({name: _taken(column, rows) for name, column in columns.items()})


def _taken(column: Column, rows: Ints | slice) -> Column | None:
    [(written, content)] = column.items()
    if written == "array":
        return {"array": content[rows]}
    if written == "chosen":
        codes, values = content
        return {"chosen": [codes[rows], values]}
    if written == "each":
        kept = content[rows] if isinstance(rows, slice) else [content[row] for row in rows.tolist()]
        return {"each": kept}
    if written == "parts":
        return {"parts": taken(content, rows)}
    if written == "some":
        places, inner = content
        return _some_taken(places, inner, rows)
    if written == "tuples":
        sizes, inner = content
        begins, kept = (np.cumsum(sizes) - sizes)[rows], sizes[rows]
        within = np.arange(kept.sum()) - np.repeat(np.cumsum(kept) - kept, kept)
        return {"tuples": [kept, _taken(inner, adjacent(np.repeat(begins, kept) + within))]}
    return column


def _some_taken(places: Ints, column: Column, rows: Ints | slice) -> Column | None:
    at: Ints | slice
    if isinstance(rows, slice):
        at = slice(*np.searchsorted(places, [rows.start, rows.stop]))
        present, size = places[at] - rows.start, rows.stop - rows.start
    else:
        nearest = np.searchsorted(places, rows)
        known = nearest < len(places)
        known[known] = places[nearest[known]] == rows[known]
        at, present, size = nearest[known], np.flatnonzero(known), len(rows)
    inner = _taken(column, at) if len(present) else None
    if inner is None or len(present) == size:
        return inner
    return {"some": [present, inner]}


def inside(column: Column | None, *names: str) -> Column | None:
    """Return the column of a field of nested parts; None where it is null in all of them."""
    for place, name in enumerate(names):
        if column is None:
            return None
        if "some" in column:
            at, present = column["some"]
            inner = inside(present, *names[place:])
            if inner is not None and "some" in inner:
                at, inner = at[inner["some"][0]], inner["some"][1]
            return None if inner is None else {"some": [at, inner]}
        column = column["parts"].get(name)
    return column


def numbers_in(column: Column | None, size: int, missing: float) -> NDArray[Any]:
    """Return the numbers of a column, with this one where it is null."""
    if column is None:
        return np.full(size, missing)
    if "some" in column:
        at, present = column["some"]
        values = np.full(size, missing)
        values[at] = numbers_in(present, len(at), missing)
        return values
    if "array" in column:
        array: NDArray[Any] = column["array"]
        if array.dtype.kind != "f":
            return array.astype(np.int64)
        return np.where(np.isnan(array), missing, array)
    values_ = values_in(column, size)
    return np.array([missing if value is None else value for value in values_])


def are_known(column: Column | None, size: int) -> NDArray[np.bool_]:
    """Tell where a column of parts, mappings or tuples is not null."""
    known = np.zeros(size, dtype=np.bool_)
    if column is not None:
        known[column["some"][0] if "some" in column else slice(None)] = True
    return known


def known_in(numbers: NDArray[Any], is_known: NDArray[np.bool_]) -> Column | None:
    """Return a column of numbers, null where they are not known."""
    if is_known.all():
        return {"array": numbers}
    places = np.flatnonzero(is_known)
    return {"some": [places, {"array": numbers[places]}]} if len(places) else None


def present_in(columns: Mapping[str, Column | None]) -> Columns:
    """Return the columns that are not null in all parts."""
    return {name: column for name, column in columns.items() if column is not None}


def are_equal(one: Any, other: Any) -> bool:
    """Tell whether columns are written alike."""
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(one, other, equal_nan=True)
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(are_equal(one[k], other[k]) for k in one)
    if _holds_array(one) and _holds_array(other):
        return len(one) == len(other) and all(map(are_equal, one, other))
    return bool(one == other)


def _holds_array(content: Any) -> bool:
    """Return whether this is a list of an array and the column or values that it refers to."""
    return isinstance(content, list) and bool(content) and isinstance(content[0], np.ndarray)


def check_size(column: Column, size: int) -> None:
    """Raise ValueError unless a column has this number of values; deeper ones are checked, too."""
    [(written, content)] = column.items()
    if written == "parts":
        for inner in content.values():
            check_size(inner, size)
    elif written in ("some", "tuples"):
        numbers, inner = content
        is_some = written == "some"
        if is_some and not _ascend(numbers, size):
            raise ValueError("places do not ascend")
        check_size(inner, len(numbers) if is_some else int(numbers.sum()))
        content = numbers
    if written == "chosen":
        content = content[0]
    if written in ("each", "array", "tuples", "chosen") and len(content) != size:
        raise ValueError(f"a column of {size} has {len(content)} values")


def _ascend(places: Ints, size: int) -> bool:
    """Tell whether these are places below a size, in order."""
    is_within = not len(places) or (places[0] >= 0 and places[-1] < size)
    return bool(is_within and (places[1:] > places[:-1]).all())
