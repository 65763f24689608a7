"""What the gateway takes and gives, beyond the records themselves."""

from services.gateway.domain.runs import (
    ENDED,
    Progress,
    RunRequest,
    Stand,
    Started,
    compares,
    run_of,
    stand_of,
)

__all__ = [
    "ENDED",
    "Progress",
    "RunRequest",
    "Stand",
    "Started",
    "compares",
    "run_of",
    "stand_of",
]
