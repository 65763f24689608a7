"""Coverage of the intervals of shrunken means, over shapes of groups and of their true means.

`python -m calibration.shrunken_means [STUDIES]` prints a line for each shape: the coverage on
average over groups, that of the worst group, and the width relative to raw intervals.
"""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.groups.group_means import shrunken_means

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
ALPHA = 0.05
STUDIES = 1000
FREEDOM = 10_000
"""Of the variance of a value: the shapes know it."""


@dataclass(frozen=True)
class CrossedShape:
    """Groups of one dimension, or of two crossed ones, with units of deviation 1."""

    rows: int
    columns: int
    """1 for a single dimension."""
    units: tuple[int, ...]
    """Units of each group, repeated over the groups."""
    ratio: float
    """Variance between true means about the fitted ones, relative to that of a mean by chance."""
    truth: str
    """`normal`, `t3`, or `one`: a single group differs."""

    @property
    def name(self) -> str:
        """The shape in words."""
        groups = f"{self.rows} x {self.columns}" if self.columns > 1 else f"{self.rows} groups"
        return f"{groups}, {self.units} units, ratio {self.ratio}, {self.truth}"

    @property
    def design(self) -> Floats:
        """[groups, columns]: additive effects."""
        if self.columns == 1:
            return np.ones((self.rows, 1))
        places = np.indices((self.rows, self.columns)).reshape(2, -1)
        effects = [
            place == level for place in places for level in range(1, int(place.max(initial=0)) + 1)
        ]
        return np.column_stack([np.ones(places.shape[1]), *effects]).astype(np.float64)


@dataclass(frozen=True)
class Coverage:
    """Shares of studies whose intervals cover the true means."""

    average: float
    worst: float
    """Of the group that is covered least often."""
    width: float
    """Relative to intervals of the means themselves."""


def shapes() -> Iterator[CrossedShape]:
    """Yield every shape."""
    for rows, columns in ((4, 1), (8, 1), (2, 4), (3, 4), (4, 5)):
        for units in ((20,), (5, 20, 80)):
            yield CrossedShape(rows, columns, units, 0.0, "normal")
            for ratio in (0.3, 1.0, 4.0):
                for truth in TRUTHS:
                    yield CrossedShape(rows, columns, units, ratio, truth)


def coverage(shape: CrossedShape, studies: int, rng: np.random.Generator) -> Coverage:
    """Return the coverage of a shape."""
    design = shape.design
    variances = 1 / np.resize(np.array(shape.units, dtype=np.float64), len(design))
    between = float(np.sqrt(shape.ratio * variances.mean()))
    covered, width = np.zeros((studies, len(design))), np.zeros(studies)
    raw = 1.96 * np.sqrt(variances)
    for study in range(studies):
        true = design.sum(axis=1) + between * TRUTHS[shape.truth](len(design), rng)
        means = rng.normal(true, np.sqrt(variances))
        shrunken = shrunken_means(means, variances, design)
        reach = shrunken.reach(ALPHA, FREEDOM)
        covered[study] = np.abs(shrunken.means - true) <= reach
        width[study] = (reach / raw).mean()
    by_group = covered.mean(axis=0)
    return Coverage(float(by_group.mean()), float(by_group.min()), float(width.mean()))


def _one(groups: int, _rng: np.random.Generator) -> Floats:
    effects: Floats = np.sqrt(groups) * (np.arange(groups) == 0)
    return effects


TRUTHS: dict[str, Callable[[int, np.random.Generator], Floats]] = {
    "normal": lambda groups, rng: rng.standard_normal(groups),
    "t3": lambda groups, rng: rng.standard_t(3, groups) / np.sqrt(3),
    "one": _one,
}


def main(studies: int) -> None:
    """Print the coverage of every shape."""
    rng = np.random.default_rng(1)
    for shape in shapes():
        result = coverage(shape, studies, rng)
        print(
            f"{result.average:.3f} {result.worst:.3f} {result.width:.2f}  {shape.name}", flush=True
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else STUDIES)
