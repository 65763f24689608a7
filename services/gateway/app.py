"""The gateway: a web application, and the stages that handle production answers."""

import asyncio
import random
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from fastapi import Depends, FastAPI

from biaswatch.services.gateway import administration, channels, exports, status
from biaswatch.services.gateway.auth import CallerAudit, TokenAudit, Tokens
from biaswatch.services.gateway.callers import KnownTokens, caller_scope
from biaswatch.services.gateway.context import GatewayContext, IntakeBacklog, no_backlog, now
from biaswatch.services.gateway.dashboard import routes as dashboard
from biaswatch.services.gateway.error_responses import RESPONSES, add_error_handlers
from biaswatch.services.gateway.labels import routes as labels
from biaswatch.services.gateway.middleware import (
    BodyLimits,
    CallerIdentity,
    JsonLinesAsText,
    LocalhostOnly,
    RejectNulInAddress,
)
from biaswatch.services.gateway.monitors import routes as monitors
from biaswatch.services.gateway.openapi import describe
from biaswatch.services.gateway.otlp import routes as otlp
from biaswatch.services.gateway.otlp.evaluations import EvaluationEndpoint, EvaluationExport
from biaswatch.services.gateway.otlp.intake import signal_intake
from biaswatch.services.gateway.otlp.joining import AnswerJoiner
from biaswatch.services.gateway.otlp.routes import join_job
from biaswatch.services.gateway.references import IdReferences, whole_ids
from biaswatch.services.gateway.runs import routes as runs
from biaswatch.services.gateway.searches import routes as searches
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.sign_in import routes as sign_in_routes
from biaswatch.services.gateway.traffic import routes as traffic
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.intake_files import redaction_of
from biaswatch.shared.bus.jetstream import RecordQueue, most_waiting
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Exchange, Features, Response, Suite
from biaswatch.shared.contracts.partitions import PARTITIONS, partition_of
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.requests.platform import PlatformTrouble
from biaswatch.shared.requests.traffic import SentBatch
from biaswatch.shared.runtime.auditing import AuditWriter
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service, StageHost
from biaswatch.shared.runtime.settings import headers_in
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.runtime.web import ConnectionLimits, web_server
from biaswatch.shared.store import Store

INGESTION_BATCH = 256
EVALUATION_BATCH, EVALUATION_LINGER_S = 512, 1.0
BACKLOG_EVERY_S = 1.0
CHECK_FILES_S = 3.0
ANSWER_CONSUMERS = ("recorder", "extractor")
"""Services that write and measure answers."""


@dataclass(frozen=True)
class BackgroundWork:
    """Stages and jobs that run and end with the gateway."""

    stages: list[Stage[Any]]
    jobs: list[Job[Publisher]]
    close: list[Callable[[], Awaitable[None]]]


def background_work(store: Store, settings: GatewaySettings) -> BackgroundWork:
    """Return the stages and jobs that the settings ask for.

    Raises
    ------
    ConfigurationError
        A file that the settings name cannot be read, or something in it is wrong.
    """
    joiner = AnswerJoiner(store, lambda scoped: signal_intake(scoped, settings), now=now)

    async def check_files(_: Publisher) -> None:
        await in_thread(store.answer_files.check_available)

    jobs = [join_job(joiner), Job(check_files, "files of answers", every_s=CHECK_FILES_S)]
    work = BackgroundWork([ingestion_stage(store, settings)], jobs, [])
    if (endpoint := evaluation_endpoint(settings)) is not None:
        work.stages.append(evaluation_stage(endpoint, settings))
        work.close.append(endpoint.close)
    return work


def ingestion_stage(store: Store, settings: GatewaySettings) -> Stage[Exchange]:
    """Return the stage that turns production answers into responses."""
    ingestion = ExchangeIngestion(
        store,
        now=now,
        redaction=redaction_of(settings.gateway_redaction_file),
        evaluated_tenants=settings.evaluated_tenants,
    )
    return Stage("gateway", Exchange, ingestion, slots=1, batch=INGESTION_BATCH)


def evaluation_stage(endpoint: EvaluationEndpoint, settings: GatewaySettings) -> Stage[Features]:
    """Return the stage that sends measurements back to the traces of their answers."""
    export = EvaluationExport(endpoint, settings.evaluated_tenants, now=now, jitter=random.random)
    return Stage(
        "gateway",
        Features,
        export,
        slots=2,
        batch=EVALUATION_BATCH,
        linger_s=EVALUATION_LINGER_S,
        on_stop=export.stop,
        stuck_after_s=None,  # a batch is held while the endpoint is away
    )


def evaluation_endpoint(settings: GatewaySettings) -> EvaluationEndpoint | None:
    """Return the endpoint for evaluations, if the settings name one.

    Raises
    ------
    ConfigurationError
        The file of its headers cannot be read, or something in it is wrong.
    """
    if settings.gateway_evaluations_url is None:
        return None
    if settings.gateway_evaluations_headers_file is not None:
        headers_in(settings.gateway_evaluations_headers_file)
    return EvaluationEndpoint(
        settings.gateway_evaluations_url,
        settings.gateway_evaluations_headers_file,
        settings.gateway_evaluations_private_hosts,
    )


class AnswerBacklog:
    """Counts the production answers that the bus holds."""

    def __init__(self) -> None:
        self._queued: dict[str, int] = {}
        self._unread = [0] * PARTITIONS

    def latest(self, tenant: str) -> IntakeBacklog:
        """Return the last count of a tenant."""
        return IntakeBacklog(self._queued.get(tenant, 0), self._unread[partition_of(tenant)])

    @property
    def job(self) -> Job[StageHost]:
        """The job that counts."""
        return Job(self._count, "count waiting answers", every_s=BACKLOG_EVERY_S)

    async def _count(self, host: StageHost) -> None:
        self._queued = await RecordQueue(host.connection, Exchange).waiting()
        self._unread = await most_waiting(host.connection, Response, ANSWER_CONSUMERS)


STEADY_AFTER_S = 10.0
"""Uptime after which an HTTP server that failed before counts as recovered."""
WATCHERS_TTL_S = 1.0
"""Cache time of monitor definitions at intake; the stage behind it reads the store."""
THIS_MACHINE = {"127.0.0.1", "localhost"}
ROUTE_MODULES = (
    traffic,  # first, because routes are tried in order and this one gets most requests
    runs,
    labels,
    exports,
    monitors,
    searches,
    channels,
    otlp,
    administration,
    status,
    sign_in_routes,
    dashboard,
)


def web_app(
    settings: GatewaySettings,
    store: Store,
    publisher: Publisher,
    backlog: Callable[[str], IntakeBacklog] = no_backlog,
    *,
    troubles: Callable[[], list[PlatformTrouble]] = list,
    watchers_ttl_s: float = 0.0,
) -> FastAPI:
    """Return the application on a store and a bus.

    Raises
    ------
    ConfigurationError
        The tokens file, the redaction file, the mapping file or a setting of the sign-in is wrong.
    """
    known = KnownTokens(settings, now=now)
    sign_in = None
    if settings.gateway_oidc_issuer is not None:
        from biaswatch.services.gateway.sign_in.sessions import sign_in_of

        sign_in = sign_in_of(settings.gateway_oidc_issuer, settings, now=now)
    writer = AuditWriter(store, publisher, now=now)
    ctx = GatewayContext(
        settings=settings,
        store=store.scoped(caller_scope),
        publisher=publisher,
        tokens=Tokens(known),
        sign_in=sign_in,
        audit=CallerAudit(writer),
        backlog=backlog,
        troubles=troubles,
        watchers_ttl_s=watchers_ttl_s,
    )
    app = FastAPI(
        title="biaswatch", version="1", responses=RESPONSES, docs_url=None, redoc_url=None,
        dependencies=[Depends(whole_ids(IdReferences(ctx.store)))],
    )  # fmt: skip
    for module in ROUTE_MODULES:
        app.include_router(module.router(ctx))
    add_error_handlers(app)
    describe(app, (Suite, SentBatch))
    app.add_middleware(BodyLimits, body_s=settings.gateway_body_s)
    app.add_middleware(JsonLinesAsText)
    app.add_middleware(RejectNulInAddress)
    if not known.needed:
        app.add_middleware(LocalhostOnly)
    # The last middleware is the outermost.
    audit = TokenAudit(store, writer, known)
    app.add_middleware(CallerIdentity, known=known, audit=audit, sign_in=sign_in)
    return app


def build(settings: GatewaySettings) -> Service:
    """Return the gateway.

    Raises
    ------
    ConfigurationError
        It would listen beyond this machine without any token.
    """
    if settings.gateway_host not in THIS_MACHINE and not settings.guarded:
        raise ConfigurationError(
            f"The gateway would serve every client that reaches {settings.gateway_host}. Set"
            " BIASWATCH_GATEWAY_TOKENS_FILE, BIASWATCH_GATEWAY_OIDC_ISSUER or"
            " BIASWATCH_GATEWAY_RUN_TOKEN, or BIASWATCH_GATEWAY_HOST to 127.0.0.1."
        )
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    backlog = AnswerBacklog()

    async def listen(publisher: Publisher) -> None:
        app = web_app(
            settings, store, publisher, backlog.latest,
            troubles=partial(status.service_troubles, service), watchers_ttl_s=WATCHERS_TTL_S,
        )  # fmt: skip
        limits = ConnectionLimits(header_s=settings.gateway_header_s)
        async with web_server(app, settings.gateway_host, settings.gateway_port, limits):
            await asyncio.Event().wait()

    work = background_work(store, settings)
    service = Service(
        "gateway",
        settings,
        stages=work.stages,
        jobs=[Job(listen, "serve HTTP", steady_after_s=STEADY_AFTER_S), *work.jobs],
        supervisors=[backlog.job],
        check_store=store.check_available,
        close=[*work.close, store.close],
        ready_without_bus=True,  # without a bus it shows what is stored and says what it cannot do
    )
    return service


if __name__ == "__main__":
    sys.exit(serve(GatewaySettings, build))
