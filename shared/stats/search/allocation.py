"""Allocation of a search's questions: where the next batch of sets is sent."""

from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.anytime.bets import log_mean_exp
from biaswatch.shared.stats.anytime.merged import PRIOR_VARIANCE
from biaswatch.shared.stats.arrays import Bools, Floats, Ints
from biaswatch.shared.stats.search.evidence import SearchEvidence
from biaswatch.shared.stats.search.hypotheses import AskedCells, SearchSpace

FLOOR_SHARE = 0.05
"""Share of each batch for the topics with the fewest sets."""
EFFECT_SIZES = (0.8, 1.2)
"""Effects that a topic may have, in standard deviations of a contrast."""
EXPECTED_FALL = float(np.mean(np.square(EFFECT_SIZES))) / 2
"""Fall of a log likelihood ratio by one more set without a difference."""
CONTEXT_LEADER_SHARE = 0.9
"""Share of a leader's sets in its most promising context; the others are where fewest were."""

_FOUND = -1e6
"""The log likelihood ratio of what needs no further sets."""
_FULL, _MOST_SETS = -1e9, 10**9
"""The log likelihood ratio where no further set counts, and more sets than any search has."""


@dataclass(frozen=True)
class _Promise:
    """Log likelihood ratios of an effect, and the sets sent; proposed scenarios come last."""

    topics: Floats
    """[topics]"""
    cells: Floats
    """[topics, contexts]"""
    sets: Ints
    """[topics, contexts]"""
    remaining: Ints
    """[topics, contexts]: sets that can still count."""

    def __post_init__(self) -> None:
        self.cells[self.remaining < 1] = _FULL
        self.topics[~self.remaining.any(axis=1)] = _FULL

    def rarest(self, ties: Ints) -> int:
        """Return the topic with the fewest sets."""
        return _least(np.where(self.remaining.any(axis=1), self.sets.sum(axis=1), _MOST_SETS), ties)

    def rarest_context(self, topic: int, ties: Ints) -> int:
        """Return the context of a topic with the fewest sets."""
        return _least(np.where(self.remaining[topic] > 0, self.sets[topic], _MOST_SETS), ties)

    def likeliest(self, ties: Ints) -> int:
        """Return the topic that most likely has an effect, in all contexts or in one."""
        return _least(-np.logaddexp(self.topics, log_mean_exp(self.cells)), ties)

    def likeliest_context(self, topic: int, ties: Ints) -> int:
        """Return the likeliest context of an effect in a topic."""
        return int(np.lexsort((ties, self.sets[topic], -self.cells[topic]))[0])

    def add(self, topic: int, context: int) -> None:
        """Add a set, as if it showed no difference."""
        self.topics[topic] -= EXPECTED_FALL
        self.cells[topic, context] -= EXPECTED_FALL
        self.sets[topic, context] += 1
        self.remaining[topic, context] -= 1
        if not self.remaining[topic, context]:
            self.cells[topic, context] = _FULL
            self.topics[topic] = self.topics[topic] if self.remaining[topic].any() else _FULL


def next_cells(
    evidence: SearchEvidence,
    space: SearchSpace,
    alpha: float,
    size: int,
    rng: np.random.Generator,
    sets_by_cell: Ints | None = None,
    remaining: Ints | None = None,
) -> AskedCells:
    """Return where the next sets are sent.

    Every topic is sent once. After that, each set goes to the topic that most likely has an effect,
    in all contexts or in one, as if the sets before it in the batch showed no difference; a few
    go to the topics with the fewest. Topics and crossings that are found get no further sets. Any
    rule is valid, since the evidence does not depend on why a set was sent; this rule decides power
    only.

    Parameters
    ----------
    size
        Number of sets, at least 1.
    sets_by_cell
        [topics, contexts]: sets that were sent, with those that are not evidence, since an answer
        is missing; those that are evidence, if None. Accepted proposals come after the
        space's own topics.
    remaining
        [topics, contexts]: sets that can still count, at least `size` in all; without limits, if
        None.

    References
    ----------
    Chernoff (1959), Sequential design of experiments: the next question is about the likeliest
    hypothesis.

    Examples
    --------
    >>> space = SearchSpace(topics=3, contexts=2, groups=2)
    >>> cells = next_cells(SearchEvidence.none(space), space, 0.05, 3, np.random.default_rng(1))
    >>> sorted(cells.topics.tolist())
    [0, 1, 2]
    """
    if sets_by_cell is None:
        sets_by_cell = space.of_crossings(evidence.past.sets)[:, :, 0].astype(np.int64)
    if remaining is None:
        remaining = np.full_like(sets_by_cell, _MOST_SETS)
    promise = _promise(evidence, space, alpha, sets_by_cell, remaining)
    floor = max(int((~sets_by_cell.any(axis=1)).sum()), int(FLOOR_SHARE * size + rng.random()))
    follows = rng.random(size) < CONTEXT_LEADER_SHARE
    ties = rng.permutation(len(sets_by_cell))
    cells = np.empty((size, 2), dtype=np.int64)
    for place in range(size):
        is_floor, context_ties = place < floor, rng.permutation(space.contexts)
        topic = promise.rarest(ties) if is_floor else promise.likeliest(ties)
        if follows[place] and not is_floor:
            context = promise.likeliest_context(topic, context_ties)
        else:
            context = promise.rarest_context(topic, context_ties)
        promise.add(topic, context)
        cells[place] = topic, context
    return AskedCells(cells[:, 0], cells[:, 1])


def _least(values: Floats | Ints, ties: Ints) -> int:
    """Return the place of the least value; of equal ones, that with the least tie-break."""
    return int(np.lexsort((ties, values))[0])


def _promise(
    evidence: SearchEvidence, space: SearchSpace, alpha: float, sets_by_cell: Ints, remaining: Ints
) -> _Promise:
    """Return how likely the remaining topics, crossings and proposed scenarios have an effect.

    Sets of crossings that are found are left out of their topics. Proposed scenarios have no
    crossings. Sets that do not count, since their questions were sent before or an answer is
    missing, lower the ratios as sets without a difference do: else a topic without new questions
    would remain the likeliest.
    """
    past, rejected, topics = evidence.past, evidence.rejected(space, alpha), len(sets_by_cell)
    of_topics = space.of_topics(topics)
    is_rejected: Bools = np.any(space.of_crossings(rejected), axis=2, keepdims=True)
    sets, sums, squares = (
        space.of_crossings(values) * ~is_rejected for values in (past.sets, past.sums, past.squares)
    )
    # One variance for all regions: that of all sets.
    variance = (squares[:, :, 0].sum() + PRIOR_VARIANCE) / (sets[:, :, 0].sum() + 1)
    topic_sets, topic_sums = past.sets[of_topics], past.sums[of_topics]
    topic_sets[: space.topics], topic_sums[: space.topics] = sets.sum(axis=1), sums.sum(axis=1)
    cells = np.full((topics, space.contexts), _FOUND)
    cells[: space.topics] = log_likelihood_ratios(sets, sums, variance).max(axis=2)
    cells[: space.topics][is_rejected[:, :, 0]] = _FOUND
    whole = log_likelihood_ratios(topic_sets, topic_sums, variance).max(axis=1)
    uncounted = sets_by_cell.astype(np.float64)
    uncounted[: space.topics] = (uncounted[: space.topics] - sets[:, :, 0]) * ~is_rejected[:, :, 0]
    uncounted[space.topics :, 0] -= topic_sets[space.topics :, 0]
    cells -= EXPECTED_FALL * uncounted
    whole -= EXPECTED_FALL * uncounted.sum(axis=1)
    is_over: Bools = np.any(rejected[of_topics], axis=1)
    is_over[: space.topics] |= is_rejected[:, :, 0].all(axis=1)
    cells[is_over] = _FOUND
    return _Promise(np.where(is_over, _FOUND, whole), cells, sets_by_cell.copy(), remaining.copy())


def log_likelihood_ratios(sets: Floats, sums: Floats, variance: float) -> Floats:
    """Return log likelihood ratios of an effect against none, for normal contrasts.

    The average over effects of `EFFECT_SIZES` in the better direction. Unlike the exchange factor,
    it falls with sets whose twins are answered alike. It only ranks regions.

    Parameters
    ----------
    sets, sums
        [...]: counts and sums of contrasts.
    variance
        The variance of a contrast.
    """
    spread = np.sqrt(variance)
    ratios = [np.abs(sums) * (size / spread) - sets * (size**2 / 2) for size in EFFECT_SIZES]
    return np.asarray(np.logaddexp.reduce(ratios) - np.log(len(ratios)))
