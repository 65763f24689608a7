"""Somebody does not want a run any more."""

from typing import ClassVar

from pydantic import NonNegativeInt

from shared.contracts.identity import RecordId, Token
from shared.contracts.record import Record


class Cancellation(Record):
    """The end of a run before its time; what is there is kept, and the run can be taken up again.

    It ends what was asked for before it. Probes made later, because the run was started again, are
    asked.
    """

    kind: ClassVar[str] = "cancellation"
    identity: ClassVar[tuple[str, ...]] = ("run_id", "moment_ms")

    run_id: RecordId
    """The run that is to end."""
    moment_ms: NonNegativeInt
    """When that was asked for (Unix time in milliseconds)."""
    reason: Token | None = None
    """Why, where it was not a person's wish: `budget_spent`, `usage_unknown`, `no_price`."""

    def ends(self, record: Record) -> bool:
        """Tell whether a record of the run was made before this, and is not wanted any more."""
        return int(record.at.timestamp() * 1000) <= self.moment_ms
