"""The routes of OTLP over HTTP, and the job that joins what came apart."""

from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from biaswatch.services.gateway.auth import Tokens
from biaswatch.services.gateway.callers import current_caller
from biaswatch.services.gateway.intake_slots import IntakeSlots
from biaswatch.services.gateway.otlp.intake import JoinedAnswers, SignalIntake
from biaswatch.services.gateway.otlp.protobuf_signals import LOGS, TRACES
from biaswatch.services.gateway.otlp.signal_requests import SignalRequests
from biaswatch.services.gateway.otlp.wire import JSON, PROTOBUF
from biaswatch.services.gateway.traffic.routes import Waiting, publish_exchanges
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.store import Store

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
