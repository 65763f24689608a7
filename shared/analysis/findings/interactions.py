"""Interactions of two dimensions: tests that their effects add up in the crossed groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from biaswatch.shared.analysis.findings.group_disparities import (
    GroupedTable,
    additive_design,
    unit_rows,
)
from biaswatch.shared.analysis.findings.group_statistics import SHARES
from biaswatch.shared.analysis.findings.groupings import Grouping
from biaswatch.shared.analysis.findings.observations import Observations, Whole
from biaswatch.shared.stats.arrays import Floats, Indices
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.groups.group_means import GroupMeans, group_means
from biaswatch.shared.stats.groups.interactions import InteractionTest, interaction_test

DIFFERENCE, LOG_ODDS = "difference", "log odds"
FLIPS = "sign flips of the difference of gaps, over sets"
SIGNS = (1.0, -1.0, -1.0, 1.0)
"""Signs of the means of a tetrad, in the difference of its gaps."""
CELLS = len(SIGNS)
LevelPair = tuple[str, ...]


@dataclass(frozen=True)
class Interaction:
    """The test that the effects of two dimensions on a feature add up."""

    feature: str
    dimensions: tuple[str, ...]
    domain: str
    scale: str
    """`difference` or, for shares, `log odds` too."""
    test: InteractionTest
    contrast_of: str | None
    """The two gaps of `contrast`: `black - white at old less that at new`; None without any."""
    p_adjusted: float | None = None
    """Corrected (Bonferroni) for all tests of the same scale."""

    @property
    def contrast(self) -> Estimate:
        """The largest difference of two gaps."""
        return self.test.contrast


def interactions(
    observations: Observations, crossings: Sequence[Grouping], alpha: float
) -> list[Interaction]:
    """Return the tests of every crossing of two dimensions, by feature and domain."""
    tests = [
        test
        for crossing in crossings
        if len(crossing.dimensions) == 2
        for test in _of_crossing(observations, crossing, alpha)
    ]
    family = {
        scale: sum(test.scale == scale and test.test.p_value is not None for test in tests)
        for scale in (DIFFERENCE, LOG_ODDS)
    }
    return [_corrected(test, family[test.scale]) for test in tests]


def _corrected(interaction: Interaction, family: int) -> Interaction:
    p_value = interaction.test.p_value
    adjusted = None if p_value is None else min(1.0, p_value * family)
    return replace(interaction, p_adjusted=adjusted)


def _of_crossing(
    observations: Observations, crossing: Grouping, alpha: float
) -> Iterator[Interaction]:
    table, sets = unit_rows(GroupedTable.of(observations, crossing))
    for domain, name in enumerate(crossing.domains):
        cells = np.flatnonzero(crossing.domain_of == domain)
        design = additive_design(crossing, cells)
        if design is None:
            continue
        for index, feature in enumerate(observations.features):
            values = table.values[:, index]
            own = np.isin(table.codes, cells) & np.isfinite(values)
            if own.any():
                codes = np.searchsorted(cells, table.codes[own])
                of_cells = [crossing.groups[cell].levels for cell in cells]
                levels = [
                    tuple(by_dimension[name] for name in crossing.dimensions)
                    for by_dimension in of_cells
                ]
                crossed = CrossedValues.of(values[own], codes, sets[own], design, levels)
                shares = observations.bounds(index)[domain] == SHARES
                for scale, test in crossed.tests(alpha, shares=shares):
                    gaps = None if test.tetrad is None else crossed.tetrads[test.tetrad].words
                    yield Interaction(feature, crossing.dimensions, name, scale, test, gaps)


@dataclass(frozen=True)
class Tetrad:
    """Four combinations of groups: two levels of one dimension at two of the other."""

    cells: tuple[int, int, int, int]
    words: str
    """The difference of their gaps: `black - white at old less that at new`."""


def tetrads_of(levels: Sequence[LevelPair]) -> Iterator[Tetrad]:
    """Yield the tetrads of combinations of groups that all occur, given their two levels."""
    place = {pair: number for number, pair in enumerate(levels)}
    first, second = (sorted({pair[side] for pair in levels}) for side in (0, 1))
    for (a, b), (c, d) in product(combinations(first, 2), combinations(second, 2)):
        corners = [(a, c), (b, c), (a, d), (b, d)]
        if all(corner in place for corner in corners):
            one, two, three, four = (place[corner] for corner in corners)
            yield Tetrad((one, two, three, four), f"{a} - {b} at {c} less that at {d}")


@dataclass(frozen=True)
class CrossedValues:
    """The values of one feature in crossed groups: a row for each prompt of a group."""

    values: Floats
    codes: Whole
    """[rows]: combinations of groups, those without a value left out."""
    sets: Whole
    """[rows]: -1 for none."""
    design: Floats
    """[combinations, columns]: additive effects."""
    tetrads: list[Tetrad]
    """Differences of gaps of any two levels of one dimension at any two of the other."""

    @classmethod
    def of(
        cls, values: Floats, codes: Whole, sets: Whole, design: Floats, levels: Sequence[LevelPair]
    ) -> "CrossedValues":
        """Leave out the combinations without a value."""
        occurs = np.bincount(codes, minlength=len(design)) > 0
        kept = [pair for pair, has_value in zip(levels, occurs.tolist(), strict=True) if has_value]
        codes = (np.cumsum(occurs) - 1)[codes]
        return cls(values, codes, sets, design[occurs], list(tetrads_of(kept)))

    def tests(self, alpha: float, *, shares: bool) -> Iterator[tuple[str, InteractionTest]]:
        """Yield the test on differences, and for shares on log odds too."""
        with np.errstate(over="ignore", invalid="ignore"):
            means = group_means(self.values, self.codes, self.sets, len(self.design))
        yield DIFFERENCE, self._by_flips(self._test(means, alpha, log_odds=False))
        if shares:
            yield LOG_ODDS, self._test(means, alpha, log_odds=True)

    def _test(self, means: GroupMeans, alpha: float, *, log_odds: bool) -> InteractionTest:
        shared = bool((means.shared & ~np.eye(len(self.design), dtype=np.bool_)).any())
        return interaction_test(
            means.means, means.covariance, self._clusters(), self.design, self._signs(),
            shared=shared, alpha=alpha, log_odds=log_odds,
        )  # fmt: skip

    def _signs(self) -> Floats:
        """Return [tetrads, combinations]: the sign of each mean in a difference of gaps."""
        signs = np.zeros((len(self.tetrads), len(self.design)))
        for row, tetrad in zip(signs, self.tetrads, strict=True):
            row[list(tetrad.cells)] = SIGNS
        return signs

    def _clusters(self) -> Indices:
        """Return [combinations]: the sets of each; a row without a set is one by itself."""
        clusters = np.where(self.sets < 0, -1 - np.arange(len(self.sets)), self.sets)
        pairs = np.unique(clusters * len(self.design) + self.codes)
        return np.bincount(pairs % len(self.design), minlength=len(self.design)).astype(np.intp)

    def _by_flips(self, test: InteractionTest) -> InteractionTest:
        """Return the test with the exact p-value where every set has all of 2 x 2 groups."""
        is_square = len(self.design) == CELLS and len(self.tetrads) == 1
        if test.p_value is None or not is_square or (self.sets < 0).any():
            return test
        names, place = np.unique(self.sets, return_inverse=True)
        key = place * CELLS + self.codes
        counts = np.bincount(key, minlength=CELLS * len(names))
        if not counts.all():
            return test
        sums = np.bincount(key, weights=self.values, minlength=len(counts))
        p_value = sign_flip_p(np.sort((sums / counts).reshape(-1, CELLS) @ self._signs()[0]))
        return test if p_value is None else replace(test, p_value=p_value, method=FLIPS)
