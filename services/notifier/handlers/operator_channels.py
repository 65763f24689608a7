"""The operator's channels: their file, their announcement in the store, and deliveries to them."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated, Any, Union

from pydantic import Field, create_model

from biaswatch.services.notifier.channels import CHANNELS, Channel, Notice
from biaswatch.services.notifier.channels.webhook import post_to_monitors_webhook
from biaswatch.services.notifier.domain.attempts import Attempt, Delivered, Refused, Unavailable
from biaswatch.services.notifier.secrets import Declared, NoSecretError, Secrets
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Alarm, AlarmState, Token
from biaswatch.shared.contracts.alarm_delivery import WEBHOOK, ChannelStatus
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.files import checked, read_text, yaml_mapping
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import ALARM_DELIVERY_STATES, log

VARIABLE = "BIASWATCH_NOTIFIER_CHANNELS_FILE"


class ChannelsFile(Declared):
    """The whole file."""

    channels: Mapping[Token, Channel]
    """The channels by name."""


_AnyChannel: Any = Annotated[Union[tuple(CHANNELS.values())], Field(discriminator="kind")]  # noqa: UP007
CHANNELS_FILE: type[ChannelsFile] = create_model(
    "ChannelsFile", __base__=ChannelsFile, channels=(dict[Token, _AnyChannel], Field(min_length=1))
)
"""The file with every kind of channel that there is a module for."""


@dataclass(frozen=True)
class OperatorChannels:
    """Sends alarms to the channels of the operator's file, and to webhooks of monitors."""

    secrets: Secrets
    channels: Mapping[str, Channel] = field(default_factory=dict)
    private_hosts: Collection[str] = ()
    """Hosts of monitors' webhooks that may have private addresses."""
    dashboard_url: str | None = None

    async def send(
        self, alarm: Alarm, name: str, history: Collection[Alarm], now: datetime
    ) -> Attempt:
        """Send an alarm to a channel; a failure is returned, never raised.

        Parameters
        ----------
        history
            All alarms of the monitor.
        """
        if name == f"{WEBHOOK}/{alarm.monitor}":
            return await post_to_monitors_webhook(alarm, self.private_hosts, self.dashboard_url)
        channel = self.channels.get(name)
        if channel is None:
            return Refused(f"The file that {VARIABLE} names has no channel {name}.")
        if alarm.state is AlarmState.CLEARED and not channel.sends_cleared:
            return Delivered()
        try:
            return await channel.send(Notice(alarm, history, now, self.dashboard_url), self.secrets)
        except NoSecretError as error:
            return Unavailable(str(error))

    def statuses(self, now: datetime) -> list[ChannelStatus]:
        """Return every channel with its fault, if any; it reads the secrets, so it blocks."""
        return [
            ChannelStatus(name=name, kind=channel.kind, seen_at=now, trouble=self._trouble(channel))
            for name, channel in sorted(self.channels.items())
        ]

    def _trouble(self, channel: Channel) -> str | None:
        try:
            for reference in channel.secret_references():
                self.secrets.read(reference)
        except NoSecretError as error:
            return channel.not_installed() or str(error)
        return channel.not_installed()


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
    declared = checked(CHANNELS_FILE, fields, f"The file of channels {file}", ConfigurationError)
    secrets = Secrets(file.parent, variable)
    return OperatorChannels(secrets, declared.channels, private_hosts, dashboard_url)


SHOWN_FOR = timedelta(days=1)


class AnnounceChannels:
    """Announces channels; metrics are read from the store, so every replica shows the same."""

    def __init__(
        self, store: Store, channels: OperatorChannels, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._channels = channels
        self._now = now
        self._shown: set[tuple[str, str]] = set()
        self._troubles: dict[str, str | None] = {}

    async def show(self, _: Publisher) -> None:
        """Announce the channels and count their deliveries."""
        await in_thread(self.run_once)

    def run_once(self) -> None:
        """Announce the channels, and set every gauge; it blocks."""
        now = self._now()
        statuses = self._channels.statuses(now)
        self._store.channels.announce(statuses)
        for status in statuses:
            if status.trouble and self._troubles.get(status.name) != status.trouble:
                log("notifier").warning(
                    "a channel cannot be used", channel=status.name, why=status.trouble
                )
        self._troubles = {status.name: status.trouble for status in statuses}
        counts = self._store.alarm_deliveries.counts(now - SHOWN_FOR)
        shown = {(channel, state.value): n for (channel, state), n in counts.items()}
        for labels in self._shown - shown.keys():
            ALARM_DELIVERY_STATES.remove(*labels)
        for labels, n in shown.items():
            ALARM_DELIVERY_STATES.labels(*labels).set(n)
        self._shown = set(shown)
