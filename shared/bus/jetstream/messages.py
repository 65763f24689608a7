"""Messages of streams and NATS micro services: encoding, requests and replies."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import nats.micro
from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.micro.request import ERROR_CODE_HEADER, ERROR_HEADER, Request, ServiceError

from biaswatch.shared.bus.bundles import MESSAGE_NAME, publication_of, records_in
from biaswatch.shared.bus.jetstream.connection import Connection
from biaswatch.shared.bus.port import MAX_RECORD_BYTES, Delivery
from biaswatch.shared.bus.stage import without_stop_iteration
from biaswatch.shared.contracts import Record, subject_of
from biaswatch.shared.contracts.dropin import (
    CONTRACT,
    ENDPOINTS,
    ROLE,
    Registration,
    endpoint,
    registration_of,
    service_name,
)
from biaswatch.shared.errors import (
    BackPressureError,
    BiaswatchError,
    ConfigurationError,
    OversizeError,
    TransientError,
)
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
    subject, records = message.subject, records_in(message.data, headers)
    if len(records) == 1:
        return [Delivery(subject, message.data, message_id, *of_message)]
    name, _, number = message_id.rpartition("/")
    return [
        Delivery(subject, data, f"{name}-{line}/{number}", *of_message, line)
        for line, data in enumerate(records)
    ]


class NoReply(TransientError):  # noqa: N818 - an outcome of a call
    """No service listens on the subject, or the reply did not come in time."""


@dataclass(frozen=True)
class ServiceReply:
    """The reply of a service."""

    data: bytes
    error_code: str | None = None
    """The error code that the service reports, if any."""
    error: str = ""


class Requester:
    """Sends requests to services that registered with NATS micro."""

    def __init__(self, connection: Connection) -> None:
        self._client = connection.client

    @property
    def max_bytes(self) -> int:
        """The largest message this server carries."""
        return self._client.max_payload

    async def ask(self, subject: str, body: bytes = b"", *, timeout_s: float) -> ServiceReply:
        """Send a request to one of the services that listen.

        Raises
        ------
        NoReply
            No service listens, or none replied in time.
        TransientError
            The bus cannot carry the request now.
        """
        try:
            message = await self._client.request(subject, body, timeout=timeout_s)
        except NoRespondersError:
            raise NoReply(f"No service listens on {subject}.") from None
        except (NatsTimeoutError, TimeoutError):
            raise NoReply(f"No reply came on {subject} in {timeout_s:g} s.") from None
        except NatsError as error:
            raise TransientError(f"The bus cannot carry a request now: {error}.") from error
        headers = message.headers or {}
        return ServiceReply(
            message.data, headers.get(ERROR_CODE_HEADER), headers.get(ERROR_HEADER, "")
        )

    async def ask_all(self, subject: str, *, within_s: float) -> list[bytes]:
        """Send a request to every service that listens; return the replies of this time."""
        replies: list[bytes] = []

        async def collect(message: Msg) -> None:
            if "Status" not in (message.headers or {}):  # else: the server's "no responders"
                replies.append(message.data)

        inbox = self._client.new_inbox()
        try:
            subscription = await self._client.subscribe(inbox, cb=collect)
            await self._client.publish(subject, b"", inbox)
            await asyncio.sleep(within_s)
            await subscription.unsubscribe()
        except NatsError as error:
            raise TransientError(f"The bus cannot carry a request now: {error}.") from error
        return replies


Answer = Callable[[bytes], bytes]
LOOK_FOR_OTHERS_S = 1.0
"""How long a drop-in that starts waits for others of its name to answer."""


@asynccontextmanager
async def serve_endpoints(
    connection: Connection,
    name: str,
    version: str,
    answers: Mapping[str, Answer],
    *,
    code: str = "",
) -> AsyncIterator[None]:
    """Serve `ext.v1.<name>.*` while the context lasts; answers are computed in a thread.

    Raises
    ------
    ConfigurationError
        A drop-in of this name with another version or other code runs: NATS would spread calls
        over both. Each registers before it looks, so of two that start together one sees the other.
    """
    about = {"role": ROLE, "contract": CONTRACT, "code": code}
    service: Any = await nats.micro.add_service(
        connection.client, name=service_name(name), version=version, metadata=about
    )
    try:
        await connection.flush()
        await _refuse_others(connection, Registration(name, version, service.id, code))
        for verb in ENDPOINTS:
            await service.add_endpoint(
                name=verb, subject=endpoint(name, verb), handler=_handler(answers[verb])
            )
        await connection.flush()
        yield
    finally:
        await service.stop()


async def _refuse_others(connection: Connection, own: Registration) -> None:
    subject = f"$SRV.INFO.{service_name(own.name)}"
    replies = await Requester(connection).ask_all(subject, within_s=LOOK_FOR_OTHERS_S)
    for other in filter(None, map(registration_of, replies)):
        if other.process != own.process and (other.version, other.code) != (own.version, own.code):
            raise ConfigurationError(
                f"Another drop-in {own.name} is running, with version {other.version} and other"
                f" code than this one, which has version {own.version}. Numbers of both would be"
                " mixed, so this one does not start. Stop the other one, or give this one a name"
                " of its own: rename its file, or use --name."
            )


def _handler(answer: Answer) -> Callable[[Request], Any]:
    async def handle(request: Request) -> None:
        try:
            reply = await asyncio.to_thread(without_stop_iteration(answer), request.data)
        except BiaswatchError as error:
            raise ServiceError("422", " ".join(str(error).split())) from None
        await request.respond(reply)

    return handle
