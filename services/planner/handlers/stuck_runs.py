"""Which runs get nothing any more: they are gone through again, the same one ever more rarely."""

from collections.abc import Mapping
from dataclasses import dataclass

MOST_LOOKS = 16
"""Between two passes through a run for which nothing arrives."""


@dataclass(frozen=True)
class _Look:
    arrived: int
    unchanged: int
    """At how many looks in a row nothing had arrived."""


class StuckRuns:
    """Compares looks at open runs.

    Answers may also be slow: a run is gone through at once, then after 1, 2, 4, 8 and 16 more looks
    without any arrival, and after each 16 from then on.
    """

    def __init__(self) -> None:
        self._looks: dict[str, _Look] = {}

    def among(self, arrived: Mapping[str, int]) -> list[str]:
        """Return the runs to go through now, of those that are open, by how much has arrived."""
        before, self._looks = self._looks, {}
        for run_id, count in arrived.items():
            last = before.get(run_id)
            unchanged = last.unchanged + 1 if last and last.arrived == count else 0
            self._looks[run_id] = _Look(count, unchanged)
        return [run_id for run_id, look in self._looks.items() if _is_due(look.unchanged)]


def _is_due(unchanged: int) -> bool:
    power_of_two = unchanged & (unchanged - 1) == 0
    return unchanged > 0 and (power_of_two or unchanged % MOST_LOOKS == 0)
