"""Channels that alarms are sent by: one file for each kind, found by its name.

A new kind is one file here with a subclass of `Channel`, named `CHANNEL`: its fields in the
operator's file, and how it sends.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pkgutil import iter_modules

from biaswatch.services.notifier.domain.attempts import Attempt
from biaswatch.services.notifier.secrets import Declared, SecretReference, Secrets
from biaswatch.shared.contracts import Alarm


@dataclass(frozen=True)
class Notice:
    """An alarm to send, with the facts that its messages need."""

    alarm: Alarm
    history: Collection[Alarm]
    """All alarms of the monitor."""
    now: datetime
    dashboard_url: str | None


class Channel(Declared):
    """A channel of the operator's file."""

    kind: str
    """The name of its kind."""

    async def send(self, notice: Notice, secrets: Secrets) -> Attempt:
        """Send an alarm; failures are returned, except NoSecretError."""
        raise NotImplementedError

    @property
    def sends_cleared(self) -> bool:
        """True if the end of an alarm is sent too."""
        return True

    def not_installed(self) -> str | None:
        """Return what has to be installed for this channel, if anything."""
        return None

    def secret_references(self) -> list[SecretReference]:
        """Return the references to all of its secrets."""
        values = (getattr(self, name) for name in type(self).model_fields)
        return [value for value in values if isinstance(value, SecretReference)]


class MessageChannel(Channel):
    """A channel that takes one message for each alarm."""

    cleared: bool = True
    """True if the end of an alarm is sent too."""

    @property
    def sends_cleared(self) -> bool:
        """True if the end of an alarm is sent too."""
        return self.cleared


CHANNELS: Mapping[str, type[Channel]] = {
    module.name: import_module(f"{__name__}.{module.name}").CHANNEL
    for module in iter_modules(__path__)
    if not module.name.startswith("_")
}
"""By kind, which is the name of the file."""
