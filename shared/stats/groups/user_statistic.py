"""A statistic by a function that a user supplies."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.groups.cells import Cells, Column, Reason, with_reasons


@dataclass(frozen=True)
class FunctionStatistic:
    """A function of the values of one cell: an array of finite numbers to one number.

    Examples
    --------
    >>> import numpy as np
    >>> FunctionStatistic("span", np.ptp).of(np.array([1.0, 4.0, np.nan]))
    3.0
    """

    name: str
    function: Callable[[Floats], Any]

    def __call__(self, cells: Cells) -> Column:
        """Undefined without values, and where the function returns no finite number."""
        values = np.array([self.of(row) for row in cells.values], dtype=float)
        return with_reasons(values, first_of=[(cells.count == 0, Reason.NO_VALUES)])

    def of(self, values: Floats) -> float:
        """Return the function of the finite values; nan without any.

        Raises
        ------
        ValueError
            The function fails, or does not return a number.
        """
        finite = values[np.isfinite(values)]
        if not len(finite):
            return float("nan")
        try:
            return float(self.function(finite))
        except Exception as error:  # noqa: BLE001 - a function of a user may raise anything
            why = f"{type(error).__name__}: {error}"
            raise ValueError(f"the statistic {self.name!r} failed: {why}") from None
