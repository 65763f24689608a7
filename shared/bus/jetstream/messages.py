"""Messages to a stream: what a record becomes, and what a stream's reply says of it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from biaswatch.shared.bus.bundles import MESSAGE_NAME
from biaswatch.shared.bus.port import MAX_RECORD_BYTES
from biaswatch.shared.contracts import Record, subject_of
from biaswatch.shared.errors import BackPressureError, BiaswatchError, OversizeError, TransientError
from biaswatch.shared.tracing import outgoing_headers

REFUSALS: dict[int, type[BiaswatchError]] = {
    10077: BackPressureError,
    10122: BackPressureError,
    10054: OversizeError,
}
"""Errors by JetStream's codes: most messages or most bytes exceeded, message too large."""


@dataclass(slots=True)
class OutgoingMessage:
    """A message as it is sent."""

    subject: str
    data: bytes
    headers: Mapping[str, str]


def encoded(record: Record) -> bytes:
    """Return a record as the bus carries it.

    Raises
    ------
    OversizeError
        It is larger than a message may be.
    """
    data = record.encode()
    if len(data) > MAX_RECORD_BYTES:
        raise OversizeError(
            f"The {record.kind} record {record.id} is {len(data) // 1024} KiB; the bus carries"
            f" {MAX_RECORD_BYTES // 1024} KiB. Shorten it, or send it by reference."
        )
    return data


def message_of(record: Record, data: bytes, publication: int) -> OutgoingMessage:
    """Return the message of an encoded record that goes alone."""
    headers = {MESSAGE_NAME: f"{record.id}/{publication}"}
    headers |= outgoing_headers(record.kind, record.id)
    return OutgoingMessage(subject_of(record), data, headers)


def refusal(reply: bytes, subject: str) -> BiaswatchError | None:
    """Return the refusal that a reply is, or that an empty one is: no stream has this subject."""
    if not reply:
        return TransientError(
            f"No stream takes messages on {subject}. Run `biaswatch provision` on this server."
        )
    if b'"error"' not in reply:
        return None
    error = json.loads(reply)["error"]
    kind = REFUSALS.get(error.get("err_code"), TransientError)
    return kind(f"The bus refuses a message on {subject}: {error.get('description')}.")
