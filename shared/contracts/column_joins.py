"""Columns of all parts from those of blocks of parts."""

from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np

from biaswatch.shared.contracts.columns import Column, Columns, Ints, column_of, values_in
from biaswatch.shared.stats.arrays import adjacent

Block = tuple[Ints, Columns]
"""Places, and the columns of the parts at these places."""


def joined(blocks: Sequence[Block], size: int) -> Columns:
    """Return the columns of all parts from those of blocks; null at places in no block."""
    filled = [block for block in blocks if len(block[0])]
    if len(filled) == 1 and np.array_equal(filled[0][0], np.arange(size)):
        return filled[0][1]
    names = dict.fromkeys(chain.from_iterable(columns for _, columns in filled))
    return {
        name: _joined([(at, columns[name]) for at, columns in filled if name in columns], size)
        for name in names
    }


def _joined(blocks: Sequence[tuple[Ints, Column]], size: int) -> Column:
    """Return one column; at places in no block it is null."""
    present = [
        (at[column["some"][0]], column["some"][1]) if "some" in column else (at, column)
        for at, column in blocks
    ]
    if sum(len(at) for at, _ in present) == size:
        return _joined_present(present, size)
    places = np.sort(np.concatenate([at for at, _ in present]))
    inner = [(np.searchsorted(places, at), column) for at, column in present]
    return {"some": [places, _joined_present(inner, len(places))]}


def _joined_present(blocks: Sequence[tuple[Ints, Column]], size: int) -> Column:
    columns = [column for _, column in blocks]
    if all("same" in column and column == columns[0] for column in columns):
        return columns[0]
    if all("parts" in column for column in columns):
        return {"parts": joined([(at, column["parts"]) for at, column in blocks], size)}
    if all("chosen" in column for column in columns) and _have_same_values(columns):
        codes = [(at, {"array": column["chosen"][0]}) for at, column in blocks]
        return {"chosen": [_joined_arrays(codes, size)["array"], columns[0]["chosen"][1]]}
    if all("array" in column for column in columns) and _have_same_shape(columns):
        return _joined_arrays(blocks, size)
    if any("tuples" in column or _is_wide(column) for column in columns):
        return _joined_tuples(blocks, size)
    values: list[Any] = [None] * size
    for at, column in blocks:
        for place, value in zip(at.tolist(), values_in(column, len(at)), strict=True):
            values[place] = value
    return column_of(values) or {"same": None}


def _have_same_values(columns: Sequence[Column]) -> bool:
    values = [list(column["chosen"][1]) for column in columns]
    return values.count(values[0]) == len(values)


def _have_same_shape(columns: Sequence[Column]) -> bool:
    return len({column["array"].shape[1:] for column in columns}) == 1


def _joined_arrays(blocks: Sequence[tuple[Ints, Column]], size: int) -> Column:
    arrays = [column["array"] for _, column in blocks]
    whole = np.zeros((size, *arrays[0].shape[1:]), np.result_type(*arrays))
    for at, column in blocks:
        whole[adjacent(at)] = column["array"]
    return {"array": whole}


def _is_wide(column: Column) -> bool:
    return "array" in column and column["array"].ndim > 1


def _joined_tuples(blocks: Sequence[tuple[Ints, Column]], size: int) -> Column:
    split = [(at, *_split(column)) for at, column in blocks]
    sizes = np.zeros(size, dtype=np.int64)
    for at, own, _ in split:
        sizes[at] = own
    begins = np.cumsum(sizes) - sizes
    items = []
    for at, own, column in split:
        within = np.arange(own.sum()) - np.repeat(np.cumsum(own) - own, own)
        if own.any():
            items.append((np.repeat(begins[at], own) + within, column))
    return {"tuples": [sizes, _joined(items, int(sizes.sum())) if items else {"each": []}]}


def _split(column: Column) -> tuple[Ints, Column]:
    """Return the sizes of tuples, and a column of their items."""
    if "tuples" in column:
        sizes, items = column["tuples"]
        return sizes, items
    rows = column["array"]
    return np.full(len(rows), rows.shape[1]), {"array": rows.ravel()}
