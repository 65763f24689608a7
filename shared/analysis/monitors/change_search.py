"""Searches for changes of gaps and levels, round by round."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from biaswatch.shared.analysis.monitors.alpha_shares import change_bound, search_alpha
from biaswatch.shared.analysis.monitors.change_detection import (
    BETS,
    ChangeSearchResults,
    KeptReferences,
    SearchedRounds,
    by_value,
    kept_pairs,
    pairs_of,
)
from biaswatch.shared.analysis.monitors.round_answers import ClosedCounts, Counts, less
from biaswatch.shared.contracts import Change, Evidence, MonitorPlan, Stretch
from biaswatch.shared.contracts.columns import (
    Column,
    Columns,
    chosen_from,
    columns_of,
    fields_in,
    inside,
    known_in,
    numbers_in,
    present_in,
)
from biaswatch.shared.contracts.evidence_rows import ComparisonRows
from biaswatch.shared.stats.anytime.change_search import (
    References,
    TypicalRounds,
    are_due,
    made_references,
)
from biaswatch.shared.stats.anytime.judging import share_left, share_of_test
from biaswatch.shared.stats.anytime.late_starts import LateStarts
from biaswatch.shared.stats.anytime.pair_histograms import PairHistograms
from biaswatch.shared.stats.arrays import Bools, Floats, Ints


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
    if not searches:
        return under_way
    added, seen = (
        pairs_of([getattr(search, name) for search in searches], level=level)
        for name in ("added", "seen")
    )
    before, round_ = columns_of([search.change for search in searches]), searches[0].round
    after = changes_after(before, SearchedPairs(added, seen), plan, round_, level=level)
    for place, fields in zip(places, fields_in(after, len(places)), strict=True):
        under_way[place] = Change.model_validate(fields)
    return under_way


@dataclass(frozen=True)
class SearchedPairs:
    """The pairs of searches, a row each."""

    added: PairHistograms
    """The pairs of the round."""
    seen: PairHistograms
    """The pairs of all rounds of the search."""


def changes_after(
    before: Columns, pairs: SearchedPairs, plan: MonitorPlan, round_: int, *, level: bool
) -> Columns:
    """Return searches after their round: first its bets, then the references that are due."""
    searches = len(pairs.seen.lower)
    numbers, first_rounds, steps = (
        numbers_in(inside({"parts": before}, *names), searches, 0).astype(np.int64)
        for names in (("number",), ("rounds", "since_round"), ("steps",))
    )
    rounds, kept = round_ - first_rounds + 1, KeptReferences.of(before.get("references"), searches)
    steps = steps + (kept.sizes > 0)
    kept = kept.after(pairs.added, steps, round_)
    due = np.flatnonzero(are_due(kept.newest(kept.table.rounds), rounds, plan.reference_rounds))
    if due.size:
        alphas = by_value(partial(search_alpha, plan), numbers[due])
        tolerance = change_tolerance(plan, level=level)
        kept = _with_due(kept, due, rounds, pairs.seen.of_rows(due), alphas, tolerance)
    bounds = by_value(partial(change_bound, plan), numbers)
    typical = TypicalRounds.of(pairs.seen, rounds)
    results = kept.results(SearchedRounds(typical, rounds, steps, bounds))
    changed: dict[str, Column | None] = {
        "references": kept.column,
        "since_round": known_in(results.likeliest, results.likeliest >= 0),
        "reference": {"array": kept.newest(kept.table.values)},
        "allowed": {"array": kept.newest(kept.table.allowed)},
        "steps": {"array": steps},
        "log_evidence": {"array": results.log_evidence},
        "bound": {"array": bounds},
        "smallest": {"array": results.smallest},
        "no_smallest": _why_none(kept, steps, results, plan),
    }
    return present_in({**before, **changed})


def _with_due(
    kept: KeptReferences,
    due: Ints,
    rounds: Ints,
    seen: PairHistograms,
    alphas: Floats,
    tolerance: float,
) -> KeptReferences:
    """Return references with those that a round makes; none is made where no bet is possible."""
    values, allowed = made_references(seen, alphas, np.full(len(due), tolerance))
    possible = ~np.isnan(allowed)
    owners = due[possible]
    bets = LateStarts.none(len(owners), BETS)
    newer = References(values[possible], allowed[possible], rounds[owners], bets)
    return kept.with_new(owners, newer)


def _why_none(
    kept: KeptReferences, steps: Ints, results: ChangeSearchResults, plan: MonitorPlan
) -> Column:
    reasons = [
        None,
        f"a reference needs {plan.reference_rounds} rounds with answers",
        "no round has closed since the reference",
        "no change could be found yet: there are too few units",
    ]
    cases = [~np.isnan(results.smallest), kept.sizes == 0, steps == 0]
    return chosen_from(reasons, np.select(cases, [0, 1, 2], 3))


def is_found(change: Change | None) -> bool:
    """Tell whether the evidence of a change is enough for an alarm."""
    if change is None or change.log_evidence is None or change.bound is None:
        return False
    return change.log_evidence >= change.bound


def are_found(evidence: ComparisonRows[Evidence], name: str) -> Bools:
    """Tell the same of each comparison's search of this name."""
    log_es, bounds = (evidence.numbers(name, field) for field in ("log_evidence", "bound"))
    return np.asarray(log_es >= bounds, dtype=np.bool_)


def change_tolerance(plan: MonitorPlan, *, level: bool) -> float:
    """Return the largest change that does not matter, in what a pair is counted by.

    A level is counted by the sum of both groups, which changes by twice their mean.
    """
    return plan.change_tolerance * (2 if level else 1)
