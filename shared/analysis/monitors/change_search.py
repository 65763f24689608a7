"""Searches for changes of gaps and levels, round by round."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np

from biaswatch.shared.analysis.monitors.alpha_shares import change_bound, search_alpha
from biaswatch.shared.analysis.monitors.change_detection import (
    Kept,
    ReferenceTable,
    SearchedRounds,
    SearchResult,
    kept_pairs,
    pairs_of,
)
from biaswatch.shared.analysis.monitors.round_answers import ClosedCounts, Counts, less
from biaswatch.shared.contracts import Change, Evidence, MonitorPlan, Reference, Stretch
from biaswatch.shared.stats.anytime.change_search import (
    MAX_REFERENCES,
    TypicalRounds,
    is_due,
    made_references,
)
from biaswatch.shared.stats.anytime.judging import share_left, share_of_test
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms


@dataclass(frozen=True)
class SearchUnderWay:
    """A search that a round belongs to, as the round before has left it."""

    change: Change
    began: Stretch
    added: Counts
    """The counts that the round adds."""
    seen: Counts
    """All rounds of the search."""
    round: int

    @classmethod
    def of(
        cls, last: Evidence | None, before: Change | None, counts: ClosedCounts
    ) -> "SearchUnderWay":
        """Return the search of a round: a new epoch begins another, and so does a found change."""
        same = last is not None and last.epoch == counts.round.epoch
        if same and before is not None and before.rounds is not None and not is_found(before):
            change, began = before, before.rounds
        else:
            began = Stretch(since_round=counts.round.round, before=counts.before if same else {})
            change = _new_change(before.number + 1 if before else 1, began)
        seen = less(counts.total, began.before)
        return cls(change, began, counts.added, seen, counts.round.round)

    @property
    def rounds(self) -> int:
        """Return how many rounds it has."""
        return self.round - self.began.since_round + 1

    @property
    def steps(self) -> int:
        """Return how many of them follow the first reference."""
        return self.change.steps + bool(self.change.references)


def _new_change(number: int, rounds: Stretch) -> Change:
    share, left = share_of_test(number), share_left(number)
    return Change(number=number, share=share, left=left, rounds=rounds)


def next_changes(
    lasts: Sequence[Evidence | None],
    counts: Sequence[ClosedCounts],
    plan: MonitorPlan,
    *,
    level: bool = False,
) -> list[Change | None]:
    """Return the searches after one more round; where it keeps no pairs, as they were.

    Parameters
    ----------
    lasts
        The evidence of each comparison before this round; None before the first.
    level
        Search the levels of both groups, not their gaps.
    """
    name = "level_change" if level else "change"
    under_way: list[Change | None] = [getattr(last, name) if last else None for last in lasts]
    places = [n for n, count in enumerate(counts) if kept_pairs(count.added, level=level)]
    searches = [SearchUnderWay.of(lasts[n], under_way[n], counts[n]) for n in places]
    for place, change in zip(places, _after(searches, plan, level=level), strict=True):
        under_way[place] = change
    return under_way


def _after(
    searches: Sequence[SearchUnderWay], plan: MonitorPlan, *, level: bool
) -> Iterator[Change]:
    """Return searches after their round: first its bets, then the references that are due."""
    if not searches:
        return
    added, seen = (
        pairs_of([getattr(search, name) for search in searches], level=level)
        for name in ("added", "seen")
    )
    before = ReferenceTable([search.change.references for search in searches])
    kept = before.after(added, [search.steps for search in searches], searches[0].round)
    for place, reference in _references_due(searches, seen, plan, level=level):
        kept[place] = (*kept[place], reference)[-MAX_REFERENCES:]
    rounds = np.array([search.rounds for search in searches])
    searched = SearchedRounds(
        TypicalRounds.of(seen, rounds),
        rounds,
        np.array([search.steps for search in searches]),
        np.array([change_bound(plan, search.change.number) for search in searches]),
    )
    results = ReferenceTable(kept).results(searched)
    bounds = searched.bounds.tolist()
    for search, references, its, bound in zip(searches, kept, results, bounds, strict=True):
        yield _evidence_of(search, references, its, bound, plan)


def _references_due(
    searches: Sequence[SearchUnderWay], seen: PairHistograms, plan: MonitorPlan, *, level: bool
) -> Iterator[tuple[int, Reference]]:
    """Return the references that this round makes, each with the place of its search."""
    first = plan.reference_rounds
    newest = [search.change.references[-1:] for search in searches]
    due = [
        place
        for place, search in enumerate(searches)
        if is_due(newest[place][0].rounds if newest[place] else None, search.rounds, first)
    ]
    if not due:
        return
    alphas = np.array([search_alpha(plan, searches[place].change.number) for place in due])
    tolerances = np.full(len(due), change_tolerance(plan, level=level))
    references = made_references(seen.of_rows(np.array(due)), alphas, tolerances)
    for place, value, allowed in zip(due, *(column.tolist() for column in references), strict=True):
        if not isnan(allowed):
            rounds = searches[place].rounds
            yield place, Reference(value=value, allowed=allowed, rounds=rounds)


def _evidence_of(
    search: SearchUnderWay, kept: Kept, result: SearchResult, bound: float, plan: MonitorPlan
) -> Change:
    newest = kept[-1] if kept else None
    return search.change.model_copy(
        update={
            "references": kept,
            "since_round": result.likeliest,
            "reference": newest.value if newest else None,
            "allowed": newest.allowed if newest else None,
            "steps": search.steps,
            "log_evidence": result.log_evidence,
            "bound": bound,
            "smallest": result.smallest,
            "no_smallest": _why_none(search, kept, result, plan),
        }
    )


def _why_none(
    search: SearchUnderWay, kept: Kept, result: SearchResult, plan: MonitorPlan
) -> str | None:
    if result.smallest is not None:
        return None
    if not kept:
        return f"a reference needs {plan.reference_rounds} rounds with answers"
    if not search.steps:
        return "no round has closed since the reference"
    return "no change could be found yet: there are too few units"


def is_found(change: Change | None) -> bool:
    """Tell whether the evidence of a change is enough for an alarm."""
    if change is None or change.log_evidence is None or change.bound is None:
        return False
    return change.log_evidence >= change.bound


def change_tolerance(plan: MonitorPlan, *, level: bool) -> float:
    """Return the largest change that does not matter, in what a pair is counted by.

    A level is counted by the sum of both groups, which changes by twice their mean.
    """
    return plan.change_tolerance * (2 if level else 1)
