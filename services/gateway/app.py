"""The gateway's composition root: a web application and the stage for production answers."""

import asyncio
import sys
from typing import Any

from fastapi import FastAPI

from biaswatch.services.gateway.administration import administration_routes
from biaswatch.services.gateway.archived_answers import AnswersInStore
from biaswatch.services.gateway.auth import CallerAudit, TokenAudit, Tokens
from biaswatch.services.gateway.background import AnswerBacklog, background_work, now, signal_intake
from biaswatch.services.gateway.bodies import IntakeSlots
from biaswatch.services.gateway.callers import KnownTokens, scope_of_caller
from biaswatch.services.gateway.channels import ChannelCommands, ChannelQueries, channel_routes
from biaswatch.services.gateway.dashboard.actions import PageActions
from biaswatch.services.gateway.dashboard.answer_pages import AnswerQueries
from biaswatch.services.gateway.dashboard.forms import SingleUse
from biaswatch.services.gateway.dashboard.label_pages import LabelPages
from biaswatch.services.gateway.dashboard.overview_pages import OverviewQueries
from biaswatch.services.gateway.dashboard.routes import PageSources, page_routes
from biaswatch.services.gateway.dashboard.start_pages import StartQueries
from biaswatch.services.gateway.error_responses import RESPONSES, add_error_handlers
from biaswatch.services.gateway.exports import ExportQueries, export_routes
from biaswatch.services.gateway.json_bodies import PlainAddresses
from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.labels.routes import label_routes
from biaswatch.services.gateway.middleware import (
    BodyLimits,
    CallerIdentity,
    LinesAsText,
    LocalhostOnly,
)
from biaswatch.services.gateway.monitors.commands import MonitorCommands
from biaswatch.services.gateway.monitors.queries import MonitorQueries
from biaswatch.services.gateway.monitors.routes import monitor_routes
from biaswatch.services.gateway.monitors.strata import StrataQueries
from biaswatch.services.gateway.openapi import describe
from biaswatch.services.gateway.otlp.routes import otlp_routes
from biaswatch.services.gateway.runs.commands import RunCommands
from biaswatch.services.gateway.runs.measurements import GroupValueQueries, MeasurementQueries
from biaswatch.services.gateway.runs.provenance import InterpretationQueries, ProvenanceQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.services.gateway.runs.routes import (
    measurement_routes,
    run_background_routes,
    run_routes,
)
from biaswatch.services.gateway.runs.studies import ImpactQueries, StudyQueries
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.status import StatusQueries, status_routes
from biaswatch.services.gateway.traffic.batches import Waiting, WaitingAnswers
from biaswatch.services.gateway.traffic.history import HistoryCommands
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.intake_files import redaction_of
from biaswatch.services.gateway.traffic.routes import (
    history_routes,
    ingestion_routes,
    unwatched_routes,
)
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Brief, Cancellation, Label, LabelSample, Monitor, Run, Suite
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.requests.traffic import SentBatch
from biaswatch.shared.runtime.auditing import AuditWriter
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.runtime.web import ConnectionLimits, web_server
from biaswatch.shared.store import Store

STEADY_AFTER_S = 10.0
"""Seconds after which the server of HTTP is taken to work, where it had failed before."""
WATCHERS_S = 1.0
"""How old what is known of monitors may be where an answer is taken in; the stage that handles it
then goes by the store."""
ON_THIS_MACHINE = {"127.0.0.1", "localhost"}


def web_app(
    settings: GatewaySettings,
    store: Store,
    publisher: Publisher,
    waiting: Waiting = WaitingAnswers,
    *,
    watchers_s: float = 0.0,
) -> FastAPI:
    """Return the API on a store and a bus; `waiting` tells how many answers the bus holds.

    For `watchers_s`, answers are taken in by what was known of who watches.

    Raises
    ------
    ConfigurationError
        The tokens file or the redaction file is wrong.
    """
    known = KnownTokens(settings, now=now)
    tokens, writer = Tokens(known), AuditWriter(store, publisher, now=now)
    audit, token_audit = CallerAudit(writer), TokenAudit(store, writer, known)
    store = store.scoped(scope_of_caller)  # no route sees another tenant's, whatever it asks for

    async def send(record: Run | Cancellation | Brief | Monitor | Label | LabelSample) -> None:
        # The moment is the publication: a run started again must not be dropped as a duplicate.
        await publisher.publish(record, publication=int(record.at.timestamp() * 1000))

    age_s = settings.gateway_extractor_age_s
    limits: dict[str, Any] = {
        "allowed": settings.allowed_targets,
        "most_probes": settings.gateway_run_probes,
    }
    runs, monitors = RunQueries(store), MonitorQueries(store)
    run_commands = RunCommands(
        store,
        runs,
        now=now,
        extractor_age_s=age_s,
        most_runs=settings.gateway_runs_under_way,
        most_suites=settings.gateway_suites,
        **limits,
    )
    monitor_commands = MonitorCommands(
        store,
        monitors,
        now=now,
        extractor_age_s=age_s,
        most_monitors=settings.gateway_monitors,
        **limits,
    )
    redaction = redaction_of(settings.gateway_redaction_file)
    ingestion = ExchangeIngestion(store, now=now, redaction=redaction, watchers_s=watchers_s)
    app = FastAPI(
        title="biaswatch", version="1", responses=RESPONSES, docs_url=None, redoc_url=None
    )
    # First, as routes are looked for in their order, and this one is asked the most.
    slots = IntakeSlots()
    app.include_router(ingestion_routes(ingestion, publisher, waiting, tokens, slots))
    studies, impact = StudyQueries(store), ImpactQueries(store)
    in_store = AnswersInStore(store)
    app.include_router(
        run_routes(runs, studies, impact, run_commands, in_store, send, tokens, audit)
    )
    provenances, values = ProvenanceQueries(store, runs), GroupValueQueries(store, runs)
    app.include_router(run_background_routes(provenances, values, tokens))
    app.include_router(measurement_routes(MeasurementQueries(store), in_store, tokens))
    labels = LabelQueries(store, runs)
    label_commands = LabelCommands(store, runs, labels, now)
    app.include_router(label_routes(labels, label_commands, in_store, send, tokens, audit))
    app.include_router(export_routes(ExportQueries(store, monitors), in_store, tokens))
    strata = StrataQueries(store, monitors)
    app.include_router(monitor_routes(monitor_commands, monitors, strata, send, tokens, audit))
    channels = ChannelQueries(store, now=now)
    asked = ChannelCommands(store, channels, now)
    app.include_router(channel_routes(asked, channels, tokens, audit))
    app.include_router(unwatched_routes(store, tokens))
    signals = signal_intake(store, settings)
    app.include_router(otlp_routes(signals, publisher, waiting, tokens, slots))
    histories = HistoryCommands(store, monitors, now=now)
    app.include_router(history_routes(histories, send, tokens, audit))
    app.include_router(administration_routes(store, tokens, audit, now))
    status = StatusQueries(store, runs, monitors, channels, now)
    app.include_router(status_routes(status, tokens))
    overview = OverviewQueries(store, monitors, status, studies)
    interpretations = InterpretationQueries(store)
    pages = AnswerQueries(store), provenances, values, studies, interpretations, overview
    sources = PageSources(runs, monitors, *pages, in_store, StartQueries(store, runs), strata)
    changes = runs, run_commands, monitors, monitor_commands
    forms = SingleUse(store, now)
    actions = PageActions(*changes, send, audit, forms)
    label_pages = LabelPages(labels, label_commands, send, forms)
    app.include_router(page_routes(sources, actions, label_pages, tokens, now))
    add_error_handlers(app)
    describe(app, (Suite, SentBatch))
    app.add_middleware(BodyLimits, body_s=settings.gateway_body_s)
    app.add_middleware(LinesAsText)
    app.add_middleware(PlainAddresses)
    if not known.needed:
        app.add_middleware(LocalhostOnly)
    app.add_middleware(CallerIdentity, known=known, audit=token_audit)  # the outermost
    return app


def build(settings: GatewaySettings) -> Service:
    """Return the gateway.

    Raises
    ------
    ConfigurationError
        It would listen beyond this machine without any token.
    """
    if settings.gateway_host not in ON_THIS_MACHINE and not settings.guarded:
        raise ConfigurationError(
            f"The gateway would serve everybody who reaches {settings.gateway_host}. Set"
            " BIASWATCH_GATEWAY_TOKENS_FILE or BIASWATCH_GATEWAY_RUN_TOKEN, or"
            " BIASWATCH_GATEWAY_HOST to 127.0.0.1."
        )
    store = Store.open(settings.store, statement_s=settings.store_statement_s)

    backlog = AnswerBacklog()

    async def listen(publisher: Publisher) -> None:
        app = web_app(settings, store, publisher, backlog.size, watchers_s=WATCHERS_S)
        where = settings.gateway_host, settings.gateway_port
        limits = ConnectionLimits(header_s=settings.gateway_header_s)
        async with web_server(app, *where, limits):
            await asyncio.Event().wait()

    work = background_work(store, settings)
    # Without the bus it still shows what is there, and says why nothing new can be started.
    return Service(
        "gateway",
        settings,
        stages=work.stages,
        jobs=[Job(listen, "serve HTTP", steady_after_s=STEADY_AFTER_S), *work.jobs],
        supervisors=[backlog.job],
        probe_store=store.probe,
        close=[*work.close, store.close],
        ready_without_bus=True,
    )


if __name__ == "__main__":
    sys.exit(serve(GatewaySettings, build))
