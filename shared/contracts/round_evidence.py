"""The evidence of a round as it travels and is kept: many comparisons in one record, compressed."""

import binascii
import lzma
from base64 import b64decode, b64encode
from collections.abc import Collection, Container, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from pydantic import NonNegativeInt, PositiveInt, TypeAdapter, ValidationError
from pydantic_core import from_json, to_json

from biaswatch.shared.contracts.columns import Column, columns_of, fields_in
from biaswatch.shared.contracts.comparison import Comparison
from biaswatch.shared.contracts.evidence import Evidence, Increment
from biaswatch.shared.contracts.identity import RecordId
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.contracts.record import Record
from biaswatch.shared.errors import UndecodableError

MAX_COMPARISONS = 256
MAX_BYTES = 256 * 1024
"""Approximate limit of one record: half of a message's limit."""
MAX_UNPACKED_BYTES = 64 * 1024 * 1024
FILTERS = [{"id": lzma.FILTER_LZMA2, "preset": 1, "pb": 0}]
HEADER = frozenset(
    {*("tenant", "purpose", "at", "monitor_id", "run_id", "epoch", "round"), "declared_after_data"}
)
"""Fields that all comparisons of a round share; they are in the record once."""
INCREMENTS = TypeAdapter(list[Increment])
EVIDENCE = TypeAdapter(list[Evidence])
C = TypeVar("C", Increment, Evidence)


class RoundEvidence(Record):
    """Additions of a closed round to some comparisons, and the evidence after it; never made twice.

    A round of many comparisons is several parts. Both fields of text are columns in JSON, the
    values of each field in the order of the comparisons, compressed (xz) and in base64. The shared
    fields (tenant, purpose, at, monitor_id, run_id, epoch, round, declared_after_data) are in this
    record alone.
    """

    kind = "round_evidence"
    identity = ("monitor_id", "epoch", "round", "part")

    monitor_id: RecordId
    """The monitor."""
    run_id: RecordId
    """The run of the round."""
    epoch: NonNegativeInt
    """The epoch."""
    round: NonNegativeInt
    """The round."""
    declared_after_data: bool = False
    """True if the comparisons were declared after the answers were known: they may then have been
    chosen for their gaps, and no promise about false alarms holds."""
    part: NonNegativeInt
    """Which part of the round this is, counted from 0."""
    comparisons: PositiveInt
    """How many comparisons are in it."""
    increments: str
    """The addition of the round to each of them."""
    evidence: str
    """The evidence of each after all rounds of the epoch up to this one."""


def round_evidence(
    increments: Sequence[Increment], evidence: Sequence[Evidence]
) -> list[RoundEvidence]:
    """Return the records of a round; both are about the same comparisons, in the same order."""
    parts: list[RoundEvidence] = []
    for start in range(0, len(evidence), MAX_COMPARISONS):
        chunk = slice(start, start + MAX_COMPARISONS)
        parts += _packed(increments[chunk], evidence[chunk], len(parts))
    return parts


def _packed(
    increments: Sequence[Increment], evidence: Sequence[Evidence], first: int
) -> list[RoundEvidence]:
    one = RoundEvidence(
        **evidence[0].model_dump(include=set(HEADER)),
        part=first,
        comparisons=len(evidence),
        increments=_compressed(increments),
        evidence=_compressed(evidence),
    )
    half = len(evidence) // 2
    if not half or len(one.increments) + len(one.evidence) <= MAX_BYTES:
        return [one]
    left = _packed(increments[:half], evidence[:half], first)
    return [*left, *_packed(increments[half:], evidence[half:], first + len(left))]


def _compressed(parts: Sequence[Increment | Evidence]) -> str:
    text = to_json(columns_of(parts, leave_out=HEADER))
    return b64encode(lzma.compress(text, check=lzma.CHECK_CRC32, filters=FILTERS)).decode()


def increments_in(records: Iterable[RoundEvidence]) -> Iterator[Increment]:
    """Return the increments of rounds, part by part."""
    for record in records:
        yield from _unpacked(INCREMENTS, record, record.increments)


def evidence_in(records: Iterable[RoundEvidence]) -> Iterator[Evidence]:
    """Return the evidence of rounds, part by part."""
    for record in records:
        yield from _unpacked(EVIDENCE, record, record.evidence)


def evidence_fields(
    records: Iterable[RoundEvidence], names: Collection[str], only: Container[str]
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return some fields of the evidence of some comparisons, by their keys, as they are written.

    What is not asked for is not even read: most of a round are counts, which add up to evidence and
    are not shown. A field that is null or its default may be left out.

    Raises
    ------
    UndecodableError
        A record cannot be decoded, or is larger than any round's.
    """
    written: Column | None = None
    keys: list[str] = []
    for record in records:
        header = record.model_dump(include=set(HEADER & set(names)))
        with _as_undecodable(record):
            columns = _columns(record, record.evidence)
            if columns["comparison"] != written:  # those of two rounds are mostly the same
                written = columns["comparison"]
                fields = fields_in({"comparison": written}, record.comparisons)
                keys = [Comparison.model_validate(one["comparison"]).key for one in fields]
            wanted = {name: columns[name] for name in names if name in columns}
            rows = list(zip(keys, fields_in(wanted, record.comparisons), strict=True))
        yield from ((key, header | row) for key, row in rows if key in only)


def _unpacked(adapter: TypeAdapter[list[C]], record: RoundEvidence, text: str) -> list[C]:
    """Return the parts of a record, each with the shared fields; raise UndecodableError."""
    with _as_undecodable(record):
        header = record.model_dump(include=set(HEADER))
        fields = fields_in(_columns(record, text), record.comparisons)
        return adapter.validate_python([header | row for row in fields])


def _columns(record: RoundEvidence, text: str) -> dict[str, Column]:
    """Return the columns in a text of a record; larger ones than any round's are refused."""
    decompressor = lzma.LZMADecompressor(lzma.FORMAT_XZ)
    content = decompressor.decompress(b64decode(text, validate=True), MAX_UNPACKED_BYTES)
    if decompressor.needs_input:
        raise lzma.LZMAError("it is cut off")
    if not decompressor.eof or record.comparisons > MAX_COMPARISONS:
        raise UndecodableError(f"The record {record.id} holds more than a round can have.")
    columns: dict[str, Column] = from_json(content)
    return columns


@contextmanager
def _as_undecodable(record: RoundEvidence) -> Iterator[None]:
    """Turn errors of decoding into UndecodableError, with the fault."""
    try:
        yield
    except (binascii.Error, lzma.LZMAError) as error:
        raise UndecodableError(f"The record {record.id} is not compressed: {error}.") from None
    except ValidationError as error:
        mistake = first_mistake(error).in_words("the whole")
        raise UndecodableError(f"The record {record.id} holds no evidence: {mistake}.") from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise UndecodableError(
            f"The record {record.id} holds no evidence: its columns cannot be read."
        ) from None
