"""A run is no longer wanted."""

from datetime import datetime

from pydantic import NonNegativeInt

from shared.contracts.identity import RecordId, Token
from shared.contracts.record import Record


class Cancellation(Record):
    """The early end of a run; its results stay, and it can be started again.

    It concerns probes made before it. Probes made later, because the run was started again, are
    asked.
    """

    kind = "cancellation"
    identity = ("run_id", "moment_ms")

    run_id: RecordId
    """The run that is to end."""
    moment_ms: NonNegativeInt
    """When it was requested (Unix time in milliseconds)."""
    reason: Token | None = None
    """Why, where no person requested it: `budget_spent`, `usage_unknown`, `no_price`."""

    def came_after(self, moment: datetime) -> bool:
        """Tell whether this was requested after a moment."""
        return self.moment_ms > int(moment.timestamp() * 1000)

    def ends(self, record: Record) -> bool:
        """Tell whether a record of the run was made before this, and so is cancelled."""
        return int(record.at.timestamp() * 1000) <= self.moment_ms
