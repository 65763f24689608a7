"""Settings of the diagnoser, and the variables to which its file of channels may refer."""

import os
from pathlib import Path

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class DiagnoserSettings(Settings):
    """What can be set on the diagnoser, beyond what every service has."""

    diagnoser_alpha: float = Field(default=0.05, gt=0, lt=1)
    """The level of a run's family of comparisons."""
    diagnoser_tolerance: float = Field(default=0.0, ge=0)
    """The largest difference that does not matter."""
    diagnoser_channels_file: Path | None = None
    """YAML: the channels by which alarms are sent, by the names that monitors refer to."""
    diagnoser_private_hosts: tuple[str, ...] = ()
    """Hosts of webhooks in monitors' files that may have private addresses, as JSON."""
    diagnoser_dashboard_url: str | None = Field(default=None, pattern=r"^https?://[^\s@]+$")
    """Where people reach the gateway, so that an alarm that is posted leads to its evidence."""
    diagnoser_delivery_s: float = Field(default=1, gt=0)
    """How often to look for alarms that are to be sent."""
    diagnoser_gauge_s: float = Field(default=15, gt=0)
    """How often the metrics of monitors are read anew from the store."""
    diagnoser_reconcile_s: float = Field(default=30, gt=0)
    """How often to look for labels that no correction holds, because a message was lost."""


def variable(name: str) -> str | None:
    """Return a variable of the environment that a file of the operator refers to."""
    return os.environ.get(name)  # noqa: TID251 - a setting, by a name the operator has chosen
