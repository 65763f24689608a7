"""The evidence of a round as it travels and is kept: many comparisons in one record, compressed."""

import binascii
import lzma
import zlib
from base64 import b64decode, b64encode
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Generic, TypeVar, overload

import numpy as np
from pydantic import TypeAdapter, ValidationError

from biaswatch.shared.contracts.column_bytes import TooLargeError, packed, unpacked
from biaswatch.shared.contracts.column_joins import joined
from biaswatch.shared.contracts.columns import (
    Column,
    Columns,
    Ints,
    are_equal,
    check_size,
    columns_of,
    fields_in,
    inside,
    numbers_in,
    taken,
    values_in,
)
from biaswatch.shared.contracts.comparison import Comparison
from biaswatch.shared.contracts.evidence import Evidence, Increment
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.contracts.round_evidence import HEADER, RoundEvidence
from biaswatch.shared.errors import UndecodableError

MAX_COMPARISONS = 256
MAX_BYTES = 256 * 1024
"""Approximate limit of one record: half of a message's limit."""
C = TypeVar("C", Increment, Evidence)


class ComparisonRows(Sequence[C], Generic[C]):
    """Increments or evidence of a round, kept as columns; each is made when it is read."""

    kind: type[C]

    def __init__(self, kind: type[C], header: dict[str, Any], columns: Columns, size: int) -> None:
        self.kind, self.header, self.columns = kind, header, columns
        self._size = size

    @classmethod
    def of(cls, parts: Sequence[C]) -> "ComparisonRows[C]":
        """Return parts of one round as rows."""
        if isinstance(parts, ComparisonRows):
            return parts
        header = {name: getattr(parts[0], name) for name in HEADER}
        return cls(type(parts[0]), header, columns_of(parts, leave_out=HEADER), len(parts))

    @cached_property
    def keys(self) -> list[str]:
        """Return the key of each comparison."""
        fields = values_in(self.columns["comparison"], len(self))
        return [comparison.key for comparison in COMPARISONS.validate_python(fields)]

    def numbers(self, *names: str, missing: float = np.nan) -> np.ndarray[Any, np.dtype[Any]]:
        """Return the numbers of a field, by its name after those of the parts that it is in."""
        return numbers_in(self.column(*names), len(self), missing)

    def column(self, *names: str) -> Column | None:
        """Return the column of a field."""
        return inside({"parts": self.columns}, *names)

    def of_rows(self, rows: Ints) -> "ComparisonRows[C]":
        """Return some of them, in this order."""
        if len(rows) == len(self) and (rows == np.arange(len(self))).all():
            return self
        return ComparisonRows(self.kind, self.header, taken(self.columns, rows), len(rows))

    def __len__(self) -> int:
        return self._size

    @overload
    def __getitem__(self, place: int) -> C: ...
    @overload
    def __getitem__(self, place: slice) -> Sequence[C]: ...
    def __getitem__(self, place: int | slice) -> C | Sequence[C]:
        """Return one, or some."""
        rows = np.arange(self._size)[place]
        if isinstance(place, slice):
            return self.of_rows(rows)
        return self._made(taken(self.columns, rows[None]), 1)[0]

    def __iter__(self) -> Iterator[C]:
        return iter(self._made(self.columns, self._size))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _made(self, columns: Columns, size: int) -> list[C]:
        parts: list[C] = ADAPTERS[self.kind].validate_python(
            [self.header | fields for fields in fields_in(columns, size)]
        )
        return parts


COMPARISONS = TypeAdapter(list[Comparison])
ADAPTERS: dict[type[Any], TypeAdapter[Any]] = {
    Increment: TypeAdapter(list[Increment]),
    Evidence: TypeAdapter(list[Evidence]),
}


def round_evidence(
    increments: Sequence[Increment], evidence: Sequence[Evidence]
) -> list[RoundEvidence]:
    """Return the records of a round; both are about the same comparisons, in the same order."""
    added, after = ComparisonRows.of(increments), ComparisonRows.of(evidence)
    parts: list[RoundEvidence] = []
    for start in range(0, len(after), MAX_COMPARISONS):
        rows = np.arange(start, min(start + MAX_COMPARISONS, len(after)))
        parts += _packed(added.of_rows(rows), after.of_rows(rows), len(parts))
    return parts


def _packed(
    increments: ComparisonRows[Increment], evidence: ComparisonRows[Evidence], number: int
) -> list[RoundEvidence]:
    one = RoundEvidence(
        **evidence.header,
        part=number,
        comparisons=len(evidence),
        increments=b64encode(packed(increments.columns)).decode(),
        evidence=b64encode(packed(evidence.columns)).decode(),
    )
    half = len(evidence) // 2
    if not half or len(one.increments) + len(one.evidence) <= MAX_BYTES:
        return [one]
    parts = list[RoundEvidence]()
    for rows in np.split(np.arange(len(evidence)), [half]):
        parts += _packed(increments.of_rows(rows), evidence.of_rows(rows), number + len(parts))
    return parts


def increments_in(records: Iterable[RoundEvidence]) -> Iterator[Increment]:
    """Return the increments of rounds, part by part."""
    for record in records:
        yield from _made(record, Increment, record.increments)


def evidence_in(records: Iterable[RoundEvidence]) -> Iterator[Evidence]:
    """Return the evidence of rounds, part by part."""
    for record in records:
        yield from _made(record, Evidence, record.evidence)


def evidence_rows(records: Iterable[RoundEvidence]) -> ComparisonRows[Evidence] | None:
    """Return the evidence of one round as rows; None without any part.

    Raises
    ------
    UndecodableError
        A record cannot be decoded.
    """
    rows = [_rows(record, Evidence, record.evidence) for record in records]
    if len(rows) < 2:
        return rows[0] if rows else None
    ends = np.cumsum([len(part) for part in rows])
    blocks = [
        (np.arange(end - len(part), end), part.columns)
        for end, part in zip(ends.tolist(), rows, strict=True)
    ]
    return ComparisonRows(Evidence, rows[0].header, joined(blocks, int(ends[-1])), int(ends[-1]))


def evidence_fields(
    records: Iterable[RoundEvidence], names: Collection[str], only: Container[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return some fields of the evidence of some comparisons, by their keys, as they are written.

    Only these are made into values: most of a round are counts, which add up to evidence and are
    not shown. A field that is null or its default may be left out.

    Raises
    ------
    UndecodableError
        A record cannot be decoded, or is larger than any round's.
    """
    written: Column | None = None
    places: dict[int, str] = {}
    for record in records:
        evidence = _rows(record, Evidence, record.evidence, {*names, "comparison"})
        header = {name: value for name, value in evidence.header.items() if name in names}
        with _as_undecodable(record):
            columns = evidence.columns
            if not are_equal(columns["comparison"], written):  # of two rounds mostly the same
                written = columns["comparison"]
                places = {n: key for n, key in enumerate(evidence.keys) if key in only}
            named = {name: columns[name] for name in names if name in columns}
            rows = fields_in(taken(named, np.array(list(places), dtype=np.int64)), len(places))
        yield from ((key, header | row) for key, row in zip(places.values(), rows, strict=True))


def _made(record: RoundEvidence, kind: type[C], text: str) -> list[C]:
    rows = _rows(record, kind, text)
    with _as_undecodable(record):
        return list(rows)


def _rows(
    record: RoundEvidence, kind: type[C], text: str, only: Container[str] | None = None
) -> ComparisonRows[C]:
    """Return the rows of a record, each with the shared fields; raise UndecodableError."""
    with _as_undecodable(record):
        if record.comparisons > MAX_COMPARISONS:
            raise TooLargeError
        columns = unpacked(b64decode(text, validate=True), only)
        for column in columns.values():
            check_size(column, record.comparisons)
    return ComparisonRows(kind, record.model_dump(include=set(HEADER)), columns, record.comparisons)


@contextmanager
def _as_undecodable(record: RoundEvidence) -> Iterator[None]:
    """Turn errors of decoding into UndecodableError, with the fault."""
    try:
        yield
    except TooLargeError:
        raise UndecodableError(
            f"The record {record.id} holds more than a round can have."
        ) from None
    except (binascii.Error, lzma.LZMAError, zlib.error) as error:
        raise UndecodableError(f"The record {record.id} is not compressed: {error}.") from None
    except ValidationError as error:
        mistake = first_mistake(error).in_words("the whole")
        raise UndecodableError(f"The record {record.id} holds no evidence: {mistake}.") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise UndecodableError(
            f"The record {record.id} holds no evidence: its columns cannot be read."
        ) from None
