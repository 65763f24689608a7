"""NATS micro services: requests to one or to all of them, and endpoints of our own."""

import asyncio
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

from shared.bus.jetstream.connection import Connection
from shared.contracts.dropin import CONTRACT, ENDPOINTS, ROLE, endpoint, service_name
from shared.errors import BiaswatchError, TransientError


class NoReply(TransientError):  # noqa: N818 - what became of a call
    """Nobody listens there, or the answer did not come in time."""


@dataclass(frozen=True)
class ServiceReply:
    """What came back."""

    data: bytes
    error_code: str | None = None
    """What the service itself says went wrong, if it does."""
    error: str = ""


class Requester:
    """Asks services that registered with NATS micro."""

    def __init__(self, connection: Connection) -> None:
        self._client = connection.client

    @property
    def most_bytes(self) -> int:
        """The largest message this server carries."""
        return self._client.max_payload

    async def ask(self, subject: str, body: bytes = b"", *, timeout_s: float) -> ServiceReply:
        """Ask one of those who listen.

        Raises
        ------
        NobodyAnswers
            Nobody listens, or nobody answered in time.
        TransientError
            The bus cannot carry the question now.
        """
        try:
            message = await self._client.request(subject, body, timeout=timeout_s)
        except NoRespondersError:
            raise NoReply(f"Nobody listens on {subject}.") from None
        except (NatsTimeoutError, TimeoutError):
            raise NoReply(f"No answer came on {subject} in {timeout_s:g} s.") from None
        except NatsError as error:
            raise TransientError(f"The bus cannot carry a call now: {error}.") from error
        headers = message.headers or {}
        return ServiceReply(
            message.data, headers.get(ERROR_CODE_HEADER), headers.get(ERROR_HEADER, "")
        )

    async def ask_all(self, subject: str, *, within_s: float) -> list[bytes]:
        """Ask everybody who listens; give what came in this time."""
        heard: list[bytes] = []

        async def hear(message: Msg) -> None:
            if "Status" not in (message.headers or {}):  # else: the server says nobody listens
                heard.append(message.data)

        inbox = self._client.new_inbox()
        try:
            subscription = await self._client.subscribe(inbox, cb=hear)
            await self._client.publish(subject, b"", inbox)
            await asyncio.sleep(within_s)
            await subscription.unsubscribe()
        except NatsError as error:
            raise TransientError(f"The bus cannot carry a call now: {error}.") from error
        return heard


Answer = Callable[[bytes], bytes]


@asynccontextmanager
async def serve_endpoints(
    connection: Connection, name: str, version: str, answers: Mapping[str, Answer]
) -> AsyncIterator[None]:
    """Answer on `ext.v1.<name>.*` while the context lasts; computing runs in a thread."""
    about = {"role": ROLE, "contract": CONTRACT}
    service: Any = await nats.micro.add_service(
        connection.client, name=service_name(name), version=version, metadata=about
    )
    try:
        for each in ENDPOINTS:
            await service.add_endpoint(
                name=each, subject=endpoint(name, each), handler=_handler(answers[each])
            )
        await connection.flush()
        yield
    finally:
        await service.stop()


def _handler(answer: Answer) -> Callable[[Request], Any]:
    async def handle(request: Request) -> None:
        try:
            reply = await asyncio.to_thread(answer, request.data)
        except BiaswatchError as error:
            raise ServiceError("422", " ".join(str(error).split())) from None
        await request.respond(reply)

    return handle
