"""Deliveries and log lines of alarms."""

from collections.abc import Iterable
from datetime import datetime

from biaswatch.shared.contracts import Alarm
from biaswatch.shared.contracts.alarm_delivery import deliveries_of
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import log


def record_deliveries(store: Store, alarms: Iterable[Alarm], now: datetime) -> None:
    """Record which channels get these alarms; known deliveries stay unchanged."""
    store.alarm_deliveries.expect(
        [delivery for alarm in alarms for delivery in deliveries_of(alarm, now)]
    )


def log_alarms(alarms: Iterable[Alarm]) -> None:
    """Write a line to the log for each alarm."""
    for alarm in alarms:
        log("diagnoser").warning(
            "alarm",
            monitor=alarm.monitor,
            comparison=alarm.comparison_key,
            what=alarm.what.value,
            state=alarm.state.value,
        )
