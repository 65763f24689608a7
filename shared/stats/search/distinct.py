"""Distinct findings of a search: overlapping regions with the same evidence are one finding."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.search.evidence import SearchEvidence, updated
from biaswatch.shared.stats.search.hypotheses import AskedCells, Region, SearchSpace


@dataclass(frozen=True)
class SearchBatch:
    """Sets whose answers are read together, as `updated` takes them."""

    cells: AskedCells
    answers: Floats
    counted: Bools

    @classmethod
    def merged(cls, batches: Sequence["SearchBatch"]) -> "SearchBatch":
        """Return the sets of at least one batch, in order."""
        topics, contexts = (
            np.concatenate([getattr(batch.cells, axis) for batch in batches])
            for axis in ("topics", "contexts")
        )
        answers, counted = (
            np.concatenate([getattr(batch, name) for batch in batches])
            for name in ("answers", "counted")
        )
        return cls(AskedCells(topics, contexts), answers, counted)

    def outside(self, space: SearchSpace, hypotheses: Sequence[int]) -> "SearchBatch":
        """Return the sets in none of the hypotheses' regions."""
        inside = np.zeros(len(self.cells), dtype=np.bool_)
        for hypothesis in hypotheses:
            inside |= space.contains(hypothesis, self.cells)
        kept = ~inside
        return SearchBatch(self.cells[kept], self.answers[kept], self.counted[kept])


NARROW_TO_WIDE = (
    Region.SCENARIO, Region.CROSSING, Region.TOPIC, Region.CONTEXT, Region.EVERYWHERE,
)  # fmt: skip
CLEAR_SDS, CLEAR_SHARE = 3.0, 0.5
"""A region also has evidence of its own where the gap outside narrower findings is this many
standard errors from 0, and this share of its whole gap."""
LARGER_GAP_SDS = 4.0
"""Least excess of a nested region's gap over its parent's, in standard errors."""


def distinct_findings(
    space: SearchSpace, alpha: float, evidence: SearchEvidence, batches: Sequence[SearchBatch]
) -> list[int]:
    """Return the hypotheses found that have evidence of their own, strongest first.

    A failing topic raises the evidence of its crossings, its contexts and of everything together.
    From narrow regions to wide ones, a hypothesis is distinct if it also shows a gap without the
    sets of those before it. Half of all topics or contexts come before everything together: where
    most of them fail, everything does. Regions inside a wider finding are not distinct, unless
    their gap is clearly larger. All are among the hypotheses found, so the error of the whole
    search remains alpha.

    Parameters
    ----------
    evidence
        The evidence of all batches.
    batches
        All batches, in order.

    Examples
    --------
    >>> space = SearchSpace(topics=2, contexts=1, groups=2)
    >>> cells = AskedCells(np.repeat([0, 1], 20), np.zeros(40, dtype=np.int64))
    >>> answers = np.column_stack([np.repeat([0.75, 0.25], 20), np.full(40, 0.25)])
    >>> batch = SearchBatch(cells, answers, np.ones((40, 5), dtype=np.bool_))
    >>> evidence = updated(SearchEvidence.none(space), space, cells, answers)
    >>> [number] = distinct_findings(space, 0.05, evidence, [batch])
    >>> space.region_of(number)
    (<Region.CROSSING: 'crossing'>, 0, 0)
    """
    rejected, distinct, rest = evidence.rejected(space, alpha), list[int](), evidence
    halves = {Region.TOPIC: max(space.topics // 2, 1), Region.CONTEXT: max(space.contexts // 2, 1)}
    phases = [(region, halves.get(region, space.hypotheses)) for region in NARROW_TO_WIDE]
    for region, most in (*phases, *((region, space.hypotheses) for region in halves)):
        candidates = rejected & space.is_of(region)
        for _ in range(most):
            own = candidates & (rest.rejected(space, alpha) | _is_clear(evidence, rest))
            if not own.any():
                break
            strongest = int(np.where(own, rest.largest_log_e, -np.inf).argmax())
            distinct = [n for n in distinct if not _is_part(space, evidence, n, strongest)]
            distinct.append(strongest)
            rest = _without(space, batches, distinct)
    return sorted(distinct, key=lambda number: -evidence.largest_log_e[number])


def _without(
    space: SearchSpace, batches: Sequence[SearchBatch], findings: Sequence[int]
) -> SearchEvidence:
    """Return the evidence of the sets in none of the findings' regions."""
    rest = SearchEvidence.none(space)
    for batch in (batch.outside(space, findings) for batch in batches):
        rest = updated(rest, space, batch.cells, batch.answers, batch.counted)
    return rest


def _is_clear(evidence: SearchEvidence, rest: SearchEvidence) -> Bools:
    """Return [hypotheses]: whether the gap of the rest is clear and like the whole gap."""
    whole, past = evidence.past, rest.past
    is_clear = past.sums**2 > CLEAR_SDS**2 * past.squares
    direction = np.sign(whole.sums)
    gap, whole_gap = direction * past.sums * whole.sets, direction * whole.sums * past.sets
    return is_clear & (gap >= CLEAR_SHARE * whole_gap)


def _is_part(space: SearchSpace, evidence: SearchEvidence, narrow: int, wide: int) -> bool:
    """Return whether a region lies inside another, with no clearly larger gap."""
    region, place, contrast = space.region_of(narrow)
    outer, outer_place, outer_contrast = space.region_of(wide)
    places = {Region.EVERYWHERE: 0}
    if region is Region.CROSSING:
        topic, context = divmod(place, space.contexts)
        places |= {Region.TOPIC: topic, Region.CONTEXT: context}
    if outer is region or places.get(outer) != outer_place:
        return False
    gap, variance = _moments(evidence, narrow)
    outer_gap, outer_variance = _moments(evidence, wide)
    if contrast != outer_contrast or gap * outer_gap < 0:
        return False
    return abs(gap) - abs(outer_gap) < LARGER_GAP_SDS * sqrt(variance + outer_variance)


def _moments(evidence: SearchEvidence, number: int) -> tuple[float, float]:
    """Return the mean of a hypothesis' contrasts, and the variance of that mean."""
    past = evidence.past
    sets, mean = past.sets[number], past.sums[number] / past.sets[number]
    return float(mean), max(float(past.squares[number] / sets - mean**2), 0.0) / float(sets)
