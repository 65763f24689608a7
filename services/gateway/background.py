"""What the gateway does beside its routes: production answers in, evaluations out."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from biaswatch.services.gateway.otlp.evaluations import EvaluationEndpoint, EvaluationExport
from biaswatch.services.gateway.otlp.intake import JoinedAnswers, SignalIntake
from biaswatch.services.gateway.otlp.routes import joining
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.traffic.batches import WaitingAnswers
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.intake_files import mapping_of, redaction_of
from biaswatch.shared.bus.jetstream import most_waiting
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Exchange, Features, Response
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.service import StageHost
from biaswatch.shared.runtime.settings import headers_in
from biaswatch.shared.store import Store

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
    jobs: list[Job[Publisher]]
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
        stuck_after_s=None,  # a batch is held while the endpoint is away
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

    @property
    def job(self) -> Job[StageHost]:
        """The job that looks."""
        return Job(self.look, "count waiting answers", every_s=BACKLOG_LOOK_S)

    async def look(self, host: StageHost) -> None:
        """Look how many answers the bus holds."""
        self._waiting = WaitingAnswers(
            queued=await most_waiting(host.connection, Exchange, ["gateway"]),
            unread=await most_waiting(host.connection, Response, READERS),
        )
