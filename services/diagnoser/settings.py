"""Settings of the diagnoser."""

from pydantic import Field

from shared.runtime.settings import Settings


class DiagnoserSettings(Settings):
    """What can be set on the diagnoser, beyond what every service has."""

    diagnoser_alpha: float = Field(default=0.05, gt=0, lt=1)
    """The level of a run's family of comparisons."""
    diagnoser_tolerance: float = Field(default=0.0, ge=0)
    """The largest difference that does not matter."""
    diagnoser_private_hosts: tuple[str, ...] = ()
    """Hosts of webhooks that may have private addresses, as JSON."""
    diagnoser_dashboard_url: str | None = Field(default=None, pattern=r"^https?://[^\s@]+$")
    """Where people reach the gateway, so that an alarm that is posted leads to its evidence."""
    diagnoser_reconcile_s: float = Field(default=30, gt=0)
    """How often to look for alarms that were not posted because the bus has lost them."""
    diagnoser_gauge_s: float = Field(default=15, gt=0)
    """How often the metrics of monitors are read anew from the store."""
