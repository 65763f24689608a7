"""Columns as compressed bytes: whole numbers in as few bytes as they need, texts as JSON."""

import lzma
import zlib
from collections.abc import Callable, Container, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pydantic_core import from_json, to_json

from biaswatch.shared.contracts.columns import MOST, Column, Columns, Ints

MILLION = 1_000_000
WIDEST = 4096
"""Limit of the length of a row of counts, above that of any kind of evidence."""
MAX_UNPACKED_BYTES = 64 * 1024 * 1024
MAX_NUMBERS = MAX_UNPACKED_BYTES // 8
"""Limit of the numbers in one text."""
LENGTH_BYTES = 4
SPARSE = 2 / 3
"""Share of numbers other than the least up to which their places are written."""
MAX_SMALL_BYTES = 2
"""Width up to which numbers are compressed."""
XZ = b"\xfd7zXZ"
"""The beginning of texts of earlier versions: JSON alone."""


def packed(columns: Columns) -> bytes:
    """Return columns as bytes: JSON and small numbers compressed, larger numbers after them."""
    small, large = list[bytes](), list[bytes]()
    written = to_json(columns, fallback=partial(_written, small=small, large=large))
    content = len(written).to_bytes(LENGTH_BYTES, "little") + written + b"".join(small)
    return zlib.compress(content, 1) + b"".join(large)


def _written(array: NDArray[Any], *, small: list[bytes], large: list[bytes]) -> list[Any]:
    """Return the description of an array, and add its bytes to the others."""
    if array.dtype.kind == "f":
        if array.size and array.min() == array.max():
            return ["constant", array.shape, array.flat[0].item()]
        millionths = _millionths(array)
        if millionths is None:
            large.append(array.astype("<f8").tobytes())
            return ["floats", array.shape]
        return ["millionths", *_written(millionths, small=small, large=large)]
    least = int(array.min(initial=0))
    width = -(-(int(array.max(initial=0)) - least).bit_length() // 8)
    kept = (array - least if least else array).astype(np.uint8 if width <= 1 else "<u8").ravel()
    present = kept != 0
    if is_sparse := bool(np.count_nonzero(present) <= SPARSE * len(kept)):
        small.append(np.packbits(present).tobytes())
        kept = kept[present]
    planes, lowest = kept.view(np.uint8).reshape(len(kept), kept.itemsize), _lowest(width)
    large.append(planes[:, :lowest].tobytes())
    small.append(planes[:, lowest:width].T.tobytes())
    return ["integers", array.shape, least, len(kept), width, is_sparse]


def _millionths(array: NDArray[np.float64]) -> Ints | None:
    """Return numbers in millionths, where all of them are whole millionths."""
    whole = np.rint(array[:1] * MILLION)
    if (whole / MILLION == array[:1]).all():  # most other arrays begin with another number
        whole = np.rint(array * MILLION)
        if (whole / MILLION == array).all() and np.abs(whole).max(initial=0) < MOST:
            return whole.astype(np.int64)
    return None


def _lowest(width: int) -> int:
    """Return how many of the bytes of wide numbers are too irregular to compress."""
    return width - 1 if width > MAX_SMALL_BYTES else 0


def unpacked(content: bytes, only: Container[str] | None = None) -> Columns:
    """Return the columns again: all, or only some, which is faster.

    Raises
    ------
    zlib.error, lzma.LZMAError, ValueError, TypeError, KeyError, IndexError
        These bytes hold no columns.
    """
    if content.startswith(XZ):
        return _older_columns(from_json(_decompressed_xz(content)))
    decompressor = zlib.decompressobj()
    text = decompressor.decompress(content, MAX_UNPACKED_BYTES)
    if not decompressor.eof:
        raise _unfinished(is_cut_off=not decompressor.unconsumed_tail)
    end = LENGTH_BYTES + int.from_bytes(text[:LENGTH_BYTES], "little")
    reader = _ArrayReader(memoryview(text)[end:], memoryview(decompressor.unused_data))
    columns = {}
    for name, column in from_json(text[LENGTH_BYTES:end]).items():
        if only is None or name in only:
            columns[name] = _with_array(column, reader.read)
        else:
            _with_array(column, reader.skip)
    return columns


def _unfinished(*, is_cut_off: bool) -> Exception:
    return zlib.error("it is cut off") if is_cut_off else TooLargeError()


class TooLargeError(Exception):
    """Columns that would unpack to more than any round has."""


NOTHING = np.empty(0)


class _ArrayReader:
    """Reads arrays in the order of their writing."""

    def __init__(self, small: memoryview, large: memoryview) -> None:
        self._small, self._large = small, large
        self._left = MAX_NUMBERS

    def read(self, description: list[Any]) -> NDArray[Any]:
        """Return the next array."""
        kind, *rest = description
        if kind == "millionths":
            return self.read(rest) / MILLION
        size = self._size(rest[0])
        readers: dict[str, Callable[..., NDArray[Any]]] = {
            "integers": self._integers, "floats": self._floats, "constant": np.full,
        }  # fmt: skip
        return readers[kind](size, *rest[1:]).reshape(rest[0])

    def skip(self, description: list[Any]) -> NDArray[Any]:
        """Pass over the next array; the result is empty."""
        kind, *rest = description
        if kind == "millionths":
            return self.skip(rest)
        size = self._size(rest[0])
        if kind == "floats":
            self._next_large(8 * size)
        elif kind == "integers":
            _, _, kept, width, is_sparse = rest
            self._next_large(_lowest(width) * kept)
            self._next_small((width - _lowest(width)) * kept + (-(-size // 8) if is_sparse else 0))
        return NOTHING

    def _size(self, shape: Sequence[int]) -> int:
        size = prod(shape)
        self._left -= size
        if min(shape) < 0 or self._left < 0:
            raise TooLargeError
        return size

    def _floats(self, size: int) -> NDArray[Any]:
        return np.frombuffer(self._next_large(8 * size), "<f8")

    def _integers(
        self, size: int, least: int, kept: int, width: int, is_sparse: bool
    ) -> NDArray[Any]:
        places = None
        if is_sparse:
            bits = np.frombuffer(self._next_small(-(-size // 8)), np.uint8)
            places = np.unpackbits(bits, count=size).view(np.bool_)
        values = self._narrow(kept, width)
        if places is not None:
            whole = np.zeros(size, dtype=values.dtype)
            whole[places] = values
            values = whole
        return values if least == 0 and width < 8 else values.astype(np.int64) + least

    def _narrow(self, size: int, width: int) -> NDArray[Any]:
        lowest = _lowest(width)
        values = np.zeros((size, 1 if width <= 1 else 8), dtype=np.uint8)
        read = np.frombuffer(self._next_large(lowest * size), np.uint8)
        values[:, :lowest] = read.reshape(size, lowest)
        read = np.frombuffer(self._next_small((width - lowest) * size), np.uint8)
        values[:, lowest:width] = read.reshape(-1, size).T if size else 0
        return values.ravel() if width <= 1 else values.view("<i8").ravel()

    def _next_small(self, size: int) -> memoryview:
        read, self._small = self._small[:size], self._small[size:]
        return read

    def _next_large(self, size: int) -> memoryview:
        read, self._large = self._large[:size], self._large[size:]
        return read


def _with_array(column: Column, read: Callable[[list[Any]], NDArray[Any]]) -> Column:
    """Return a column with its arrays, read in the order of writing."""
    [(written, content)] = column.items()
    if written == "array":
        return {"array": read(content)}
    if written == "parts":
        return {"parts": {name: _with_array(inner, read) for name, inner in content.items()}}
    if written == "chosen":
        described, values = content
        return {"chosen": [read(described), values]}
    if written in ("some", "tuples"):
        described, inner = content
        places = read(described).astype(np.int64)
        return {written: [places, _with_array(inner, read)]}
    return column


def _decompressed_xz(content: bytes) -> bytes:
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    text = decompressor.decompress(content, MAX_UNPACKED_BYTES)
    if not decompressor.eof:
        raise _unfinished(is_cut_off=decompressor.needs_input)
    return text


def _older_columns(columns: dict[str, Column]) -> Columns:
    """Return columns as they are now from those of earlier versions."""
    return {name: _older(column) for name, column in columns.items()}


def _older(column: Column) -> Column:
    [(written, content)] = column.items()
    return OLDER[written](content)


def _older_some(content: Any) -> Column:
    at, column = content
    return {"some": [_places(at), _older(column)]}


def _older_tuples(content: Any) -> Column:
    sizes, items = content
    if min(sizes, default=0) < 0 or max(sizes, default=0) > WIDEST:
        raise ValueError("a tuple has an impossible size")
    column = _older(items)
    if "array" in column and sizes and sizes.count(sizes[0]) == len(sizes):
        return {"array": column["array"].reshape(len(sizes), sizes[0])}
    return {"tuples": [_places(sizes), column]}


def _places(numbers: list[int]) -> Ints:
    return np.array(numbers, dtype=np.int64)


def _older_counts(content: Any) -> Column:
    """Return rows of counts from where each begins, and as far as it is not zero."""
    columns: Columns = {}
    for name, (width, rows) in content.items():
        if not 0 <= width <= WIDEST:
            raise ValueError(f"a row of counts has at most {WIDEST} places")
        at = [place for place, row in enumerate(rows) if row is not None]
        whole = [_whole(rows[place], width) for place in at]
        columns[name] = {"some": [_places(at), _rows(whole)]}
    return {"parts": columns}


def _rows(rows: list[list[int]]) -> Column:
    numbers = np.array(rows)
    if numbers.dtype.kind == "i":
        return {"array": numbers}
    sizes, items = [len(row) for row in rows], [number for row in rows for number in row]
    return {"tuples": [_places(sizes), {"each": items}]}


def _whole(row: list[int], width: int) -> list[int]:
    if not row:
        return [0] * width
    begin, *counts = row
    if not 0 <= begin <= width - len(counts):
        raise ValueError("a row of counts is wider than it may be")
    return [0] * begin + counts + [0] * (width - begin - len(counts))


OLDER: dict[str, Callable[[Any], Column]] = {
    "same": lambda content: {"same": content},
    "each": lambda content: {"each": content},
    "millionths": lambda content: {"array": np.array(content, dtype=np.float64) / MILLION},
    "parts": lambda content: {"parts": _older_columns(content)},
    "some": _older_some,
    "tuples": _older_tuples,
    "counts": _older_counts,
}
