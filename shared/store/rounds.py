"""The closed rounds of a monitor, and what was written of each, without reading those before."""

from typing import TypeVar

from shared.contracts import Description, Monitor, Purpose, Round, derived_id
from shared.store.records import Records

K = TypeVar("K", Round, Description)


class Rounds:
    """Finds rounds by their number: they close in their order, from 0, and none is left out.

    So the number of those that are closed names the last, and a monitor that has run for years is
    looked at as quickly as one that began today.
    """

    def __init__(self, records: Records) -> None:
        self._records = records

    def closed(self, monitor: Monitor) -> int:
        """Count the rounds that have closed."""
        return self._records.count(Round, monitor_id=monitor.monitor_id)

    def get(self, monitor: Monitor, number: int) -> Round | None:
        """Return a round; None where it has not closed."""
        return next(self._records.get(Round, [_id_of(Round, monitor, number)]), None)

    def last(self, monitor: Monitor) -> Round | None:
        """Return the round that closed last; None before the first."""
        return self.get(monitor, self.closed(monitor) - 1)

    def latest(self, kind: type[K], monitor: Monitor, most: int) -> list[K]:
        """Return the last so many rounds, or what was written of them, in their order."""
        end = self.closed(monitor)
        ids = [_id_of(kind, monitor, number) for number in range(max(0, end - most), end)]
        return sorted(self._records.get(kind, ids), key=lambda each: each.round)


def _id_of(kind: type[K], monitor: Monitor, number: int) -> str:
    purpose = Purpose.MONITOR if monitor.plan.traffic is None else Purpose.PRODUCTION
    return derived_id(kind.kind, monitor.tenant, purpose, monitor.monitor_id, number)
