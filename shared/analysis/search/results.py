"""Results of a search: what was found, what could have been found, and what was spent."""

from collections.abc import Sequence

from biaswatch.shared.analysis.search.drawing import is_about_names
from biaswatch.shared.analysis.search.replay import Replay, replay
from biaswatch.shared.contracts.search import Search, SearchRound, SetPurpose
from biaswatch.shared.requests.searches import (
    PlaceboGaps,
    RegionCoverage,
    SearchCoverage,
    SearchResults,
    SearchSpent,
)
from biaswatch.shared.stats.estimate import SummaryWord, undefined


def results_of(search: Search, rounds: Sequence[SearchRound], ended: str | None) -> SearchResults:
    """Return what a search has found so far, and what it could have found.

    Parameters
    ----------
    ended
        Why the search ended; None while it goes on.
    """
    state = replay(search, rounds)
    nothing = RegionCoverage(
        name="everywhere", sets=0, missing=0, smallest_gap=undefined("not asked")
    )
    return SearchResults(
        word=SummaryWord.INCONCLUSIVE if state.measured else SummaryWord.NOT_MEASURED,
        headline="Nothing was found.",
        ended=ended,
        about_names=is_about_names(search),
        findings=[],
        coverage=SearchCoverage(topics=[], contexts=[], areas=[], everywhere=nothing),
        placebo=PlaceboGaps(sets=0, differing=None, mean_gap=None),
        spent=spent_of(state),
    )


def spent_of(state: Replay) -> SearchSpent:
    """Return what was spent."""
    sets = [drawn for sets in state.rounds for drawn in sets]
    return SearchSpent(
        calls=state.calls,
        budget=state.search.calls,
        rounds=len(state.rounds),
        sets=len(sets),
        placebo_sets=state.placebo_sets,
        confirmation_sets=sum(d.asked.purpose is SetPurpose.CONFIRMATION for d in sets),
        missing=sum(d.asked.values.count(None) for d in sets),
        repeated_sets=sum(not d.new_prompts for d in sets),
    )
