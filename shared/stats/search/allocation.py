"""Allocation of a search's questions: where the next batch of sets is sent."""

from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.anytime.bets import Bools, Floats, log_mean_exp
from biaswatch.shared.stats.anytime.merged import PRIOR_VARIANCE
from biaswatch.shared.stats.search.evidence import SearchEvidence
from biaswatch.shared.stats.search.hypotheses import AskedCells, Ints, Region, SearchSpace

N = TypeVar("N", np.float64, np.bool_)
FLOOR_SHARE = 0.05
"""Share of each batch for the topics with the fewest sets."""
SHARPNESS = 3.0
"""Power of the probabilities that topics are drawn with: 1 asks them as often as they are likely to
have an effect, a large one asks the likeliest alone."""
EFFECT_SIZES = (0.8, 1.2)
"""Effects that a topic may have, in standard deviations of a contrast."""
CONTEXT_LEADER_SHARE = 0.9
"""Share of a leader's sets in its most promising context; the others are where fewest were."""

_FOUND = -1e6
"""The log likelihood ratio of what needs no further sets."""


@dataclass(frozen=True)
class _Promise:
    """Log likelihood ratios of an effect: [topics], and [topics, contexts].

    Proposed scenarios come after the space's own topics.
    """

    topics: Floats
    cells: Floats


def next_cells(
    evidence: SearchEvidence,
    space: SearchSpace,
    alpha: float,
    size: int,
    rng: np.random.Generator,
    sets_by_cell: Ints | None = None,
) -> AskedCells:
    """Return where the next sets are sent.

    Every topic is sent once. After that, topics are drawn by the sharpened probability that they
    alone have an effect, in all contexts or in one; a few sets go to the topics with the fewest.
    Topics and crossings that are found get no further sets. Any rule is valid, since the evidence
    does not depend on why a set was sent; this rule decides power only.

    Parameters
    ----------
    size
        Number of sets, at least 1.
    sets_by_cell
        [topics, contexts]: sets that were sent, with those that are no evidence, since an answer
        is missing; those that are evidence, if None. Accepted proposals come after the
        space's own topics.

    References
    ----------
    Russo (2020), Simple Bayesian algorithms for best-arm identification; its rule, sharpened.

    Examples
    --------
    >>> space = SearchSpace(topics=3, contexts=2, groups=2)
    >>> cells = next_cells(SearchEvidence.none(space), space, 0.05, 3, np.random.default_rng(1))
    >>> sorted(cells.topics.tolist())
    [0, 1, 2]
    """
    if sets_by_cell is None:
        sets_by_cell = _of_cells(evidence.past.sets, space)[:, :, 0].astype(np.int64)
    of_topics = sets_by_cell.sum(axis=1)
    promise = _promise(evidence, space, alpha, len(of_topics))
    shuffled = rng.permutation(len(of_topics))
    fewest = shuffled[np.argsort(of_topics[shuffled], kind="stable")]
    floor = int(FLOOR_SHARE * size + rng.random())
    least = min(size, max(int((of_topics == 0).sum()), floor))
    topics = np.concatenate(
        [np.resize(fewest, least), _drawn_topics(promise, size - least, shuffled, rng)]
    )
    follows = (rng.random(size) < CONTEXT_LEADER_SHARE) & (np.arange(size) >= least)
    return AskedCells(topics, _contexts(topics, follows, promise, sets_by_cell, rng))


def _drawn_topics(promise: _Promise, size: int, shuffled: Ints, rng: np.random.Generator) -> Ints:
    """Return topics drawn systematically by their sharpened probability of an effect."""
    in_one_context = log_mean_exp(promise.cells)
    logs = SHARPNESS * np.logaddexp(promise.topics, in_one_context)[shuffled]
    shares = np.exp(logs - logs.max())
    points = (np.arange(size) + rng.random()) / max(size, 1) * shares.sum()
    drawn = np.searchsorted(np.cumsum(shares), points).clip(max=len(shuffled) - 1)
    return np.asarray(shuffled[drawn], dtype=np.int64)


def _contexts(
    topics: Ints, follows: Bools, promise: _Promise, sets_by_cell: Ints, rng: np.random.Generator
) -> Ints:
    """Return a context for each topic: its most promising one, or one with the fewest sets."""
    counts, contexts = sets_by_cell.copy(), np.empty(len(topics), dtype=np.int64)
    ties = rng.random((len(topics), sets_by_cell.shape[1]))
    for place, topic in enumerate(topics):
        fewest = np.lexsort((ties[place], counts[topic]))[0]
        contexts[place] = promise.cells[topic].argmax() if follows[place] else fewest
        counts[topic, contexts[place]] += 1
    return contexts


def _promise(evidence: SearchEvidence, space: SearchSpace, alpha: float, topics: int) -> _Promise:
    """Return how likely the remaining topics, crossings and proposed scenarios have an effect.

    Sets of crossings that are found are left out of their topics. Proposed scenarios have no
    crossings.
    """
    past, found, of_topics = evidence.past, evidence.rejected(space, alpha), space.of_topics(topics)
    is_found: Bools = np.any(_of_cells(found, space), axis=2, keepdims=True)
    sets, sums, squares = (
        _of_cells(values, space) * ~is_found for values in (past.sets, past.sums, past.squares)
    )
    # One variance for all regions: that of all sets.
    variance = (squares[:, :, 0].sum() + PRIOR_VARIANCE) / (sets[:, :, 0].sum() + 1)
    topic_sets, topic_sums = past.sets[of_topics], past.sums[of_topics]
    topic_sets[: space.topics], topic_sums[: space.topics] = sets.sum(axis=1), sums.sum(axis=1)
    cells = np.full((topics, space.contexts), _FOUND)
    cells[: space.topics] = log_likelihood_ratios(sets, sums, variance).max(axis=2)
    cells[: space.topics][is_found[:, :, 0]] = _FOUND
    whole = log_likelihood_ratios(topic_sets, topic_sums, variance).max(axis=1)
    is_over: Bools = np.any(found[of_topics], axis=1)
    is_over[: space.topics] |= is_found[:, :, 0].all(axis=1)
    cells[is_over] = _FOUND
    return _Promise(np.where(is_over, _FOUND, whole), cells)


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


def _of_cells(values: NDArray[N], space: SearchSpace) -> NDArray[N]:
    """Return [topics, contexts, contrasts]: the values of hypotheses about crossings."""
    first, shape = (space.first(Region.CROSSING), (space.topics, space.contexts, space.contrasts))
    return values[first : first + int(np.prod(shape))].reshape(shape)
