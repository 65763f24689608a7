"""The diagnoser's composition root."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from services.diagnoser.domain.channels.alertmanager import SEND_EVERY_S
from services.diagnoser.domain.findings import AnalysisPlan
from services.diagnoser.handlers import (
    CloseRounds,
    CompletionsInTurn,
    DiagnoseRun,
    MonitorMetrics,
    OnCompletion,
)
from services.diagnoser.handlers.channels.channel_metrics import ChannelMetrics
from services.diagnoser.handlers.channels.declared import operator_channels
from services.diagnoser.handlers.channels.deliveries import DeliverAlarms
from services.diagnoser.handlers.channels.standing_alerts import ResendAlerts
from services.diagnoser.handlers.labels import LINGER_S, MOST_AT_ONCE, CorrectByLabels
from services.diagnoser.handlers.lost_corrections import LostCorrections
from services.diagnoser.settings import DiagnoserSettings, variable
from shared.bus.port import Publisher
from shared.bus.stage import Stage
from shared.contracts import Completion, Label
from shared.runtime.process import serve
from shared.runtime.service import Service
from shared.store import Store

IN_HAND = 500
"""Completions that wait for their turn, at little cost: rounds wait only behind so many runs."""


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def build(settings: DiagnoserSettings, clock: Callable[[], datetime] = now) -> Service:
    """Return the diagnoser on the store its settings name; the clock dates what it makes."""
    store = Store.open(settings.store)
    plan = AnalysisPlan(alpha=settings.diagnoser_alpha, tolerance=settings.diagnoser_tolerance)
    diagnose = DiagnoseRun(store, now=clock, plan=plan)
    correct = CorrectByLabels(store, now=clock, plan=plan)
    complete = OnCompletion(store, diagnose, CloseRounds(store, now=clock), now=clock)
    channels = operator_channels(
        settings.diagnoser_channels_file,
        variable,
        private_hosts=settings.diagnoser_private_hosts,
        dashboard_url=settings.diagnoser_dashboard_url,
    )
    deliver = DeliverAlarms(store, channels, now=clock)
    alerts = ResendAlerts(store, channels, now=clock)
    channel_gauges = ChannelMetrics(store, channels, now=clock)
    lost = LostCorrections(store, correct, now=clock)
    gauges = MonitorMetrics(store)

    async def show(publisher: Publisher) -> None:
        await gauges.show(publisher, settings.diagnoser_gauge_s)

    async def show_channels(publisher: Publisher) -> None:
        await channel_gauges.show(publisher, settings.diagnoser_gauge_s)

    async def restore_corrections(publisher: Publisher) -> None:
        await lost.run(publisher, settings.diagnoser_reconcile_s)

    async def send_alarms(publisher: Publisher) -> None:
        await deliver.run(publisher, settings.diagnoser_delivery_s)

    async def send_standing(publisher: Publisher) -> None:
        await alerts.run(publisher, SEND_EVERY_S)

    stages: list[Stage[Any]] = [
        Stage(
            "diagnoser", Completion, CompletionsInTurn(complete, complete.is_round), slots=IN_HAND
        ),
        # One at a time: the last of two corrections of a run has to be that of more labels.
        Stage("diagnoser", Label, correct, slots=1, batch=MOST_AT_ONCE, linger_s=LINGER_S),
    ]
    jobs = [show, show_channels, restore_corrections, send_alarms, send_standing]
    return Service("diagnoser", settings, stages=stages, jobs=jobs, close=[store.close])


if __name__ == "__main__":
    sys.exit(serve(DiagnoserSettings, build))
