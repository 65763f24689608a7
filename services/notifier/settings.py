"""Settings of the notifier, and the variables that its file of channels may refer to."""

import os
from pathlib import Path

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class NotifierSettings(Settings):
    """Settings of the notifier, in addition to those of every service."""

    notifier_channels_file: Path | None = None
    """YAML file of the channels that alarms are sent by, under the names that monitors use."""
    notifier_private_hosts: tuple[str, ...] = ()
    """Hosts of webhooks in monitors' files that may have private addresses, as JSON."""
    notifier_dashboard_url: str | None = Field(default=None, pattern=r"^https?://[^\s@]+$")
    """The gateway's address for people: alarms that are sent then link to their evidence."""
    notifier_delivery_s: float = Field(default=1, gt=0)
    """Interval between looks for due deliveries: retries, trials, and alarms the bus lost."""
    notifier_gauge_s: float = Field(default=15, gt=0)
    """Interval between announcements of the channels and their metrics."""


def variable(name: str) -> str | None:
    """Return a variable of the environment that the operator's file refers to."""
    return os.environ.get(name)  # noqa: TID251 - a setting, by a name the operator has chosen
