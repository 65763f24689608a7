"""The clock of this machine, for composition roots; everything else gets it as an argument."""

from datetime import UTC, datetime


def now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)
