"""The next round of a search, as a function of its plan and closed rounds."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from biaswatch.shared.analysis.search.replay import SearchState, replay
from biaswatch.shared.analysis.search.twins import probe_key, set_key, suite_of_sets
from biaswatch.shared.contracts import Suite
from biaswatch.shared.contracts.search import AskedSet, Search, SearchRound, SetPurpose
from biaswatch.shared.stats.search.allocation import next_cells
from biaswatch.shared.stats.search.evidence import cannot_find_more
from biaswatch.shared.stats.search.hypotheses import AskedCells

PLACEBO_SHARE = 0.1
"""Share of the sets that are placebo twins."""
MAX_UNMEASURED_SETS = 100
"""Sets after which a search without a measured set ends."""


@dataclass(frozen=True)
class PlannedRound:
    """The sets of the next round, and the suite that asks them.

    The values of the sets are null. A set's probes are `r{number}s{place}-{twin}`.
    """

    number: int
    sets: tuple[AskedSet, ...]
    suite: Suite
    tenant: str


@dataclass(frozen=True)
class Ended:
    """The end of a search, and why; a larger budget may continue it."""

    reason: str


def next_round(search: Search, rounds: Sequence[SearchRound]) -> PlannedRound | Ended:
    """Return the next round of a search, or the reason to end it.

    The same search and rounds always have the same next round: drawing depends on the seed of
    the search and the number of the round.

    Parameters
    ----------
    search
        The plan; only its budget may have been raised since the first round.
    rounds
        All closed rounds, in order.
    """
    state = replay(search, rounds)
    number, sets = len(rounds), planned_sets(state)
    if isinstance(sets, Ended):
        return sets
    suite = suite_of_sets(
        search.space,
        f"{search.space.name[:60]}-search-{number}",
        f"Round {number} of a search.",
        state.drawing.draw(number, sets),
    )
    return PlannedRound(number, sets, suite, search.tenant)


def planned_sets(state: SearchState) -> tuple[AskedSet, ...] | Ended:
    """Return the sets of the next round, without answers, or the reason to end."""
    search = state.search
    left = (search.calls - state.calls) // len(search.space.groups)
    if reason := _reason_to_end(search, state, left):
        return Ended(reason)
    size = min(search.sets_per_round, left)
    return tuple(_sets(search, state, len(state.rounds), size, left))


def answered(
    planned: PlannedRound,
    search_id: str,
    run_id: str,
    values: Mapping[str, float | None],
    at: datetime,
) -> SearchRound:
    """Return a round with its answers.

    Parameters
    ----------
    values
        The measured feature by the key of the probe; a missing key is a missing answer.
    """
    twins = len(planned.sets[0].values)
    sets = tuple(
        record.model_copy(
            update={
                "values": tuple(
                    values.get(probe_key(set_key(planned.number, place), twin))
                    for twin in range(twins)
                )
            }
        )
        for place, record in enumerate(planned.sets)
    )
    return SearchRound(
        tenant=planned.tenant,
        search_id=search_id,
        number=planned.number,
        run_id=run_id,
        sets=sets,
        at=at,
    )


def _reason_to_end(search: Search, state: SearchState, left: int) -> str | None:
    """Return why no further round can be sent or can find anything."""
    if left < 1:
        return f"The budget of {search.calls:,} calls is spent."
    if state.sets >= MAX_UNMEASURED_SETS and not state.measured:
        return f"None of {state.sets:,} sets has an answer of every twin."
    if next(state.pending(), None) is not None:
        return None
    if cannot_find_more(state.evidence, state.sizes, search.alpha, left):
        return f"The {left:,} sets that are left cannot find anything more."
    return None


def _sets(search: Search, state: SearchState, number: int, size: int, left: int) -> list[AskedSet]:
    """Return the sets of a round: confirmation, then placebo twins, then evidence."""
    rng = np.random.default_rng([search.seed, number])
    pending = list(state.pending())
    # Pending confirmation has priority over the last sets of the budget.
    confirming = min(max((size + 1) // 2, len(pending) - (left - size)), size)
    sets = state.sets_for(pending[:confirming], SetPurpose.CONFIRMATION, rng)
    due = int(PLACEBO_SHARE * (state.sets + size)) - state.purposes[SetPurpose.PLACEBO]
    placebo = min(max(due, 0), size - len(sets))
    spread = AskedCells.of(
        rng.integers(state.sizes.topics, size=placebo),
        rng.integers(state.sizes.contexts, size=placebo),
    )
    sets += state.unanswered_sets(spread, SetPurpose.PLACEBO)
    if rest := size - len(sets):
        cells = next_cells(state.evidence, state.sizes, search.alpha, rest, rng, state.sets_by_cell)
        sets += state.unanswered_sets(cells, SetPurpose.EVIDENCE)
    return sets
