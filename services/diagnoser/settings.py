"""Settings of the diagnoser."""

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class DiagnoserSettings(Settings):
    """Settings of the diagnoser, in addition to those of every service."""

    diagnoser_alpha: float = Field(default=0.05, gt=0, lt=1)
    """The level of a run's family of comparisons."""
    diagnoser_tolerance: float = Field(default=0.0, ge=0)
    """The largest difference that does not matter."""
    diagnoser_gauge_s: float = Field(default=15, gt=0)
    """Interval at which the metrics of monitors are read from the store."""
    diagnoser_reconcile_s: float = Field(default=30, gt=0)
    """Interval of the search for labels whose correction was lost."""
