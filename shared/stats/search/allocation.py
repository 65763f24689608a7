"""Allocation of a search's questions: where the next batch of sets is asked."""

import numpy as np

from biaswatch.shared.stats.anytime.bets import Floats, log_mean_exp
from biaswatch.shared.stats.anytime.merged import PRIOR_VARIANCE, PastDifferences
from biaswatch.shared.stats.search.evidence import Evidence
from biaswatch.shared.stats.search.hypotheses import Cells, Ints, Region, SearchSpace

FLOOR_SHARE = 0.2
"""Share of each batch for the topics with the fewest sets."""
LEADERS = 6
"""Topics that share the rest of a batch."""
EFFECT_SIZES = (0.6, 1.0, 1.6)
"""Effects that a topic may have, in standard deviations of a contrast."""
CONTEXT_LEADER_SHARE = 0.5
"""Share of a leader's sets in its most promising context; the others are spread evenly."""


def next_cells(
    evidence: Evidence, space: SearchSpace, alpha: float, size: int, rng: np.random.Generator
) -> Cells:
    """Return where the next sets are asked.

    Every topic is asked once. After that, most sets go to the topics whose own evidence, or whose
    evidence in one context, is nearest to its threshold; the rest goes to the topics with the
    fewest sets. Regions that are found get no further sets of their own. Any rule is valid, since
    the evidence does not depend on why a set was asked; this rule is greedy and decides power only.

    Parameters
    ----------
    size
        Number of sets, at least 1.

    Examples
    --------
    >>> space = SearchSpace(topics=3, contexts=2, groups=2)
    >>> cells = next_cells(Evidence.none(space), space, 0.05, 3, np.random.default_rng(1))
    >>> sorted(cells.topics.tolist())
    [0, 1, 2]
    """
    asked = _of_regions(evidence.past.sets, space, Region.TOPIC).max(axis=1)
    shuffled = rng.permutation(space.topics)
    fewest = shuffled[np.argsort(asked[shuffled], kind="stable")]
    unasked = int((asked == 0).sum())
    least = min(size, max(unasked, int(np.ceil(FLOOR_SHARE * size))))
    spread = np.resize(fewest, least)
    leading = np.resize(_leaders(evidence, space, alpha, rng), size - least)
    contexts = np.concatenate(
        [rng.integers(space.contexts, size=least), _contexts_of(leading, evidence, space, rng)]
    )
    return Cells.of(np.concatenate([spread, leading]), contexts)


def _leaders(
    evidence: Evidence, space: SearchSpace, alpha: float, rng: np.random.Generator
) -> Ints:
    """Return the topics that most likely have an effect, of their own or in one context."""
    promise = log_likelihood_ratios(evidence.past) + np.log(space.weights)
    promise = np.where(evidence.found(space, alpha), -np.inf, promise)
    topics = _of_regions(promise, space, Region.TOPIC).max(axis=1)
    crossings = _of_regions(promise, space, Region.CROSSING)
    best = np.maximum(topics, crossings.reshape(space.topics, -1).max(axis=1))
    shuffled = rng.permutation(space.topics)
    return shuffled[np.argsort(-best[shuffled], kind="stable")][:LEADERS]


def log_likelihood_ratios(past: PastDifferences) -> Floats:
    """Return [hypotheses]: log likelihood ratio of an effect against none, for normal contrasts.

    The average over effects of `EFFECT_SIZES` in the better direction, with the variance of all
    sets. Unlike the exchange factor, it falls with sets whose twins are answered alike. It only
    ranks regions.
    """
    sets = past.sets.sum()
    variance = (past.squares.sum() + PRIOR_VARIANCE) / (sets + 1)
    effects = np.array(EFFECT_SIZES) * np.sqrt(variance)
    penalties = np.multiply.outer(past.sets, effects**2 / 2)
    gains = np.multiply.outer(past.sums, effects)
    ratios = [log_mean_exp((sign * gains - penalties) / variance) for sign in (1.0, -1.0)]
    return np.maximum(*ratios)


def _contexts_of(
    topics: Ints, evidence: Evidence, space: SearchSpace, rng: np.random.Generator
) -> Ints:
    """Return a context for each topic: its most promising one, or any."""
    shape = (space.topics, space.contexts, space.contrasts)
    promise = log_likelihood_ratios(evidence.past)
    promise = _of_regions(promise, space, Region.CROSSING).reshape(shape).max(axis=2)
    best = promise[topics].argmax(axis=1) if len(topics) else topics
    any_context = rng.integers(space.contexts, size=len(topics))
    return np.where(rng.random(len(topics)) < CONTEXT_LEADER_SHARE, best, any_context)


def _of_regions(values: Floats, space: SearchSpace, region: Region) -> Floats:
    """Return [regions, contrasts]: the values of hypotheses about one kind of region."""
    first, count = space.first(region), space.regions[region]
    return values[first : first + count * space.contrasts].reshape(count, space.contrasts)
