"""Routes of OTLP over HTTP, and the job that joins parts of an operation."""

import math
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Self

from fastapi import APIRouter, Request, Response

from biaswatch.services.gateway.bodies import BodyFile, IntakeSlots, check_connected, receive_body
from biaswatch.services.gateway.callers import current_caller
from biaswatch.services.gateway.context import GatewayContext
from biaswatch.services.gateway.json_bodies import ANSWERS, decoder_lock
from biaswatch.services.gateway.otlp import wire
from biaswatch.services.gateway.otlp.intake import IntakeResult, SignalIntake, signal_intake
from biaswatch.services.gateway.otlp.joining import AnswerJoiner
from biaswatch.services.gateway.otlp.json_signals import SMALL_BYTES
from biaswatch.services.gateway.otlp.protobuf import BATCH_BYTES, LOGS, TRACES
from biaswatch.services.gateway.otlp.wire import (
    JSON,
    PROTOBUF,
    ExportResult,
    UnreadableRequestError,
    error_body,
    format_of,
    response_body,
    signal_batches,
    unpacked,
)
from biaswatch.services.gateway.traffic.batches import check_backlog, publish_exchanges
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Right
from biaswatch.shared.conventions.left_out import LeftOut
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.errors import BackPressureError, TransientError
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.threads import in_thread

RETRY_AFTER_S = 5
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
"""Body in OpenAPI; the documents of OTLP describe the rest."""
RESPONSES: dict[int | str, dict[str, Any]] = {
    200: {"description": "Accepted; `partial_success` counts refused answers, and says why."},
    400: {"description": "The body breaks the protocol."},
    415: {"description": "Neither protobuf nor JSON, or packed by something else than gzip."},
}


@dataclass(frozen=True)
class LangfuseProject:
    """Fields of a project that Langfuse's SDKs read."""

    id: str
    name: str
    organization: dict[str, str]
    metadata: dict[str, str]


def router(ctx: GatewayContext) -> APIRouter:
    """Return the routes of OTLP exporters and of Langfuse's SDKs."""
    router = APIRouter(dependencies=[ctx.tokens.require(Right.INGEST)])
    accept = SignalRequests(signal_intake(ctx.store, ctx.settings), ctx).accept

    @router.post("/v1/traces", openapi_extra=BODY, responses=RESPONSES)
    async def take_traces(request: Request) -> Response:
        """Accept spans (OTLP over HTTP); those of model calls become production answers."""
        return await accept(request, TRACES)

    @router.post("/v1/logs", openapi_extra=BODY, responses=RESPONSES)
    async def take_logs(request: Request) -> Response:
        """Accept log events (OTLP over HTTP); those with messages are joined with their spans."""
        return await accept(request, LOGS)

    @router.post("/api/public/otel/v1/traces", openapi_extra=BODY, responses=RESPONSES)
    async def take_langfuse_traces(request: Request) -> Response:
        """Accept spans of Langfuse's SDKs, with a token as their secret key."""
        return await accept(request, TRACES)

    @router.get("/api/public/projects")
    async def list_langfuse_projects() -> dict[str, list[LangfuseProject]]:
        """Return the tenant as the one project of the keys: `auth_check` of Langfuse's SDKs."""
        caller = current_caller()
        tenant = caller.tenant if caller else ""
        return {"data": [LangfuseProject(tenant, tenant, {"id": tenant, "name": tenant}, {})]}

    return router


class SignalRequests:
    """Accepts requests of traces and logs."""

    def __init__(self, intake: SignalIntake, ctx: GatewayContext) -> None:
        self._intake = intake
        self._ctx = ctx
        self._slots = ctx.slots

    async def accept(self, request: Request, kind: str) -> Response:
        """Publish the answers of a request, and respond in the format of the request."""
        format_ = JSON
        try:
            format_ = format_of(request.headers.get("content-type", ""))
            check_backlog(self._ctx.backlog(self._ctx.store.tenant), history=False)
            async with self._slots.reading(), _ReceivedBody(self._slots) as body:
                await body.receive(request)
                result = await self._accept_batches(request, body.file, format_, kind)
            return Response(response_body(result, format_, kind), 200, media_type=format_)
        except UnreadableRequestError as error:
            body_ = error_body(str(error), format_)
            return Response(body_, error.status, media_type=format_)
        except TransientError as error:
            status = 429 if isinstance(error, BackPressureError) else 503
            retry_after_s = math.ceil(error.retry_after_s or RETRY_AFTER_S)
            headers = {"Retry-After": str(retry_after_s)}
            body_ = error_body(str(error), format_)
            return Response(body_, status, headers, media_type=format_)

    async def _accept_batches(
        self, request: Request, file: BodyFile, format_: str, kind: str
    ) -> ExportResult:
        """Publish batch by batch, as long as the sender is connected."""
        refused: list[str] = []
        left_out = LeftOut()
        batches = signal_batches(file, format_, kind, refused)
        is_large_json = format_ == JSON and file.size > SMALL_BYTES
        if is_large := file.size > BATCH_BYTES:
            await check_connected(request)
        while True:
            async with self._slots.handling():
                async with decoder_lock(request, ANSWERS) if is_large_json else nullcontext():
                    result = await self._slots.in_thread(_next_result, self._intake, batches)
                if result is None:
                    return IntakeResult(refused=refused, left_out=left_out).export_result
                await publish_exchanges(self._ctx.publisher, result.exchanges)
            refused += result.refused
            left_out.update(result.left_out)
            if is_large:
                await check_connected(request)


def _next_result(intake: SignalIntake, batches: Iterator[Iterable[Signal]]) -> IntakeResult | None:
    batch = next(batches, None)
    if batch is None:
        return None
    return IntakeResult() if batch == [] else intake.accept(batch)


class _ReceivedBody:
    """The unpacked body of one request; the end of the context closes it."""

    def __init__(self, slots: IntakeSlots) -> None:
        self._slots = slots
        self._packed = BodyFile()
        self.file = self._packed

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for file in {self._packed, self.file}:
            file.close()

    async def receive(self, request: Request) -> None:
        """Read and unpack the body.

        Raises
        ------
        UnreadableRequestError
            It is too large, or not packed as its header says.
        """
        declared = request.headers.get("content-length", "")
        is_too_large = declared.isdecimal() and int(declared) > wire.MAX_BYTES
        if is_too_large or not await receive_body(request, self._packed, wire.MAX_BYTES):
            raise UnreadableRequestError(
                413, f"The body has more than {wire.MAX_BYTES >> 20} MiB. Send smaller batches."
            )
        if encoding := request.headers.get("content-encoding", ""):
            self.file = await self._slots.in_thread(unpacked, self._packed, encoding)
            if self.file is not self._packed:
                self._packed.close()


def join_job(joiner: AnswerJoiner) -> Job[Publisher]:
    """Return the job that publishes joined answers."""

    async def join(publisher: Publisher) -> None:
        settled = await in_thread(joiner.settled)
        await publish_exchanges(publisher, settled.exchanges)
        await in_thread(joiner.remove, settled)

    return Job(join, "join answers of OTLP", every_s=JOIN_EVERY_S)
