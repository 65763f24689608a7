"""What the gateway does beside its routes: production answers in, evaluations out."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from services.gateway.otlp.evaluation_endpoint import EvaluationEndpoint
from services.gateway.otlp.evaluation_export import EvaluationExport
from services.gateway.otlp.intake import JoinedAnswers, SignalIntake
from services.gateway.otlp.mapping_file import mapping_of
from services.gateway.otlp.routes import joining
from services.gateway.settings import GatewaySettings
from services.gateway.traffic.ingestion import ExchangeIngestion
from services.gateway.traffic.redaction_file import redaction_of
from services.gateway.traffic.routes import WaitingAnswers
from shared.bus.jetstream import most_waiting
from shared.bus.stage import Stage
from shared.contracts import Exchange, Features, Response
from shared.errors import TransientError
from shared.runtime.header_files import headers_in
from shared.runtime.service import Job, StageHost
from shared.store import Store
from shared.telemetry import log

INGESTED_AT_ONCE = 256
EVALUATED_AT_ONCE, EVALUATED_LINGER_S = 512, 1.0
BACKLOG_LOOK_S = 1.0
READERS = ("recorder", "extractor")
"""Who write and measure answers."""


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


@dataclass(frozen=True)
class BackgroundWork:
    """What runs and ends with the gateway, whoever serves its routes."""

    stages: list[Stage[Any]]
    jobs: list[Job]
    close: list[Callable[[], Awaitable[None]]]


def background_work(store: Store, settings: GatewaySettings) -> BackgroundWork:
    """Return the stages and jobs that the settings ask for.

    Raises
    ------
    ConfigurationError
        A file that the settings name cannot be read, or something in it is wrong.
    """
    joined = JoinedAnswers(store, lambda scoped: signal_intake(scoped, settings), now=now)
    work = BackgroundWork([ingestion_stage(store, settings)], [joining(joined, store)], [])
    if (endpoint := evaluation_endpoint(settings)) is not None:
        work.stages.append(evaluation_stage(endpoint, settings))
        work.close.append(endpoint.close)
    return work


def ingestion_stage(store: Store, settings: GatewaySettings) -> Stage[Exchange]:
    """Return the stage that turns production answers into responses."""
    redaction = redaction_of(settings.gateway_redaction_file)
    handle = ExchangeIngestion(
        store, now=now, redaction=redaction, evaluated_tenants=settings.evaluated_tenants
    )
    return Stage("gateway", Exchange, handle, slots=1, batch=INGESTED_AT_ONCE)


def evaluation_stage(endpoint: EvaluationEndpoint, settings: GatewaySettings) -> Stage[Features]:
    """Return the stage that sends measurements back to the traces of their answers."""
    export = EvaluationExport(endpoint, settings.evaluated_tenants, now=now, jitter=random.random)
    return Stage(
        "gateway",
        Features,
        export,
        slots=2,
        batch=EVALUATED_AT_ONCE,
        linger_s=EVALUATED_LINGER_S,
        on_stop=export.stop,
    )


def evaluation_endpoint(settings: GatewaySettings) -> EvaluationEndpoint | None:
    """Return the endpoint that the settings name for evaluations, if they name one.

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


def signal_intake(store: Store, settings: GatewaySettings) -> SignalIntake:
    """Return what takes spans and log events in.

    Raises
    ------
    ConfigurationError
        The mapping file or the redaction file is wrong.
    """
    redaction = redaction_of(settings.gateway_redaction_file)
    mapping = mapping_of(settings.gateway_mapping_file)
    ingestion = ExchangeIngestion(store, now=now, redaction=redaction)
    return SignalIntake(store, ingestion, mapping, redaction, now=now)


class AnswerBacklog:
    """Knows how many answers the bus holds."""

    def __init__(self) -> None:
        self._waiting = WaitingAnswers()

    def size(self) -> WaitingAnswers:
        """Return what waited at the last look."""
        return self._waiting

    async def follow(self, host: StageHost) -> None:
        """Look, for ever: a supervisor of the service."""
        while True:
            try:
                self._waiting = WaitingAnswers(
                    queued=await most_waiting(host.connection, Exchange, ["gateway"]),
                    unread=await most_waiting(host.connection, Response, READERS),
                )
            except TransientError as error:
                log("gateway").warning("how many answers wait is unknown", why=str(error))
            await asyncio.sleep(BACKLOG_LOOK_S)
