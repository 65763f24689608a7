"""Alarms as alerts of Alertmanager's API, version 2: firing while they stand, then resolved."""

from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any

from biaswatch.services.diagnoser.domain.channels.declarations import AlertmanagerChannel
from biaswatch.services.diagnoser.domain.channels.messages import in_numbers, link_of, plain
from biaswatch.shared.contracts import Alarm, AlarmKind, AlarmState, standing_of
from biaswatch.shared.formatting import isolated

ALERT = "BiasMonitorAlarm"
"""The name of the rule of Prometheus too: one route serves both ways."""
DEFAULT_TENANT = "default"
SEND_EVERY_S = 60.0
"""Alertmanager keeps nothing over a restart: what stands is sent again and again."""
MISSED_SENDS = 4
"""After how many missed sends an alert counts as over, as Prometheus has it."""
RESOLVED_FOR = timedelta(minutes=15)
"""How long it is said that an alarm is over, as Prometheus has it."""

Alert = dict[str, Any]


def alerts_of(
    history: Collection[Alarm],
    channel: AlertmanagerChannel,
    now: datetime,
    *,
    dashboard_url: str | None = None,
) -> list[Alert]:
    """Return the alerts of a monitor: each alarm that stands, and those that ended lately.

    Parameters
    ----------
    history
        All alarms of the monitor.
    """
    standing = standing_of(history)
    ends_at = now + timedelta(seconds=MISSED_SENDS * SEND_EVERY_S)
    alerts = [
        _alert(alarm, channel, (alarm.at, ends_at), dashboard_url) for alarm in standing.values()
    ]
    for ended in _ended_lately(history, now):
        if (ended.comparison_key, ended.what) not in standing:
            since = _raised_at(ended, history)
            alerts.append(_alert(ended, channel, (since, ended.at), dashboard_url))
    return alerts


def _ended_lately(history: Collection[Alarm], now: datetime) -> Iterator[Alarm]:
    """Return the last end of each alarm, where that was a short time ago."""
    last: dict[tuple[str, AlarmKind], Alarm] = {}
    for alarm in sorted(history, key=lambda each: each.at):
        if alarm.state is AlarmState.CLEARED:
            last[alarm.comparison_key, alarm.what] = alarm
    yield from (alarm for alarm in last.values() if now - alarm.at <= RESOLVED_FOR)


def _raised_at(ended: Alarm, history: Collection[Alarm]) -> datetime:
    """Return when an alarm that is over had been raised."""
    same = (ended.comparison_key, ended.what)
    raised = [
        alarm.at
        for alarm in history
        if alarm.state is AlarmState.RAISED
        and (alarm.comparison_key, alarm.what) == same
        and alarm.at <= ended.at
    ]
    return max(raised, default=ended.at)


def _alert(
    alarm: Alarm,
    channel: AlertmanagerChannel,
    during: tuple[datetime, datetime],
    dashboard_url: str | None,
) -> Alert:
    feature, _, comparison = alarm.comparison_key.partition(":")
    labels = {
        **channel.labels,
        "alertname": ALERT,
        "monitor": alarm.monitor,
        "feature": plain(feature),
        "comparison": plain(comparison),
        "what": alarm.what.value,
        "severity": channel.severity,
        "tenant": "" if alarm.tenant == DEFAULT_TENANT else alarm.tenant,
    }
    starts_at, ends_at = during
    alert = {
        "labels": {name: value for name, value in labels.items() if value},
        "annotations": _annotations(alarm),
        "startsAt": starts_at.isoformat(),
        "endsAt": ends_at.isoformat(),
    }
    link = link_of(alarm, dashboard_url)
    return {**alert, "generatorURL": link} if link else alert


def _annotations(alarm: Alarm) -> Mapping[str, str]:
    """Return what a person reads; of an alarm that stands the same at every send."""
    said = {
        "summary": f"{alarm.monitor}: {alarm.what} in {alarm.called}",
        "description": " ".join(filter(None, (alarm.words, f"{alarm.reason}."))),
        "gap": in_numbers(alarm.gap),
        "owners": ", ".join(alarm.owners),
        "command": f"biaswatch monitor alarms {alarm.monitor}",
    }
    return {name: isolated(plain(text)) for name, text in said.items() if text}
