"""Coverage of a search: what was sent by region, and what would have been found there."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from biaswatch.shared.analysis.search.replay import SearchState, contrasts_of, is_complete
from biaswatch.shared.contracts import Estimate
from biaswatch.shared.contracts.search import SetPurpose
from biaswatch.shared.lookup import grouped
from biaswatch.shared.requests.searches import PlaceboGaps, RegionCoverage, SearchCoverage
from biaswatch.shared.stats.arrays import Ints
from biaswatch.shared.stats.estimate import undefined
from biaswatch.shared.stats.search.hypotheses import Region
from biaswatch.shared.stats.search.reach import fewest_sets, smallest_gap

METHOD = "power 0.8 of the evidence, with the spread of all sets"


def coverage_of(state: SearchState) -> SearchCoverage:
    """Return what was sent by topic, context and area, and the gaps it would have found."""
    missing, reach, sizes = _missing(state), _Reach(state), state.sizes
    counted = state.evidence.past.sets
    of_topics = sizes.of_topics(len(state.topics))[:, 0]
    first_context, own = sizes.first(Region.CONTEXT), slice(sizes.topics)

    def covered(name: str, number: int, sent: Ints, lost: Ints) -> RegionCoverage:
        gap = reach.estimate(sizes.region_of(number)[0], int(counted[number]))
        return _covered(name, sent, lost, gap)

    topics = [
        covered(name, int(of_topics[place]), state.sets_by_cell[place], missing[place])
        for name, place in state.topics.items()
    ]
    contexts = [
        covered(
            name,
            first_context + place * sizes.contrasts,
            state.sets_by_cell[own, place],
            missing[own, place],
        )
        for name, place in state.contexts.items()
    ]
    number = sizes.first(Region.EVERYWHERE)
    everywhere = covered("everywhere", number, state.sets_by_cell[own], missing[own])
    areas = grouped((topic.area, state.topics[name]) for name, topic in state.space.topics.items())
    by_area = [
        _covered(
            area,
            state.sets_by_cell[rows],
            missing[rows],
            reach.estimate(Region.TOPIC, int(counted[of_topics[rows]].mean())),
        )
        for area, rows in areas.items()
    ]
    return SearchCoverage(topics=topics, contexts=contexts, areas=by_area, everywhere=everywhere)


def _covered(name: str, sent: Ints, missing: Ints, gap: Estimate) -> RegionCoverage:
    sets = int(sent.sum())
    if not sets:
        gap = undefined("not asked")
    return RegionCoverage(name=name, sets=sets, missing=int(missing.sum()), smallest_gap=gap)


class _Reach:
    """The smallest gap that a number of sets would have found, with the spread of all sets."""

    def __init__(self, state: SearchState) -> None:
        answers = [batch.answers for batch in state.batches]
        whole = np.concatenate(answers) if answers else np.empty((0, state.sizes.groups))
        self._contrasts = contrasts_of(whole)[:, 0]
        self._range = state.search.space.high - state.search.space.low
        thresholds = state.sizes.log_thresholds(state.search.alpha)
        self._thresholds = {
            region: float(thresholds[state.sizes.first(region)])
            for region in Region
            if state.sizes.regions[region]
        }
        self.estimate = lru_cache(maxsize=None)(self._estimate)

    def _estimate(self, region: Region, sets: int) -> Estimate:
        needed = fewest_sets(self._thresholds[region])
        if sets < needed:
            reason = f"{sets} sets that count cannot find any gap: at least {needed} are needed"
            return undefined(reason, method=METHOD)
        gap = smallest_gap(sets, self._contrasts, self._thresholds[region])
        if gap is None:
            return undefined(f"{sets} sets find no gap with a probability of 0.8", method=METHOD)
        return Estimate(value=gap * self._range, method=METHOD)


def _missing(state: SearchState) -> Ints:
    """Return [topics, contexts]: evidence sets without an answer of every twin."""
    missing = np.zeros_like(state.sets_by_cell)
    for drawn in (drawn for sets in state.rounds for drawn in sets):
        record = drawn.record
        if record.purpose is SetPurpose.EVIDENCE and not is_complete(record):
            missing[state.topics[record.topic], state.contexts[record.context]] += 1
    return missing


def placebo_of(state: SearchState) -> PlaceboGaps:
    """Return the gaps between twins of one group."""
    sets: Sequence[tuple[float | None, ...]] = [
        drawn.record.values
        for round_ in state.rounds
        for drawn in round_
        if drawn.record.purpose is SetPurpose.PLACEBO and is_complete(drawn.record)
    ]
    if not sets:
        return PlaceboGaps(sets=0, differing=None, mean_gap=None)
    answers = np.array(sets, dtype=np.float64)
    first, second = np.triu_indices(answers.shape[1], 1)
    gaps = np.abs(answers[:, first] - answers[:, second])
    return PlaceboGaps(
        sets=len(sets), differing=float((gaps > 0).mean()), mean_gap=float(gaps.mean())
    )
