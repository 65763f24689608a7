"""What every adapter of an official SDK does: pool its clients, send a call, name each failure."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, ClassVar, Generic, Self, TypeVar

import httpx2

from shared.contracts import Target
from shared.llm.bounded_replies import BoundedClient, accepted_call
from shared.llm.port import (
    PURPOSE_HEADER,
    UNKNOWN_TOKENS,
    AnswerSchema,
    CallFailed,
    Failure,
    ModelAnswer,
    ModelCall,
    ModelEndpoint,
    Tokens,
    key_refused,
    off_limits,
)
from shared.llm.reply_values import json_of
from shared.network import (
    GuardedTransport,
    PrivateAddressError,
    UnknownHostError,
    is_named,
    retry_after_s,
)

REPEAT_HEADER = "X-Biaswatch-Repeat"
ATTEMPT_HEADER = "X-Biaswatch-Attempt"
NO_KEY = "none"
"""What a server is told that needs no key; the SDKs insist on one."""
CALLS_PER_CLIENT = 25
"""For every call a client looks at each connection of its pool, which at 200 in flight costs more
than the call; so there are several clients."""
TOO_LATE = "The provider did not answer in time."
_STATUSES = {
    402: Failure.QUOTA,
    408: Failure.TIMEOUT,
    409: Failure.SERVER_ERROR,  # both SDKs take a conflict for something that passes
    429: Failure.RATE_LIMITED,
}

C = TypeVar("C")


@dataclass(frozen=True)
class Sdk(Generic[C]):
    """An official SDK; OpenAI's and Anthropic's name their errors alike."""

    module: Any
    client: Callable[..., C]
    root_error: type[Exception]
    """What all errors of the SDK are."""


class SdkModel(ABC, Generic[C]):
    """Asks one server; the SDK's own retries are off, because retrying is the generator's."""

    sdk: ClassVar[Sdk[Any]]
    endpoint: ClassVar[str]
    """What is called on the client: a resource's `with_raw_response`, as its reply is read here."""

    def __init__(self, connection: ModelEndpoint) -> None:
        self._connection = connection
        self._clients: ClientPool[C] = ClientPool(
            lambda: self.sdk.client(
                api_key=connection.key or NO_KEY,
                base_url=connection.url,
                max_retries=0,
                http_client=BoundedClient.of(
                    self.sdk.module.DefaultAsyncHttpxClient, _guard_of(connection)
                ),
            )
        )

    @classmethod
    def connect(cls, _: Target, connection: ModelEndpoint) -> Self:
        """Return the adapter for a target."""
        return cls(connection)

    async def ask(self, call: ModelCall) -> ModelAnswer:
        """See `ChatModel.ask`."""
        schema = call.answer_schema if self._connection.structured else None
        headers = {PURPOSE_HEADER: call.purpose}
        if self._connection.tell_repeat:
            headers |= {REPEAT_HEADER: call.repeat_key, ATTEMPT_HEADER: str(call.attempt)}
        with self._clients.one() as client:
            async with named_failures(self.sdk, self._connection.key_source, call.timeout_s):
                reply = await attrgetter(self.endpoint)(client)(
                    model=call.model,
                    timeout=call.timeout_s,
                    extra_headers=headers,
                    **self._request(call, schema),
                )
        return self._answer(json_of(reply.http_response.content, "The provider's"))

    async def close(self) -> None:
        """See `ChatModel.close`."""
        await self._clients.close()

    @abstractmethod
    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        """Return what is asked, in this wire format; `schema` where the server is held to one."""

    @abstractmethod
    def _answer(self, reply: Any) -> ModelAnswer:
        """Read the JSON of a reply, which may be of any shape; what it costs comes first."""


def _guard_of(connection: ModelEndpoint) -> GuardedTransport | None:
    """Return what keeps calls off private addresses; none where the operator names the server."""
    host = httpx2.URL(connection.url).host
    if not connection.named_by_target or is_named(host, connection.private_hosts):
        return None
    return GuardedTransport()


class ClientPool(Generic[C]):
    """Clients of one SDK, each with connections of its own and a limit of calls."""

    def __init__(self, make: Callable[[], C]) -> None:
        self._make = make
        self._clients = [make()]
        self._calls = [0]

    @contextmanager
    def one(self) -> Iterator[C]:
        """Return the first client with fewer calls than its limit, for one call."""
        number = next((n for n, calls in enumerate(self._calls) if calls < CALLS_PER_CLIENT), None)
        if number is None:
            number = len(self._clients)
            self._clients.append(self._make())
            self._calls.append(0)
        self._calls[number] += 1
        try:
            yield self._clients[number]
        finally:
            self._calls[number] -= 1

    async def close(self) -> None:
        """Close all connections."""
        for client in self._clients:
            closing: Any = client
            await closing.close()


@asynccontextmanager
async def named_failures(sdk: Sdk[Any], key_source: str, timeout_s: float) -> AsyncIterator[None]:
    """Limit the time of a call and raise what goes wrong as CallFailed.

    Nothing of the request is repeated, so no key is; `key_source` says where the key is set.
    """
    accepted: list[bool] = []
    accepted_call.set(accepted)
    try:
        # The SDK's own time-out begins anew with every byte that arrives.
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        tokens = UNKNOWN_TOKENS if accepted else None
        raise CallFailed(Failure.TIMEOUT, TOO_LATE, tokens=tokens) from None
    except Exception as error:  # noqa: BLE001 - whatever a reply breaks is that reply's outcome
        tokens = UNKNOWN_TOKENS if accepted else None
        raise _failure(sdk.module, error, key_source, tokens) from None


def _failure(sdk: Any, error: Exception, key_source: str, tokens: Tokens | None) -> CallFailed:
    ours = (CallFailed, PrivateAddressError, UnknownHostError)
    # Some SDKs take it for a broken connection.
    cause = error if isinstance(error, ours) else error.__cause__
    if isinstance(cause, CallFailed):
        return cause
    if isinstance(cause, PrivateAddressError):
        return off_limits(cause.host)
    if isinstance(cause, UnknownHostError):
        return CallFailed(Failure.UNREACHABLE, str(cause))
    if isinstance(error, (sdk.AuthenticationError, sdk.PermissionDeniedError)):
        return key_refused(error.status_code, key_source)
    if isinstance(error, sdk.APITimeoutError):
        return CallFailed(Failure.TIMEOUT, TOO_LATE, tokens=tokens)
    if isinstance(error, sdk.APIConnectionError):
        return CallFailed(Failure.UNREACHABLE, "The provider cannot be reached.", tokens=tokens)
    if isinstance(error, sdk.APIStatusError):
        return _status(error)
    said = "The provider's reply could not be read."
    return CallFailed(Failure.GARBAGE, said, tokens=tokens)


def _status(error: Any) -> CallFailed:
    status = int(error.status_code)
    usual = Failure.SERVER_ERROR if status >= 500 else Failure.BAD_REQUEST
    why = _STATUSES.get(status, usual)
    body = getattr(error, "body", None)
    if status == 429 and isinstance(body, dict) and body.get("code") == "insufficient_quota":
        return CallFailed(Failure.QUOTA, "The provider's quota or credit is used up (HTTP 429).")
    if why is Failure.RATE_LIMITED:
        said = "The provider limits the rate of calls (HTTP 429)."
        return CallFailed(why, said, retry_after_s=retry_after_s(error.response.headers))
    return CallFailed(why, f"The provider answered HTTP {status}.")
