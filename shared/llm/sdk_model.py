"""Base of the adapters of official SDKs: client pool, calls and failures."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, ClassVar, Generic, Self, TypeVar

import httpx2

from biaswatch.shared.contracts import Target
from biaswatch.shared.contracts.target import NOT_PARAMETERS
from biaswatch.shared.llm.bounded_replies import BoundedClient, CallProgress, call_progress
from biaswatch.shared.llm.port import (
    PURPOSE_HEADER,
    UNKNOWN_TOKENS,
    AnswerSchema,
    CallFailed,
    Continuations,
    Failure,
    ModelAnswer,
    ModelCall,
    ModelEndpoint,
    no_logprobs,
    off_limits,
    unsendable,
)
from biaswatch.shared.llm.provider_errors import failure_in_reply, failure_of_status
from biaswatch.shared.llm.replies import is_from_cache, json_of, stated_tokens
from biaswatch.shared.network.outgoing import (
    GuardedTransport,
    PrivateAddressError,
    UnknownHostError,
    is_named,
)

REPEAT_HEADER = "X-Biaswatch-Repeat"
ATTEMPT_HEADER = "X-Biaswatch-Attempt"
NO_KEY = "none"
"""The key for servers without keys, as the SDKs require one."""
CALLS_PER_CLIENT = 25
"""Bounds the pool of a client, which is scanned for every call."""
TOO_LATE = "The provider did not answer in time."
NOT_IN_BATCHES = "A batch returns no log-probabilities of given answers."
QUERY_PARAMETERS = ("api-version",)
"""Parameters of a target that are sent in the query; all others are sent in the body."""

C = TypeVar("C")


@dataclass(frozen=True)
class Sdk(Generic[C]):
    """An official SDK; those of OpenAI and Anthropic have the same names of errors."""

    module: Any
    client: Callable[..., C]
    root_error: type[Exception]
    """The base of all errors of the SDK."""


class SdkModel(ABC, Generic[C]):
    """Client of one server, without the retries of the SDK, as the generator retries."""

    sdk: ClassVar[Sdk[Any]]
    endpoint: ClassVar[str]
    """Path of the client's method, with `with_raw_response`, as replies are read here."""
    required: ClassVar[tuple[str, ...]]
    """Fields of the body that the method requires; others are sent as extra fields."""

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
        _check_parameters(call)
        if call.continuations:
            return await self._scores(call, call.continuations)
        reply = await self.reply(self.endpoint, call.timeout_s, **self._arguments(call))
        document = json_of(reply.content, "The provider's")
        answer = self.answer_in(document, tools=bool(call.tools))
        return replace(answer, from_cache=is_from_cache(reply.headers))

    def answer_in(self, document: Any, *, tools: bool = False) -> ModelAnswer:
        """Return the answer in the JSON of a reply, without calls of tools if none is declared.

        Raises
        ------
        CallFailed
            It has no answer.
        """
        tokens = stated_tokens(document)
        if failure := failure_in_reply(document, key=self._connection.key, tokens=tokens):
            raise failure
        answer = self._answer(document)
        return _without_calls(answer) if answer.calls and not tools else answer

    async def reply(self, method: str, timeout_s: float, /, **arguments: Any) -> httpx2.Response:
        """Call a method of the SDK's client, named with its path; raise CallFailed."""
        key, key_source = self._connection.key, self._connection.key_source
        with self._clients.one() as client:
            async with named_failures(self.sdk, key_source, timeout_s, key=key):
                reply = await attrgetter(method)(client)(**arguments)
        response: httpx2.Response = getattr(reply, "http_response", reply)
        return response

    def batch_body(self, call: ModelCall) -> dict[str, Any]:
        """Return the body of a call in a batch; raise CallFailed if it cannot be in one."""
        _check_parameters(call)
        if call.continuations:
            raise CallFailed(Failure.NO_LOGPROBS, NOT_IN_BATCHES)
        enforced = self._connection.structured or call.enforced
        body = self._request(call, call.answer_schema if enforced else None)
        return {"model": call.model} | {n: v for n, v in body.items() if n not in QUERY_PARAMETERS}

    def _arguments(self, call: ModelCall) -> dict[str, Any]:
        """Return the arguments of the SDK's method, with unknown fields in `extra_body`."""
        enforced = self._connection.structured or call.enforced
        schema = call.answer_schema if enforced else None
        body = self._request(call, schema)
        query = {name: str(body.pop(name)) for name in QUERY_PARAMETERS if name in body}
        headers = {PURPOSE_HEADER: call.purpose}
        if self._connection.tell_repeat:
            headers |= {REPEAT_HEADER: call.repeat_key, ATTEMPT_HEADER: str(call.attempt)}
        return {
            "model": call.model,
            "timeout": call.timeout_s,
            "extra_headers": headers,
            "extra_query": query or None,
            **{name: body.pop(name) for name in self.required},
            "extra_body": body or None,
        }

    async def close(self) -> None:
        """See `ChatModel.close`."""
        await self._clients.close()

    async def _scores(self, call: ModelCall, continuations: Continuations) -> ModelAnswer:
        """Score given texts; raise CallFailed in formats without log-probabilities."""
        del call, continuations
        raise no_logprobs("its format has none")

    @abstractmethod
    def _request(self, call: ModelCall, schema: AnswerSchema | None) -> dict[str, Any]:
        """Return the body in this wire format; `schema` if the server must enforce one."""

    @abstractmethod
    def _answer(self, reply: Any) -> ModelAnswer:
        """Read the JSON of a reply, which may have any shape; its usage comes first."""


def _without_calls(answer: ModelAnswer) -> ModelAnswer:
    """Return an answer without its calls; raise CallFailed if nothing else is left."""
    if not answer.text.strip():
        detail = f"The answer is empty ({answer.finish_reason})."
        raise CallFailed(Failure.EMPTY, detail, tokens=answer.tokens)
    return replace(answer, calls=())


def _check_parameters(call: ModelCall) -> None:
    """Raise CallFailed if a parameter would replace the question."""
    if taken := sorted(NOT_PARAMETERS.keys() & call.parameters.keys()):
        detail = f"The parameter {taken[0]} cannot be set: {NOT_PARAMETERS[taken[0]]}."
        raise CallFailed(Failure.BAD_REQUEST, detail)


def _guard_of(connection: ModelEndpoint) -> GuardedTransport | None:
    """Return the guard against private addresses; None if the operator named the server."""
    host = httpx2.URL(connection.url).host
    if not connection.named_by_target or is_named(host, connection.private_hosts):
        return None
    return GuardedTransport()


class ClientPool(Generic[C]):
    """Clients of one SDK, each with its own connections and a limit of calls."""

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
async def named_failures(
    sdk: Sdk[Any], key_source: str, timeout_s: float, *, key: str | None = None
) -> AsyncIterator[None]:
    """Bound the time of a call and raise failures as CallFailed, without the key.

    `key_source` tells where the key is set.
    """
    progress = CallProgress()
    call_progress.set(progress)
    try:
        # The time-out of the SDK restarts with every byte.
        async with asyncio.timeout(timeout_s):
            yield
    except TimeoutError:
        tokens = UNKNOWN_TOKENS if progress.accepted else None
        raise CallFailed(Failure.TIMEOUT, TOO_LATE, tokens=tokens) from None
    except Exception as error:  # noqa: BLE001 - a broken reply fails its own call only
        if isinstance(error, sdk.module.APIStatusError):
            reply = error.response
            raise failure_of_status(
                "The provider", reply.status_code, reply.headers, reply.content,
                key=key, key_source=key_source,
            ) from None  # fmt: skip
        raise _failure(sdk.module, error, progress) from None


def _failure(sdk: Any, error: Exception, progress: CallProgress) -> CallFailed:
    tokens = UNKNOWN_TOKENS if progress.accepted else None
    own_errors = (CallFailed, PrivateAddressError, UnknownHostError)
    # Some SDKs wrap them as connection errors.
    cause = error if isinstance(error, own_errors) else error.__cause__
    if isinstance(cause, CallFailed):
        return cause
    if isinstance(cause, PrivateAddressError):
        return off_limits(cause.host)
    if isinstance(cause, UnknownHostError):
        return CallFailed(Failure.UNREACHABLE, str(cause))
    if isinstance(error, sdk.APITimeoutError):
        return CallFailed(Failure.TIMEOUT, TOO_LATE, tokens=tokens)
    if isinstance(error, sdk.APIConnectionError):
        return CallFailed(Failure.UNREACHABLE, "The provider cannot be reached.", tokens=tokens)
    if not progress.sent:
        return unsendable(error)
    detail = "The provider's reply could not be read."
    return CallFailed(Failure.GARBAGE, detail, tokens=tokens)
