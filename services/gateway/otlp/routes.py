"""Routes of OTLP over HTTP, and the job that joins parts of an operation."""

import math
from collections.abc import Iterable, Iterator
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from typing import Any, Self

from fastapi import APIRouter, Depends, Request, Response

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.bodies import BodyFile, IntakeSlots, check_connected, receive_body
from biaswatch.services.gateway.callers import current_caller
from biaswatch.services.gateway.json_bodies import ANSWERS, one_at_a_time
from biaswatch.services.gateway.otlp import wire
from biaswatch.services.gateway.otlp.intake import JoinedAnswers, SignalIntake, TakenSignals
from biaswatch.services.gateway.otlp.protobuf import BATCH_BYTES, LOGS, TRACES
from biaswatch.services.gateway.otlp.wire import (
    JSON,
    PROTOBUF,
    SMALL_BYTES,
    ExportResult,
    UnreadableRequestError,
    error_body,
    format_of,
    response_body,
    signal_batches,
    unpacked,
)
from biaswatch.services.gateway.traffic.batches import (
    Waiting,
    publish_exchanges,
    refuse_when_behind,
)
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.errors import BackPressureError, TransientError
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.store import Store

COME_AGAIN_S = 5


class SignalRequests:
    """Takes requests of traces and logs in."""

    def __init__(
        self, intake: SignalIntake, publisher: Publisher, waiting: Waiting, slots: IntakeSlots
    ) -> None:
        self._intake = intake
        self._publisher = publisher
        self._waiting = waiting
        self._slots = slots

    async def take(self, request: Request, kind: str) -> Response:
        """Take in a request, and respond in the protocol's own words."""
        format_ = JSON
        try:
            format_ = format_of(request.headers.get("content-type", ""))
            refuse_when_behind(self._waiting(), history=False)
            async with self._slots.reading(), _Received(self._slots) as received:
                await received.read(request)
                result = await self._take_batches(request, received, format_, kind)
            return _response(200, response_body(result, format_, kind), format_)
        except UnreadableRequestError as error:
            return _response(error.status, error_body(str(error), format_), format_)
        except TransientError as error:
            status = 429 if isinstance(error, BackPressureError) else 503
            reply = _response(status, error_body(str(error), format_), format_)
            reply.headers["Retry-After"] = str(math.ceil(error.retry_after_s or COME_AGAIN_S))
            return reply

    async def _take_batches(
        self, request: Request, received: "_Received", format_: str, kind: str
    ) -> ExportResult:
        """Take in batch by batch, as long as the sender is connected."""
        refused: list[str] = []
        batches = signal_batches(received.body, format_, kind, refused)
        if is_large := received.body.size > BATCH_BYTES:
            await check_connected(request)
        while True:
            async with self._slots.handling():
                async with _decoder_of(request, received, format_):
                    taken = await self._slots.in_thread(_next_taken, self._intake, batches)
                if taken is None:
                    return TakenSignals(refused=refused).result
                await publish_exchanges(self._publisher, taken.exchanges)
            refused += taken.refused
            if is_large:
                await check_connected(request)


def _decoder_of(
    request: Request, received: "_Received", format_: str
) -> AbstractAsyncContextManager[None]:
    """Return what lets one large request in JSON be decoded at a time."""
    if format_ == JSON and received.body.size > SMALL_BYTES:
        return one_at_a_time(request, ANSWERS)
    return nullcontext()


def _next_taken(intake: SignalIntake, batches: Iterator[Iterable[Signal]]) -> TakenSignals | None:
    batch = next(batches, None)
    if batch is None:
        return None
    return TakenSignals() if batch == [] else intake.take(batch)


class _Received:
    """The body of one request, unpacked; closed with the context."""

    def __init__(self, slots: IntakeSlots) -> None:
        self._slots = slots
        self._packed = BodyFile()
        self.body = self._packed

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for body in {self._packed, self.body}:
            body.close()

    async def read(self, request: Request) -> None:
        """Read and unpack the body.

        Raises
        ------
        UnreadableRequestError
            It is too large, or not packed as it says.
        """
        declared = request.headers.get("content-length", "")
        if declared.isdecimal() and int(declared) > wire.MOST_BYTES:
            raise UnreadableRequestError(413, _too_large())
        if not await receive_body(request, self._packed, wire.MOST_BYTES):
            raise UnreadableRequestError(413, _too_large())
        if encoding := request.headers.get("content-encoding", ""):
            self.body = await self._slots.in_thread(unpacked, self._packed, encoding)
            if self.body is not self._packed:
                self._packed.close()


def _too_large() -> str:
    return f"The body has more than {wire.MOST_BYTES >> 20} MiB. Send smaller batches."


def _response(status: int, body: bytes, format_: str) -> Response:
    return Response(body, status, media_type=format_)


JOIN_EVERY_S = 1.0
BODY = {
    "requestBody": {
        "required": True,
        "content": {
            PROTOBUF: {"schema": {"type": "string", "contentMediaType": PROTOBUF}},
            JSON: {"schema": {"type": "object"}},
        },
    }
}
"""For OpenAPI: the protocol's own documents describe the rest."""


def otlp_routes(
    intake: SignalIntake, publisher: Publisher, waiting: Waiting, tokens: Tokens, slots: IntakeSlots
) -> APIRouter:
    """Return the routes that OTLP's exporters know."""
    router = APIRouter(dependencies=[Depends(tokens.may_ingest)])
    take = SignalRequests(intake, publisher, waiting, slots).take
    responses: dict[int | str, dict[str, Any]] = {
        200: {"description": "Taken; `partial_success` counts what was refused, and says why."},
        400: {"description": "The body breaks the protocol."},
        415: {"description": "Neither protobuf nor JSON, or packed by something else than gzip."},
    }

    @router.post("/v1/traces", openapi_extra=BODY, responses=responses)
    async def take_traces(request: Request) -> Response:
        """Take in spans (OTLP over HTTP); those of a model's calls become production answers."""
        return await take(request, TRACES)

    @router.post("/v1/logs", openapi_extra=BODY, responses=responses)
    async def take_logs(request: Request) -> Response:
        """Take in log events (OTLP over HTTP); those with messages are joined with their spans."""
        return await take(request, LOGS)

    @router.post("/api/public/otel/v1/traces", openapi_extra=BODY, responses=responses)
    async def take_langfuse_traces(request: Request) -> Response:
        """Take in spans where Langfuse's SDKs send them, with a token as their secret key."""
        return await take(request, TRACES)

    @router.get("/api/public/projects")
    async def list_langfuse_projects() -> dict[str, list[LangfuseProject]]:
        """Return the tenant as the one project of the keys: `auth_check` of Langfuse's SDKs."""
        caller = current_caller()
        tenant = caller.tenant if caller else ""
        return {"data": [LangfuseProject(tenant, tenant, {"id": tenant, "name": tenant}, {})]}

    return router


@dataclass(frozen=True)
class LangfuseProject:
    """What Langfuse's SDKs read of a project."""

    id: str
    name: str
    organization: dict[str, str]
    metadata: dict[str, str]


def joining(joined: JoinedAnswers, store: Store) -> Job[Publisher]:
    """Return the job that sends on what was joined."""

    async def join(publisher: Publisher) -> None:
        ended = await in_thread(joined.ended)
        await publish_exchanges(publisher, ended.exchanges)
        await in_thread(store.answer_parts.remove, ended.operations, ended.unwatched)

    return Job(join, "join answers of OTLP", every_s=JOIN_EVERY_S)
