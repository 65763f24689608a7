"""How many answers the sets of a plan have, and what missing ones leave open or leave out."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import binom

CELLS = 64
"""In which a missing answer's part of the range is counted."""
RAREST = 1e-6
"""Share of sets below which a pattern is left out of a plan."""


@dataclass(frozen=True)
class SetShape:
    """Sets of so many answers of the first group, and of the second."""

    first: int = 1
    second: int = 1
    share: float = 1.0
    """Of all sets; those of all shapes sum to 1."""


ONE_AND_ONE = (SetShape(),)


@dataclass(frozen=True)
class MissingAnswers:
    """A share of all answers that will be missing, whichever these are."""

    share: float = 0.0
    shapes: Sequence[SetShape] = ONE_AND_ONE

    def __post_init__(self) -> None:
        """Refuse what is no share."""
        if not 0 <= self.share < 1:
            raise ValueError(f"the share of missing answers lies in [0, 1), not at {self.share:g}")

    @property
    def complete_sets(self) -> float:
        """Return the share of sets of which nothing is missing."""
        kept = 1 - self.share
        return sum(each.share * kept ** (each.first + each.second) for each in self.shapes)

    @property
    def complete_sides(self) -> float:
        """Return the same of single sides of sets."""
        kept = 1 - self.share
        return sum(each.share * (kept**each.first + kept**each.second) for each in self.shapes) / 2

    def open_parts(self) -> dict[float, float]:
        """Return how often each part of a set's gap is open, from 0 to 2 ranges.

        A part is what the first side lacks of its answers, and the second of its own, together.
        """
        found: dict[int, float] = defaultdict(float)
        for shape in self.shapes:
            sides = [np.arange(n + 1) for n in (shape.first, shape.second)]
            parts = np.add.outer(sides[0] / shape.first, sides[1] / shape.second)
            shares = [
                binom.pmf(lacking, n, self.share)
                for lacking, n in zip(sides, (shape.first, shape.second), strict=True)
            ]
            cells = np.ceil(parts * CELLS - 1e-9).astype(int).ravel().tolist()
            for cell, share in zip(cells, np.outer(*shares).ravel().tolist(), strict=True):
                found[cell] += shape.share * share
        likely = {cell: share for cell, share in found.items() if share >= RAREST}
        total = sum(likely.values())
        return {cell / CELLS: share / total for cell, share in sorted(likely.items())}
