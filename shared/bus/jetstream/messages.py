"""Messages of streams: encoding and decoding of records, and replies of a stream."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from nats.aio.msg import Msg

from biaswatch.shared.bus.bundles import MESSAGE_NAME, publication_of, records_in
from biaswatch.shared.bus.port import MAX_RECORD_BYTES, Delivery
from biaswatch.shared.contracts import Record, subject_of
from biaswatch.shared.errors import BackPressureError, BiaswatchError, OversizeError, TransientError
from biaswatch.shared.tracing import HEADER, outgoing_headers

REFUSALS: dict[int, type[BiaswatchError]] = {
    10077: BackPressureError,
    10122: BackPressureError,
    10054: OversizeError,
}
"""Errors by JetStream's codes: most messages or most bytes exceeded, message too large."""


@dataclass(slots=True)
class OutgoingMessage:
    """A message to send."""

    subject: str
    data: bytes
    headers: Mapping[str, str]


def encoded(record: Record) -> bytes:
    """Return the bytes of a record.

    Raises
    ------
    OversizeError
        It exceeds the maximum message size.
    """
    data = record.encode()
    if len(data) > MAX_RECORD_BYTES:
        raise OversizeError(
            f"The {record.kind} record {record.id} is {len(data) // 1024} KiB; the bus carries"
            f" {MAX_RECORD_BYTES // 1024} KiB. Shorten it, or send it by reference."
        )
    return data


def message_of(record: Record, data: bytes, publication: int) -> OutgoingMessage:
    """Return the message of a single encoded record."""
    headers = {MESSAGE_NAME: f"{record.id}/{publication}"}
    headers |= outgoing_headers(record.kind, record.id)
    return OutgoingMessage(subject_of(record), data, headers)


def refusal(reply: bytes, subject: str) -> BiaswatchError | None:
    """Return the error in a reply, or None; an empty reply means that no stream has the subject."""
    if not reply:
        return TransientError(
            f"No stream takes messages on {subject}. Run `biaswatch admin provision` on this"
            " server."
        )
    if b'"error"' not in reply:
        return None
    error = json.loads(reply)["error"]
    kind = REFUSALS.get(error.get("err_code"), TransientError)
    return kind(f"The bus refuses a message on {subject}: {error.get('description')}.")


def received_records(message: Msg) -> list[Delivery]:
    """Return the records of a message as deliveries.

    Its reply subject is `$JS.ACK.<stream>.<durable>.<delivered>.<sequence>.<n>.<time>.<pending>`.
    """
    words, headers = message.reply.split("."), message.headers or {}
    delivered, sequence, _, published_at_ns, _ = words[-5:] if len(words) == 9 else words[6:11]
    message_id, context = headers.get(MESSAGE_NAME, ""), headers.get(HEADER, "")
    publication = publication_of(message_id)
    numbers = publication, int(delivered), int(sequence), int(published_at_ns)
    of_message = *numbers, message.reply, context
    records = records_in(message.data, headers)
    if len(records) == 1:
        return [Delivery(message.subject, message.data, message_id, *of_message)]
    name, _, number = message_id.rpartition("/")
    return [
        Delivery(message.subject, data, f"{name}-{line}/{number}", *of_message, line)
        for line, data in enumerate(records)
    ]
