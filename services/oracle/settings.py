"""The oracle's settings."""

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class OracleSettings(Settings):
    """What can be set on the oracle, beyond what every service has."""

    oracle_deadline_s: float = Field(default=24 * 3600, gt=0)
    """How long a pair waits for its judges; then the verdict is what is there."""
    oracle_reconcile_s: float = Field(default=30, gt=0)
    """How long nothing may arrive before what is missing is asked again."""
