"""A table of measurements: rows, features, the group of each row, and perhaps a baseline."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.stats.groups.reasons import Floats


@dataclass(frozen=True)
class Table:
    """Measurements of responses; nan and infinities are missing values.

    Raises
    ------
    ValueError
        Where shapes disagree, names repeat, or a code names no group.
    """

    values: Floats
    """[rows, features]"""
    codes: NDArray[np.intp]
    """[rows]: each row's group, an index into `groups`."""
    groups: tuple[str, ...]
    features: tuple[str, ...]
    baseline: Floats | None = None
    """[rows, features]: the baseline's value in the same row."""
    baseline_name: str = "baseline"

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", np.asarray(self.values, dtype=np.float64))
        if self.baseline is not None:
            object.__setattr__(self, "baseline", np.asarray(self.baseline, dtype=np.float64))
        if self.values.shape != (len(self.codes), len(self.features)):
            raise ValueError(
                f"the values have shape {self.values.shape}, but there are {len(self.codes)} codes"
                f" and {len(self.features)} features"
            )
        if self.baseline is not None and self.baseline.shape != self.values.shape:
            raise ValueError(
                f"the baseline has shape {self.baseline.shape}, the values {self.values.shape}"
            )
        if not np.issubdtype(self.codes.dtype, np.integer):
            raise ValueError(f"group codes are whole numbers, not {self.codes.dtype}")
        if len(self.codes) and not 0 <= self.codes.min() <= self.codes.max() < len(self.groups):
            raise ValueError(f"a group code is not one of 0 to {len(self.groups) - 1}")
        for what, names in (("group", self.groups), ("feature", self.features)):
            if len(set(names)) < len(names):
                raise ValueError(f"a {what} is named twice")
