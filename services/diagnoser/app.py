"""The diagnoser's composition root."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from biaswatch.services.diagnoser.domain.channels.alertmanager import SEND_EVERY_S
from biaswatch.services.diagnoser.handlers import (
    CloseRounds,
    CompletionsInTurn,
    DiagnoseRun,
    MonitorMetrics,
    OnCompletion,
)
from biaswatch.services.diagnoser.handlers.channels.channel_metrics import ChannelMetrics
from biaswatch.services.diagnoser.handlers.channels.declared import operator_channels
from biaswatch.services.diagnoser.handlers.channels.deliveries import DeliverAlarms
from biaswatch.services.diagnoser.handlers.channels.standing_alerts import ResendAlerts
from biaswatch.services.diagnoser.handlers.labels import (
    LINGER_S,
    MOST_AT_ONCE,
    CorrectByLabels,
    LostCorrections,
)
from biaswatch.services.diagnoser.settings import DiagnoserSettings, variable
from biaswatch.shared.analysis.findings import AnalysisPlan
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.contracts import Completion, Label
from biaswatch.shared.runtime.jobs import Job
from biaswatch.shared.runtime.process import serve
from biaswatch.shared.runtime.service import Service
from biaswatch.shared.store import Store

IN_HAND = 500
"""Completions that wait for their turn, at little cost: rounds wait only behind so many runs."""
LONGEST_DIAGNOSIS_S = 3600.0
"""What takes longer is stuck: the largest runs are diagnosed in minutes."""


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)


def build(settings: DiagnoserSettings, clock: Callable[[], datetime] = now) -> Service:
    """Return the diagnoser on the store its settings name; the clock dates what it makes."""
    store = Store.open(settings.store, statement_s=settings.store_statement_s)
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

    async def send_alarms(_: Publisher) -> None:
        await deliver.look()

    async def send_standing(_: Publisher) -> None:
        await alerts.look()

    stages: list[Stage[Any]] = [
        Stage(
            "diagnoser",
            Completion,
            CompletionsInTurn(complete, complete.is_round),
            slots=IN_HAND,
            stuck_after_s=LONGEST_DIAGNOSIS_S,
        ),
        # One at a time: the last of two corrections of a run has to be that of more labels.
        Stage("diagnoser", Label, correct, slots=1, batch=MOST_AT_ONCE, linger_s=LINGER_S),
    ]
    gauge_s, delivery_s = settings.diagnoser_gauge_s, settings.diagnoser_delivery_s
    jobs = [
        Job(gauges.show, "show monitors as metrics", every_s=gauge_s),
        Job(channel_gauges.show, "announce channels", every_s=gauge_s),
        Job(lost.look, "restore lost corrections", every_s=settings.diagnoser_reconcile_s),
        Job(send_alarms, "send alarms", every_s=delivery_s, close=deliver.close),
        Job(send_standing, "send standing alarms again", every_s=SEND_EVERY_S),
    ]
    return Service(
        "diagnoser",
        settings,
        stages=stages,
        jobs=jobs,
        probe_store=store.probe,
        close=[store.close],
    )


if __name__ == "__main__":
    sys.exit(serve(DiagnoserSettings, build))
