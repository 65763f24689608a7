"""Interactions of two dimensions: tests that their effects add up in the crossed groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from biaswatch.shared.analysis.findings.group_disparities import (
    GroupedTable,
    additive_design,
    unit_rows,
)
from biaswatch.shared.analysis.findings.groupings import Grouping
from biaswatch.shared.analysis.findings.observations import Observations, Whole
from biaswatch.shared.stats.arrays import Floats, Indices
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.groups.group_means import GroupMeans, group_means
from biaswatch.shared.stats.groups.interactions import InteractionTest, interaction_test, signs_of

DIFFERENCE, LOG_ODDS = "difference", "log odds"
FLIPS = "sign flips of the difference of gaps, over sets"
SHARES: Bounds = (0.0, 1.0)
CELLS = 4


@dataclass(frozen=True)
class Interaction:
    """The test that the effects of two dimensions on a feature add up."""

    feature: str
    dimensions: str
    domain: str
    scale: str
    """`difference` or, for shares, `log odds` too."""
    test: InteractionTest
    p_adjusted: float | None = None
    """Corrected (Bonferroni) for all tests of the same scale."""

    @property
    def contrast(self) -> Estimate:
        """The difference of gaps of 2 x 2 groups."""
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
                crossed = CrossedValues.of(values[own], codes, sets[own], design)
                shares = observations.bounds(index)[domain] == SHARES
                for scale, test in crossed.tests(alpha, shares=shares):
                    yield Interaction(feature, crossing.name, name, scale, test)


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

    @classmethod
    def of(cls, values: Floats, codes: Whole, sets: Whole, design: Floats) -> "CrossedValues":
        """Leave out the combinations without a value."""
        occurs = np.bincount(codes, minlength=len(design)) > 0
        return cls(values, (np.cumsum(occurs) - 1)[codes], sets, design[occurs])

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
            means.means, means.covariance, self._clusters(), self.design,
            shared=shared, alpha=alpha, log_odds=log_odds,
        )  # fmt: skip

    def _clusters(self) -> Indices:
        """Return [combinations]: the sets of each; a row without a set is one by itself."""
        clusters = np.where(self.sets < 0, -1 - np.arange(len(self.sets)), self.sets)
        pairs = np.unique(clusters * len(self.design) + self.codes)
        return np.bincount(pairs % len(self.design), minlength=len(self.design)).astype(np.intp)

    def _by_flips(self, test: InteractionTest) -> InteractionTest:
        """Return the test with the exact p-value where every set has all of 2 x 2 groups."""
        if test.p_value is None or len(self.design) != CELLS or (self.sets < 0).any():
            return test
        names, place = np.unique(self.sets, return_inverse=True)
        key = place * CELLS + self.codes
        counts = np.bincount(key, minlength=CELLS * len(names))
        if not counts.all():
            return test
        sums = np.bincount(key, weights=self.values, minlength=len(counts))
        p_value = sign_flip_p(np.sort((sums / counts).reshape(-1, CELLS) @ signs_of(self.design)))
        return test if p_value is None else replace(test, p_value=p_value, method=FLIPS)
