"""The gateway's composition root: a web application and the stage for production answers."""

import asyncio
import sys
from datetime import UTC, datetime

from fastapi import FastAPI

from services.gateway.auth import Tokens
from services.gateway.dashboard.routes import page_routes
from services.gateway.error_responses import RESPONSES, add_error_handlers
from services.gateway.middleware import BodyLimits, LocalhostOnly
from services.gateway.monitors.commands import MonitorCommands
from services.gateway.monitors.queries import MonitorQueries
from services.gateway.monitors.routes import monitor_routes
from services.gateway.runs.commands import RunCommands
from services.gateway.runs.impact_queries import ImpactQueries
from services.gateway.runs.measurement_queries import MeasurementQueries
from services.gateway.runs.queries import RunQueries
from services.gateway.runs.routes import measurement_routes, run_routes
from services.gateway.runs.study_queries import StudyQueries
from services.gateway.settings import GatewaySettings
from services.gateway.traffic.ingestion import ExchangeIngestion, ingestion_routes
from shared.bus.port import Publisher
from shared.bus.stage import Stage
from shared.contracts import Brief, Cancellation, Exchange, Monitor, Run
from shared.errors import ConfigurationError
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.runtime.web import web_server
from shared.store import Store

INGESTED_AT_ONCE = 256
ON_THIS_MACHINE = {"127.0.0.1", "localhost"}


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def web_app(settings: GatewaySettings, store: Store, publisher: Publisher) -> FastAPI:
    """Return the API on a store and a bus."""
    tokens = Tokens(
        settings.gateway_read_token, settings.gateway_run_token, settings.gateway_ingest_token
    )

    async def send(record: Run | Cancellation | Brief | Monitor) -> None:
        # The moment is the publication: a run started again must not be dropped as a duplicate.
        await publisher.publish(record, publication=int(record.at.timestamp() * 1000))

    age_s = settings.gateway_extractor_age_s
    runs, monitors = RunQueries(store), MonitorQueries(store)
    run_commands = RunCommands(store, runs, now=now, extractor_age_s=age_s)
    monitor_commands = MonitorCommands(store, monitors, now=now, extractor_age_s=age_s)
    ingestion = ExchangeIngestion(store, now=now)
    app = FastAPI(
        title="biaswatch", version="1", responses=RESPONSES, docs_url=None, redoc_url=None
    )
    studies, impact = StudyQueries(store), ImpactQueries(store)
    app.include_router(run_routes(runs, studies, impact, run_commands, send, tokens))
    app.include_router(measurement_routes(MeasurementQueries(store), tokens))
    app.include_router(monitor_routes(monitor_commands, monitors, send, tokens))
    app.include_router(ingestion_routes(ingestion, publisher.publish, tokens))
    app.include_router(page_routes(runs, monitors, tokens, now))
    add_error_handlers(app)
    app.add_middleware(BodyLimits, tokens=tokens)
    if not tokens.any_set:
        app.add_middleware(LocalhostOnly)
    return app


def ingestion_stage(store: Store) -> Stage[Exchange]:
    """Return the stage that turns production answers into responses."""
    handle = ExchangeIngestion(store, now=now)
    return Stage("gateway", Exchange, handle, slots=1, batch=INGESTED_AT_ONCE)


def build(settings: GatewaySettings) -> Service:
    """Return the gateway.

    Raises
    ------
    ConfigurationError
        It would listen beyond this machine without any token.
    """
    tokens = (settings.gateway_read_token, settings.gateway_run_token)
    guarded = any((*tokens, settings.gateway_ingest_token))
    if settings.gateway_host not in ON_THIS_MACHINE and not guarded:
        raise ConfigurationError(
            f"The gateway would serve everybody who reaches {settings.gateway_host}. Set"
            " BIASWATCH_GATEWAY_RUN_TOKEN, or BIASWATCH_GATEWAY_HOST to 127.0.0.1."
        )
    store = Store.open(settings.store)

    async def listen(publisher: Publisher) -> None:
        app = web_app(settings, store, publisher)
        async with web_server(app, settings.gateway_host, settings.gateway_port):
            await asyncio.Event().wait()

    stages = [ingestion_stage(store)]
    return Service("gateway", settings, stages=stages, jobs=[listen], close=[store.close])


if __name__ == "__main__":
    sys.exit(serve(GatewaySettings, build))
