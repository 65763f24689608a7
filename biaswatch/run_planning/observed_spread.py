"""How the answers of a run were spread, so that a plan need not assume it."""

from dataclasses import dataclass
from math import sqrt

import numpy as np

from biaswatch.shared.analysis.findings.observations import Floats, Observations, Whole, coded
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

LEAST_CELL = 2
USUAL_SHARE = 0.5
"""Of the deviation within a prompt: that between prompts, where no repeat tells them apart."""
NEVER_ALIKE = 0.99
"""Of the most that prompts can differ: a plan needs answers that vary a little."""


@dataclass(frozen=True)
class ObservedSpread:
    """What a run says of one feature."""

    feature: str
    mean: float
    """Over prompts, of all groups."""
    sd: float | None
    """Of answers to one prompt; None where all are 0 or 1."""
    between_sd: float
    set_correlation: float | None
    """Of the means of twins; None where no set has two groups."""
    missing: float
    bounds: Bounds | None
    repeats: int
    """Answers to a prompt, the median over prompts."""
    repeated: bool
    """Whether any prompt has two answers with a value, which tell both deviations apart."""


def observed_spread(observed: Observations, dimension: str) -> ObservedSpread:
    """Return how the first feature of a run was spread within the groups of a dimension.

    The deviation within prompts is pooled over prompts, that between prompts over groups of a
    domain, less what repeats explain. Without repeats the whole deviation is divided as a plan
    assumes it: that between prompts is half of that within.

    Raises
    ------
    UsageError
        The run has too few values to say anything.
    """
    feature, values = observed.features[0], observed.values[:, 0]
    there = np.isfinite(values)
    cells = _cells(observed, dimension)
    groups = np.flatnonzero(there & (cells >= 0))
    prompts = _Prompts.of(values[groups], cells[groups], observed.unit_codes[groups])
    if prompts.freedom_between < 1:
        raise UsageError(
            f"{feature} has no group of {dimension} with two answered prompts: the run does not say"
            " how answers are spread. Give --sd or --rate instead of --like."
        )
    bounds = observed.bounds(0)
    known = bounds[0] if len(set(bounds)) == 1 else None
    binary = bool(np.isin(values[there], (0.0, 1.0)).all())
    within, between = prompts.variances(binary=binary)
    mean = float(prompts.means.mean())
    if binary:
        between = min(between, NEVER_ALIKE * mean * (1 - mean))
    asked = np.column_stack([cells, observed.unit_codes])[cells >= 0]
    counts = np.unique(asked, axis=0, return_counts=True)[1]
    return ObservedSpread(
        feature,
        mean,
        None if binary else sqrt(within),
        sqrt(between),
        _correlation(prompts, observed.set_codes[groups], between),
        float(1 - there.mean()),
        (0.0, 1.0) if binary else known,
        int(np.median(counts)),
        prompts.freedom_within > 0,
    )


@dataclass(frozen=True)
class _Prompts:
    means: Floats
    cells: Whole
    """The group of each prompt, in its domain."""
    first: Whole
    """A row of each prompt."""
    answers: Whole
    within: float
    """The sum of squares within prompts."""

    @classmethod
    def of(cls, values: Floats, cells: Whole, units: Whole) -> "_Prompts":
        keys = cells * (units.max(initial=0) + 1) + units
        _, first, of_row, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        means = np.bincount(of_row, weights=values) / np.maximum(counts, 1)
        squares = float(((values - means[of_row]) ** 2).sum())
        return cls(means, cells[first], first, counts, squares)

    @property
    def freedom_within(self) -> int:
        return int((self.answers - 1).sum())

    @property
    def freedom_between(self) -> int:
        return len(self.means) - len(np.unique(self.cells))

    @property
    def centred(self) -> Floats:
        """Each prompt's mean less that of its group."""
        _, of_cell, sizes = np.unique(self.cells, return_inverse=True, return_counts=True)
        return np.asarray(self.means - (np.bincount(of_cell, self.means) / sizes)[of_cell])

    def variances(self, *, binary: bool) -> tuple[float, float]:
        """Return those within and between prompts."""
        total = float((self.centred**2).sum()) / self.freedom_between
        if not self.freedom_within:
            if binary:
                return 0.0, 0.01
            return total / (1 + USUAL_SHARE**2), total / (1 + USUAL_SHARE**-2)
        within = self.within / self.freedom_within
        return within, max(0.0, total - within * float((1 / self.answers).mean()))


def _correlation(prompts: _Prompts, sets: Whole, between: float) -> float | None:
    """Return the correlation of twins' means, from products within the sets of several groups."""
    of_set, centred = sets[prompts.first], prompts.centred
    products, pairs = 0.0, 0
    for one in np.unique(of_set[of_set >= 0]):
        mine = of_set == one
        cells, values = prompts.cells[mine], centred[mine]
        apart = cells[:, None] != cells[None, :]
        products += float((np.outer(values, values) * apart).sum())
        pairs += int(apart.sum())
    if not pairs:
        return None
    covariance = products / pairs
    return min(1.0, max(0.0, covariance / between)) if between else 1.0


def _cells(observed: Observations, dimension: str) -> Whole:
    groups, names = coded(observed.groups[dimension])
    domains, _ = coded(observed.domains or [""] * observed.rows)
    return np.where(groups >= 0, domains * len(names) + groups, -1)
