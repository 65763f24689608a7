"""The operator's channels: read from the file once, each with what it needs to send an alarm."""

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from biaswatch.services.diagnoser.domain.channels.alertmanager import alerts_of
from biaswatch.services.diagnoser.domain.channels.attempts import (
    Attempt,
    Delivered,
    Refused,
    Unavailable,
)
from biaswatch.services.diagnoser.domain.channels.declarations import (
    AlertmanagerChannel,
    AnyChannel,
    AppriseChannel,
    DeclaredChannels,
    MessageChannel,
    SecretReference,
    WebhookChannel,
)
from biaswatch.services.diagnoser.domain.channels.messages import message_of
from biaswatch.services.diagnoser.handlers.channels.apprise_channel import (
    EXTRA_MISSING,
    is_installed,
    send_by_apprise,
)
from biaswatch.services.diagnoser.handlers.channels.http_channels import (
    post_alerts,
    post_to_monitors_webhook,
    post_to_webhook,
)
from biaswatch.services.diagnoser.handlers.channels.secrets import NoSecretError, Secrets
from biaswatch.shared.contracts import Alarm, AlarmState
from biaswatch.shared.contracts.alarm import WEBHOOK, ChannelStatus
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.runtime.blocking import in_thread

VARIABLE = "BIASWATCH_DIAGNOSER_CHANNELS_FILE"


@dataclass(frozen=True)
class OperatorChannels:
    """Sends alarms to the channels of the operator's file, and to webhooks of monitors."""

    secrets: Secrets
    channels: dict[str, AnyChannel] = field(default_factory=dict)
    private_hosts: Collection[str] = ()
    """Hosts of monitors' webhooks that may have private addresses."""
    dashboard_url: str | None = None

    async def send(
        self, alarm: Alarm, name: str, history: Collection[Alarm], now: datetime
    ) -> Attempt:
        """Send an alarm to a channel; what goes wrong is returned, never raised.

        Parameters
        ----------
        history
            All alarms of the monitor.
        """
        if name == f"{WEBHOOK}/{alarm.monitor}":
            return await post_to_monitors_webhook(alarm, self.private_hosts, self.dashboard_url)
        channel = self.channels.get(name)
        if channel is None:
            return Refused(f"There is no channel {name} in the file that {VARIABLE} names.")
        over = alarm.state is AlarmState.CLEARED
        if over and isinstance(channel, MessageChannel) and not channel.cleared:
            return Delivered()
        try:
            return await self._by(channel, alarm, history, now)
        except NoSecretError as error:
            return Unavailable(str(error))

    async def _by(
        self, channel: AnyChannel, alarm: Alarm, history: Collection[Alarm], now: datetime
    ) -> Attempt:
        match channel:
            case AlertmanagerChannel():
                return await self.resend(channel, [history], now)
            case WebhookChannel():
                return await post_to_webhook(alarm, channel, self.secrets, self.dashboard_url)
            case AppriseChannel():
                url = self.secrets.read(channel.url)
                message = message_of(alarm, self.dashboard_url)
                return await in_thread(send_by_apprise, url, message)

    async def resend(
        self, channel: AlertmanagerChannel, histories: Collection[Collection[Alarm]], now: datetime
    ) -> Attempt:
        """Send Alertmanager all that stands of some monitors, and what ended lately."""
        alerts = [
            alert
            for history in histories
            for alert in alerts_of(history, channel, now, dashboard_url=self.dashboard_url)
        ]
        return await post_alerts(alerts, channel, self.secrets) if alerts else Delivered()

    def statuses(self, now: datetime) -> list[ChannelStatus]:
        """Return every channel, and what it lacks; it reads the secrets, so it blocks."""
        return [
            ChannelStatus(name=name, kind=each.kind, seen_at=now, trouble=self._trouble(each))
            for name, each in sorted(self.channels.items())
        ]

    def _trouble(self, channel: AnyChannel) -> str | None:
        if isinstance(channel, AppriseChannel) and not is_installed():
            return EXTRA_MISSING
        references = (getattr(channel, name) for name in type(channel).model_fields)
        try:
            for each in references:
                if isinstance(each, SecretReference):
                    self.secrets.read(each)
        except NoSecretError as error:
            return str(error)
        return None


def operator_channels(
    file: Path | None,
    variable: Callable[[str], str | None],
    *,
    private_hosts: Collection[str] = (),
    dashboard_url: str | None = None,
) -> OperatorChannels:
    """Return the channels of a file; none without a file.

    Raises
    ------
    ConfigurationError
        The file cannot be read, or something in it is wrong.
    """
    if file is None:
        return OperatorChannels(Secrets(Path(), variable), {}, private_hosts, dashboard_url)
    expected = "a file of channels is a mapping with `channels`"
    text = read_text(file, "file of channels", ConfigurationError)
    fields = yaml_mapping(text or "{}", file, expected, ConfigurationError)
    declared = checked(DeclaredChannels, fields, f"The file of channels {file}", ConfigurationError)
    secrets = Secrets(file.parent, variable)
    return OperatorChannels(secrets, declared.channels, private_hosts, dashboard_url)
