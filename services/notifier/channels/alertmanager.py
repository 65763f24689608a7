"""Alarms as alerts of Alertmanager's API, version 2: firing while they are open, then resolved."""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime, timedelta
from typing import Any, Literal, Self

from pydantic import Field, field_validator, model_validator

from biaswatch.services.notifier.channels import Channel, Notice
from biaswatch.services.notifier.domain.attempts import Attempt, Delivered
from biaswatch.services.notifier.posting import bearer, post_json
from biaswatch.services.notifier.secrets import SecretReference, Secrets
from biaswatch.shared.contracts import Alarm, AlarmState, open_alarms_of
from biaswatch.shared.contracts.identity import DEFAULT_TENANT
from biaswatch.shared.foreign_text import isolated
from biaswatch.shared.presentation.alarm_messages import estimate_words, link_of, plain

ALERT = "BiasMonitorAlarm"
"""The name of the rule of Prometheus too: one route serves both ways."""
RESEND_INTERVAL_S = 60.0
"""Alertmanager keeps nothing over a restart, so open alarms are sent again."""
MISSED_SENDS = 4
"""Missed sends after which an alert counts as over, as in Prometheus."""
RESOLVED_FOR = timedelta(minutes=15)
"""Time for which the end of an alarm is sent, as in Prometheus."""
ALERTS_PATH = "/api/v2/alerts"
LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
OWN_LABELS = frozenset(
    {"alertname", "monitor", "feature", "comparison", "what", "severity", "tenant"}
)

Alert = dict[str, Any]


class AlertmanagerChannel(Channel):
    """Prometheus's Alertmanager, which groups, silences and routes; it gets every end too."""

    kind: Literal["alertmanager"]
    """`alertmanager`."""
    url: str = Field(pattern=r"^https?://[^\s@?#]+$")
    """Its address, such as http://alertmanager:9093; without a password."""
    labels: dict[str, str] = Field(default_factory=dict)
    """Labels that every alert has, for Alertmanager's routes."""
    severity: str = "warning"
    """The label `severity`."""
    bearer_token: SecretReference | None = None
    """The token that it requires, if any."""
    username: str | None = None
    """The user that it requires, if any."""
    password: SecretReference | None = None
    """That user's password."""

    @field_validator("labels")
    @classmethod
    def _valid(cls, labels: dict[str, str]) -> dict[str, str]:
        if wrong := [name for name in labels if not LABEL.fullmatch(name)]:
            raise ValueError(f"{wrong[0]!r} is not a name of a label: letters, digits and _ alone")
        if own := sorted(OWN_LABELS & labels.keys()):
            raise ValueError(f"the label {own[0]} is set by the alarm itself")
        return labels

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.username is None) != (self.password is None):
            raise ValueError("username and password belong together")
        if self.username is not None and self.bearer_token is not None:
            raise ValueError("give a bearer_token or a username with its password, not both")
        return self

    async def send(self, notice: Notice, secrets: Secrets) -> Attempt:
        """Send the open and lately ended alarms of the monitor."""
        return await self.send_alerts([notice.history], secrets, notice.now, notice.dashboard_url)

    async def send_alerts(
        self,
        histories: Collection[Collection[Alarm]],
        secrets: Secrets,
        now: datetime,
        dashboard_url: str | None,
    ) -> Attempt:
        """Send the open and lately ended alarms of some monitors; repeats make no difference."""
        alerts = [
            alert
            for history in histories
            for alert in alerts_of(history, self, now, dashboard_url=dashboard_url)
        ]
        if not alerts:
            return Delivered()
        headers = bearer(secrets.read(self.bearer_token)) if self.bearer_token else {}
        auth = None
        if self.username is not None and self.password is not None:
            auth = (self.username, secrets.read(self.password))
        url = self.url.rstrip("/") + ALERTS_PATH
        return await post_json(url, json.dumps(alerts).encode(), headers, auth=auth)


CHANNEL = AlertmanagerChannel


def alerts_of(
    history: Collection[Alarm],
    channel: AlertmanagerChannel,
    now: datetime,
    *,
    dashboard_url: str | None = None,
) -> list[Alert]:
    """Return the alerts of a monitor: every open alarm, and those that ended lately.

    Parameters
    ----------
    history
        All alarms of the monitor.
    """
    open_alarms = open_alarms_of(history)
    ends_at = now + timedelta(seconds=MISSED_SENDS * RESEND_INTERVAL_S)
    alerts = [
        _alert(alarm, channel, (alarm.at, ends_at), dashboard_url) for alarm in open_alarms.values()
    ]
    for ended in _ended_lately(history, now):
        if (ended.comparison_key, ended.what) not in open_alarms:
            since = _raised_at(ended, history)
            alerts.append(_alert(ended, channel, (since, ended.at), dashboard_url))
    return alerts


def _ended_lately(history: Collection[Alarm], now: datetime) -> Iterator[Alarm]:
    """Yield the last end of each alarm that ended lately."""
    last = {
        (alarm.comparison_key, alarm.what): alarm
        for alarm in sorted(history, key=lambda alarm: alarm.at)
        if alarm.state is AlarmState.CLEARED
    }
    yield from (alarm for alarm in last.values() if now - alarm.at <= RESOLVED_FOR)


def _raised_at(ended: Alarm, history: Collection[Alarm]) -> datetime:
    """Return the moment at which an ended alarm was raised."""
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
    """Return the texts for people: the same at every send while an alarm is open."""
    texts = {
        "summary": f"{alarm.monitor}: {alarm.what} in {alarm.called}",
        "description": " ".join(filter(None, (alarm.words, f"{alarm.reason}."))),
        "gap": estimate_words(alarm.gap),
        "owners": ", ".join(alarm.owners),
        "command": f"biaswatch monitor show {alarm.monitor} --alarms",
    }
    return {name: isolated(plain(text)) for name, text in texts.items() if text}
