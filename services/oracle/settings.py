"""Settings of the oracle."""

from pydantic import Field

from biaswatch.shared.runtime.settings import Settings


class OracleSettings(Settings):
    """Settings of the oracle, in addition to those of every service."""

    oracle_deadline_s: float = Field(default=24 * 3600, gt=0)
    """Time a pair waits for its judges; then the verdict uses the replies so far."""
    oracle_reconcile_s: float = Field(default=30, gt=0)
    """Time without replies before missing questions are published again."""
