"""Calling other processes on the bus: one answer from one of them, or an answer from each."""

import asyncio
from dataclasses import dataclass

from nats.aio.msg import Msg
from nats.errors import Error as NatsError
from nats.errors import NoRespondersError
from nats.errors import TimeoutError as NatsTimeoutError
from nats.micro.request import ERROR_CODE_HEADER, ERROR_HEADER

from shared.bus.jetstream.connection import Connection
from shared.errors import TransientError


class NobodyAnswers(TransientError):  # noqa: N818 - what became of a call
    """Nobody listens there, or the answer did not come in time."""


@dataclass(frozen=True)
class Reply:
    """What came back."""

    data: bytes
    error_code: str | None = None
    """What the service itself says went wrong, if it does."""
    error: str = ""


class Caller:
    """Asks services that registered with NATS micro."""

    def __init__(self, connection: Connection) -> None:
        self._client = connection.client

    @property
    def most_bytes(self) -> int:
        """The largest message this server carries."""
        return self._client.max_payload

    async def ask(self, subject: str, body: bytes = b"", *, timeout_s: float) -> Reply:
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
            raise NobodyAnswers(f"Nobody listens on {subject}.") from None
        except (NatsTimeoutError, TimeoutError):
            raise NobodyAnswers(f"No answer came on {subject} in {timeout_s:g} s.") from None
        except NatsError as error:
            raise TransientError(f"The bus cannot carry a call now: {error}.") from error
        headers = message.headers or {}
        return Reply(message.data, headers.get(ERROR_CODE_HEADER), headers.get(ERROR_HEADER, ""))

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
