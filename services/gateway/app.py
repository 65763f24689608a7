"""The gateway: a web application, and the stages that handle production answers."""

import asyncio
import sys
from collections.abc import Callable

from fastapi import FastAPI

from biaswatch.services.gateway import administration, channels, exports, status
from biaswatch.services.gateway.auth import CallerAudit, TokenAudit, Tokens
from biaswatch.services.gateway.background import AnswerBacklog, background_work
from biaswatch.services.gateway.callers import KnownTokens, caller_scope
from biaswatch.services.gateway.context import GatewayContext, IntakeBacklog, now
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
from biaswatch.services.gateway.runs import routes as runs
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.traffic import routes as traffic
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.requests.traffic import SentBatch
from biaswatch.shared.runtime.auditing import AuditWriter
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.web import ConnectionLimits, web_server
from biaswatch.shared.store import Store

STEADY_AFTER_S = 10.0
"""Uptime after which an HTTP server that failed before counts as recovered."""
WATCHERS_TTL_S = 1.0
"""Cache time of monitor definitions at intake; the stage behind it reads the store."""
THIS_MACHINE = {"127.0.0.1", "localhost"}
FEATURES = (
    traffic,  # first, because routes are tried in order and this one gets most requests
    runs,
    labels,
    exports,
    monitors,
    channels,
    otlp,
    administration,
    status,
    dashboard,
)


def web_app(
    settings: GatewaySettings,
    store: Store,
    publisher: Publisher,
    backlog: Callable[[], IntakeBacklog] = IntakeBacklog,
    *,
    watchers_ttl_s: float = 0.0,
) -> FastAPI:
    """Return the application on a store and a bus.

    Raises
    ------
    ConfigurationError
        The tokens file, the redaction file or the mapping file is wrong.
    """
    known = KnownTokens(settings, now=now)
    writer = AuditWriter(store, publisher, now=now)
    ctx = GatewayContext(
        settings=settings,
        store=store.scoped(caller_scope),
        publisher=publisher,
        tokens=Tokens(known),
        audit=CallerAudit(writer),
        backlog=backlog,
        watchers_ttl_s=watchers_ttl_s,
    )
    app = FastAPI(
        title="biaswatch", version="1", responses=RESPONSES, docs_url=None, redoc_url=None
    )
    for feature in FEATURES:
        app.include_router(feature.router(ctx))
    add_error_handlers(app)
    describe(app, (Suite, SentBatch))
    app.add_middleware(BodyLimits, body_s=settings.gateway_body_s)
    app.add_middleware(JsonLinesAsText)
    app.add_middleware(RejectNulInAddress)
    if not known.needed:
        app.add_middleware(LocalhostOnly)
    # The last middleware is the outermost.
    app.add_middleware(CallerIdentity, known=known, audit=TokenAudit(store, writer, known))
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
            " BIASWATCH_GATEWAY_TOKENS_FILE or BIASWATCH_GATEWAY_RUN_TOKEN, or"
            " BIASWATCH_GATEWAY_HOST to 127.0.0.1."
        )
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
    backlog = AnswerBacklog()

    async def listen(publisher: Publisher) -> None:
        app = web_app(settings, store, publisher, backlog.latest, watchers_ttl_s=WATCHERS_TTL_S)
        limits = ConnectionLimits(header_s=settings.gateway_header_s)
        async with web_server(app, settings.gateway_host, settings.gateway_port, limits):
            await asyncio.Event().wait()

    work = background_work(store, settings)
    return Service(
        "gateway",
        settings,
        stages=work.stages,
        jobs=[Job(listen, "serve HTTP", steady_after_s=STEADY_AFTER_S), *work.jobs],
        supervisors=[backlog.job],
        probe_store=store.probe,
        close=[*work.close, store.close],
        ready_without_bus=True,  # without a bus it shows what is stored and says what it cannot do
    )


if __name__ == "__main__":
    sys.exit(serve(GatewaySettings, build))
