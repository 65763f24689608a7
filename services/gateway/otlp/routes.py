"""The routes of OTLP over HTTP, and the job that joins what came apart."""

import asyncio
import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from services.gateway.auth import Tokens
from services.gateway.callers import current_caller
from services.gateway.otlp.intake import JoinedAnswers, SignalIntake, TakenSignals
from services.gateway.otlp.wire import (
    JSON,
    LOGS,
    MOST_BYTES,
    PROTOBUF,
    TRACES,
    UnreadableRequestError,
    error_body,
    format_of,
    response_body,
    signals_of,
    unpacked,
)
from services.gateway.traffic.routes import Waiting, publish_exchanges, refuse_when_behind
from shared.bus.port import Publisher
from shared.errors import BackPressureError, TransientError
from shared.runtime.blocking import in_thread
from shared.store import Store
from shared.telemetry import log

AT_ONCE = 2
COME_AGAIN_S = 5
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
    intake: SignalIntake, publisher: Publisher, waiting: Waiting, tokens: Tokens
) -> APIRouter:
    """Return the routes that OTLP's exporters know."""
    router = APIRouter(dependencies=[Depends(tokens.may_ingest)])
    slots = asyncio.Semaphore(AT_ONCE)

    async def take(request: Request, kind: str) -> Response:
        format_ = JSON
        try:
            format_ = format_of(request.headers.get("content-type", ""))
            refuse_when_behind(waiting(), history=False)
            body = await _body(request)
            async with slots:
                taken = await in_thread(
                    _taken, intake, body, request.headers.get("content-encoding", ""), format_, kind
                )
                await publish_exchanges(publisher, taken.exchanges)
            return _response(200, response_body(taken.result, format_, kind), format_)
        except UnreadableRequestError as error:
            return _response(error.status, error_body(str(error), format_), format_)
        except TransientError as error:
            status = 429 if isinstance(error, BackPressureError) else 503
            reply = _response(status, error_body(str(error), format_), format_)
            reply.headers["Retry-After"] = str(math.ceil(error.retry_after_s or COME_AGAIN_S))
            return reply

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


def _taken(
    intake: SignalIntake, body: bytes, encoding: str, format_: str, kind: str
) -> TakenSignals:
    return intake.take(signals_of(unpacked(body, encoding), format_, kind))


async def _body(request: Request) -> bytes:
    """Return the body of a request, unless it is too large."""
    found = bytearray()
    async for chunk in request.stream():
        found += chunk
        if len(found) > MOST_BYTES:
            raise UnreadableRequestError(
                413, f"The body has more than {MOST_BYTES >> 20} MiB. Send smaller batches."
            )
    return bytes(found)


def _response(status: int, body: bytes, format_: str) -> Response:
    return Response(body, status, media_type=format_)


def joining(joined: JoinedAnswers, store: Store) -> Callable[[Publisher], Awaitable[None]]:
    """Return the job that sends on what was joined, for ever."""

    async def join(publisher: Publisher) -> None:
        while True:
            try:
                ended = await in_thread(joined.ended)
                await publish_exchanges(publisher, ended.exchanges)
                await in_thread(store.answer_parts.remove, ended.operations, ended.unwatched)
            except TransientError as error:
                log("gateway").warning("answers of OTLP wait to be joined", why=str(error))
            await asyncio.sleep(JOIN_EVERY_S)

    return join
