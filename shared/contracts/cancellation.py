"""A run is no longer wanted."""

from datetime import datetime
from typing import Annotated

from pydantic import NonNegativeInt

from biaswatch.shared.contracts.identity import RecordId, Token
from biaswatch.shared.contracts.record import TEXT, Record


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
    """Why, where no person requested it: `budget_spent`, `usage_unknown`, `no_price`,
    `provider_errors`."""
    detail: Annotated[str | None, TEXT] = None
    """The provider's words, if they are the reason."""

    def came_after(self, moment: datetime) -> bool:
        """Tell whether this was requested after a moment."""
        return self.moment_ms > int(moment.timestamp() * 1000)

    def ends(self, record: Record) -> bool:
        """Tell whether a record of the run was made before this, and so is cancelled."""
        return int(record.at.timestamp() * 1000) <= self.moment_ms
