"""A search: its next round, its results, and a suite of what it found; all pure."""

from biaswatch.shared.analysis.search.regions import suite_of_findings
from biaswatch.shared.analysis.search.replay import SearchState, replay
from biaswatch.shared.analysis.search.results import results_of
from biaswatch.shared.analysis.search.rounds import Ended, PlannedRound, answered, next_round

__all__ = [
    "Ended",
    "PlannedRound",
    "SearchState",
    "answered",
    "next_round",
    "replay",
    "results_of",
    "suite_of_findings",
]
