"""Selection rates: the share of a cell's values that meet a standard."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.binned import binned_mode
from biaswatch.shared.stats.groups.cells import Cells, Columns
from biaswatch.shared.stats.groups.reasons import Column, Floats, Reason, with_reasons

Method = Literal["larger", "smaller", "within-range", "within-percentage"]


@dataclass(frozen=True)
class SelectionStandard:
    """What values are compared with: a number taken from all rows of a feature, or a fixed one.

    Missing values are left out; a standard over all groups is the same for each of them.
    """

    kind: Literal["mean", "quantile", "mode", "fixed"]
    amount: float = 0.0
    """The quantile in [0, 1], the width of the mode's bins, or the fixed number itself."""

    def of(self, columns: Columns) -> Floats:
        """Return the standard of each feature, nan for a feature without values."""
        return columns.standard(self, self._measured)

    def _measured(self, cells: Cells) -> Floats:
        match self.kind:
            case "mean":
                return cells.mean
            case "quantile":
                return cells.quantile(self.amount)
            case "mode":
                return binned_mode(cells, self.amount)
            case "fixed":
                return np.full(len(cells.values), self.amount)


@dataclass(frozen=True)
class SelectionRate:
    """The share of values that meet a standard s, in [0, 1].

    larger: x >= s. smaller: x <= s. within-range-r: |x - s| <= r. within-percentage-p:
    |x - s| <= p |s|, so that a standard below 0 can be met as well.
    """

    name: str
    method: Method
    standard: SelectionStandard
    reach: float = 0.0
    """r or p of the two methods that have one, 0 or more."""

    def __call__(self, cells: Cells) -> Column:
        """Undefined without values."""
        if cells.columns is None:
            raise ValueError("a selection rate needs the whole columns, for its standard")
        standard = self.standard.of(cells.columns)[cells.feature]
        chosen = np.count_nonzero(self._meets(cells.values, standard[:, None]), axis=1)
        first_of = [(cells.count == 0, Reason.NO_VALUES), (np.isnan(standard), Reason.NO_STANDARD)]
        return with_reasons(chosen / np.maximum(cells.count, 1), first_of=first_of)

    def _meets(self, values: Floats, standard: Floats) -> NDArray[np.bool_]:
        """Return which values meet it; a comparison with nan is false, so the missing never do."""
        match self.method:
            case "larger":
                return values >= standard
            case "smaller":
                return values <= standard
            case "within-range":
                return np.asarray(np.abs(values - standard) <= self.reach)
            case "within-percentage":
                return np.asarray(np.abs(values - standard) <= self.reach * np.abs(standard))

    def selected(self, values: Floats) -> Floats:
        """Return 1 for each value that meets the standard, 0 for others, nan for missing ones."""
        finite = np.where(np.isfinite(values), values, np.nan)
        standard = self.standard.of(Columns(np.sort(finite, axis=0)))  # in any order of rows
        return np.where(np.isnan(finite), np.nan, self._meets(finite, standard[None, :]))
