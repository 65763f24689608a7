"""Stages and jobs beside the routes: production answers in, evaluations out."""

import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from biaswatch.services.gateway.context import IntakeBacklog, now
from biaswatch.services.gateway.otlp.evaluations import EvaluationEndpoint, EvaluationExport
from biaswatch.services.gateway.otlp.intake import AnswerJoiner, signal_intake
from biaswatch.services.gateway.otlp.routes import join_job
from biaswatch.services.gateway.settings import GatewaySettings
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.services.gateway.traffic.intake_files import redaction_of
from biaswatch.shared.bus.jetstream import most_waiting
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Exchange, Features, Response
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.service import StageHost
from biaswatch.shared.runtime.settings import headers_in
from biaswatch.shared.store import Store

INGESTION_BATCH = 256
EVALUATION_BATCH, EVALUATION_LINGER_S = 512, 1.0
BACKLOG_EVERY_S = 1.0
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
    work = BackgroundWork([ingestion_stage(store, settings)], [join_job(joiner, store)], [])
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
        self._backlog = IntakeBacklog()

    def latest(self) -> IntakeBacklog:
        """Return the last count."""
        return self._backlog

    @property
    def job(self) -> Job[StageHost]:
        """The job that counts."""
        return Job(self._count, "count waiting answers", every_s=BACKLOG_EVERY_S)

    async def _count(self, host: StageHost) -> None:
        self._backlog = IntakeBacklog(
            queued=await most_waiting(host.connection, Exchange, ["gateway"]),
            unread=await most_waiting(host.connection, Response, ANSWER_CONSUMERS),
        )
