"""Hypotheses of a search, and the share of alpha of each."""

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from itertools import accumulate
from math import log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.arrays import Bools, Floats, Ints
from biaswatch.shared.stats.estimate import check_alpha

N = TypeVar("N", np.float64, np.bool_)


class Region(StrEnum):
    """Kind of region of a hypothesis."""

    TOPIC = "topic"
    CONTEXT = "context"
    EVERYWHERE = "everywhere"
    CROSSING = "crossing"
    SCENARIO = "scenario"


WEIGHTS = {
    Region.TOPIC: 0.5,
    Region.CONTEXT: 0.15,
    Region.EVERYWHERE: 0.15,
    Region.CROSSING: 0.1,
    Region.SCENARIO: 0.1,
}
"""Share of alpha by kind of region, divided equally among its hypotheses; the sum is 1. Without
scenarios that may be proposed, the others take their share in proportion."""


@dataclass(frozen=True)
class SearchSpace:
    """Sizes of the axes of a search.

    A contrast compares one group with the mean of the others; two groups have one contrast.
    Hypotheses are numbered by kind of region in the order of `Region`, then by region, then by
    contrast.

    Parameters
    ----------
    topics, contexts, groups
        At least 1, 1 and 2.
    scenarios
        Number of scenarios that may still be proposed; their share of alpha is kept for them.

    Examples
    --------
    >>> space = SearchSpace(topics=200, contexts=12, groups=2, scenarios=100)
    >>> space.hypotheses
    2713
    >>> float(space.weights.sum().round(12))
    1.0
    """

    topics: int
    contexts: int
    groups: int
    scenarios: int = 0

    def __post_init__(self) -> None:
        if self.topics < 1 or self.contexts < 1 or self.groups < 2 or self.scenarios < 0:
            raise ValueError("a search needs a topic, a context and two groups")

    @property
    def contrasts(self) -> int:
        """Return the number of contrasts between groups."""
        return 1 if self.groups == 2 else self.groups

    @property
    def regions(self) -> dict[Region, int]:
        """Return the number of regions of each kind."""
        return {
            Region.TOPIC: self.topics,
            Region.CONTEXT: self.contexts,
            Region.EVERYWHERE: 1,
            Region.CROSSING: self.topics * self.contexts,
            Region.SCENARIO: self.scenarios,
        }

    @property
    def hypotheses(self) -> int:
        """Return the number of all hypotheses."""
        return self._firsts[None]

    @cached_property
    def weights(self) -> Floats:
        """Return [hypotheses]: the share of alpha of each; the sum is at most 1."""
        present = {region: count for region, count in self.regions.items() if count}
        total = sum(WEIGHTS[region] for region in present)
        shares = [
            np.full(count * self.contrasts, WEIGHTS[region] / total / (count * self.contrasts))
            for region, count in present.items()
        ]
        return np.concatenate(shares)

    def log_thresholds(self, alpha: float) -> Floats:
        """Return [hypotheses]: the log e-value required to reject each."""
        check_alpha(alpha)
        return self._log_inverse_weights - log(alpha)

    @cached_property
    def _log_inverse_weights(self) -> Floats:
        return np.asarray(-np.log(self.weights), dtype=np.float64)

    @cached_property
    def _firsts(self) -> dict[Region | None, int]:
        """Return the first hypothesis of each kind of region, and the number of all."""
        ends = accumulate(self.regions.values(), initial=0)
        kinds = [*Region, None]
        return {kind: end * self.contrasts for kind, end in zip(kinds, ends, strict=True)}

    def first(self, region: Region) -> int:
        """Return the number of the first hypothesis of a kind of region."""
        return self._firsts[region]

    def region_of(self, hypothesis: int) -> tuple[Region, int, int]:
        """Return the kind of region of a hypothesis, the region's number, and the contrast."""
        for region in reversed(Region):
            if hypothesis >= self.first(region):
                return region, *divmod(hypothesis - self.first(region), self.contrasts)
        raise ValueError("hypotheses are numbered from 0")

    def is_of(self, region: Region) -> Bools:
        """Return [hypotheses]: whether each is about a region of this kind."""
        numbers = np.arange(self.hypotheses) - self.first(region)
        return (numbers >= 0) & (numbers < self.regions[region] * self.contrasts)

    def of_crossings(self, values: NDArray[N]) -> NDArray[N]:
        """Return [topics, contexts, contrasts]: the values of hypotheses about crossings."""
        first, shape = self.first(Region.CROSSING), (self.topics, self.contexts, self.contrasts)
        return values[first : first + int(np.prod(shape))].reshape(shape)

    def contains(self, hypothesis: int, cells: "AskedCells") -> Bools:
        """Return [sets]: whether each set is in the region of a hypothesis."""
        region, place, _ = self.region_of(hypothesis)
        kind = list(Region).index(region)
        first = self.first(region) + place * self.contrasts
        return np.asarray(self.of_sets(cells)[:, kind, 0] == first)

    def of_topics(self, count: int) -> Ints:
        """Return [topics, contrasts]: the hypotheses of topics, proposed scenarios after them."""
        own, first = self.first(Region.CONTEXT), self.first(Region.SCENARIO)
        proposed = (count - self.topics) * self.contrasts
        numbers = np.concatenate([np.arange(own), np.arange(first, first + proposed)])
        return numbers.reshape(count, self.contrasts)

    def of_sets(self, cells: "AskedCells") -> Ints:
        """Return [sets, kinds of region, contrasts]: the hypotheses about each set; -1 for none.

        A set of a proposed scenario counts for that scenario alone.
        """
        topics, contexts = cells.topics, cells.contexts
        places = (topics, contexts, np.zeros_like(topics), topics * self.contexts + contexts)
        is_own, shape = topics < self.topics, (len(topics), len(Region))
        numbers = np.full(shape, -1, dtype=np.int64)
        for kind, (region, place) in enumerate(zip(Region, places, strict=False)):
            numbers[is_own, kind] = self.first(region) + place[is_own] * self.contrasts
        proposed = topics[~is_own] - self.topics
        numbers[~is_own, -1] = self.first(Region.SCENARIO) + proposed * self.contrasts
        contrasts = np.where(numbers[:, :, None] < 0, 0, np.arange(self.contrasts))
        return numbers[:, :, None] + contrasts


@dataclass(frozen=True)
class AskedCells:
    """Where sets of twins are sent: [sets] each; proposed scenarios are numbered after topics."""

    topics: Ints
    contexts: Ints

    def __len__(self) -> int:
        return len(self.topics)

    def __getitem__(self, kept: Bools) -> "AskedCells":
        return AskedCells(self.topics[kept], self.contexts[kept])
