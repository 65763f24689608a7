"""The next round of a search, as a function of its plan and closed rounds."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from biaswatch.shared.analysis.search.proposals import (
    proposals_in,
    suite_of_request,
    wants_proposals,
)
from biaswatch.shared.analysis.search.remaining import RemainingSets, remaining_sets
from biaswatch.shared.analysis.search.replay import SearchState
from biaswatch.shared.analysis.search.twins import probe_key, set_key, suite_of_sets
from biaswatch.shared.contracts import Suite, Target
from biaswatch.shared.contracts.search import (
    MOST_CALLS,
    AskedSet,
    Search,
    SearchRound,
    SetPurpose,
    Space,
)
from biaswatch.shared.formatting import counted
from biaswatch.shared.stats.arrays import Ints
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

    The values of the sets are null. A set's probes are `r{number}s{place}-{twin}`. A round without
    sets asks the model that proposes scenarios, with the only probe of its suite.
    """

    number: int
    sets: tuple[AskedSet, ...]
    suite: Suite
    target: Target
    tenant: str
    space: Space
    """The space, including accepted proposals."""


@dataclass(frozen=True)
class Ended:
    """The end of a search, and why; a larger budget may continue it."""

    reason: str


def next_round(state: SearchState) -> PlannedRound | Ended:
    """Return the next round of a search, or the reason to end it; the state stays unchanged.

    The same search and rounds always have the same next round: drawing depends on the seed of
    the search and the number of the round.
    """
    search, number, sets = state.search, len(state.rounds), planned_sets(state)
    if isinstance(sets, Ended):
        return sets
    if search.proposer is not None and wants_proposals(state):
        suite = suite_of_request(state)
        return PlannedRound(number, (), suite, search.proposer, search.tenant, state.space)
    suite = suite_of_sets(
        state.space,
        f"{search.space.name[:60]}-search-{number}",
        f"Round {number} of a search.",
        state.drawing.copy().draw(number, sets),
    )
    return PlannedRound(number, sets, suite, search.target, search.tenant, state.space)


def planned_sets(state: SearchState) -> tuple[AskedSet, ...] | Ended:
    """Return the sets of the next round, without answers, or the reason to end."""
    search = state.search
    left = (search.calls - state.calls) // len(search.space.groups)
    remaining = remaining_sets(state)
    if reason := _reason_to_end(search, state, left, remaining):
        return Ended(reason)
    size = min(search.sets_per_round, left)
    return tuple(_sets(search, state, len(state.rounds), size, left, remaining))


def answered(
    planned: PlannedRound,
    search_id: str,
    run_id: str,
    values: Mapping[str, float | None],
    at: datetime,
    reply: str | None = None,
) -> SearchRound:
    """Return a round with its answers.

    Parameters
    ----------
    values
        The measured feature by the key of the probe; a missing key is a missing answer.
    reply
        The reply to a request for scenarios.
    """
    twins = len(planned.space.groups)
    proposals = proposals_in(reply or "", planned.space)
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
        proposed=proposals.accepted,
        refused=proposals.refused,
        at=at,
    )


def _reason_to_end(
    search: Search, state: SearchState, left: int, remaining: RemainingSets
) -> str | None:
    """Return why no further round can be sent or can find anything."""
    if left < 1:
        return f"The budget of {counted(search.calls, 'call')} is spent."
    if state.sets >= MAX_UNMEASURED_SETS and not state.measured:
        return f"None of {state.sets:,} sets has an answer of every twin."
    if next(state.pending(), None) is not None or _can_find(state, remaining.hypotheses, left):
        return None
    if not _can_find(state, np.full_like(remaining.hypotheses, MOST_CALLS), MOST_CALLS):
        return "Every topic is part of a finding: more sets would only repeat it."
    if not _can_find(state, remaining.hypotheses, MOST_CALLS):
        return (
            "Too few new questions are left to find anything more. More persons, wordings, topics"
            " or contexts make the space larger."
        )
    return f"The rest of the budget, {counted(left, 'set')}, cannot find anything more."


def _can_find(state: SearchState, remaining: Ints, left: int) -> bool:
    """Return whether further sets may find anything."""
    limits = np.minimum(remaining, left)
    return not cannot_find_more(state.evidence, state.sizes, state.search.alpha, limits)


def _sets(
    search: Search, state: SearchState, number: int, size: int, left: int, remaining: RemainingSets
) -> list[AskedSet]:
    """Return the sets of a round: confirmation, then placebo twins, then evidence."""
    rng = np.random.default_rng([search.seed, number])
    pending = list(state.pending())
    if not _can_find(state, remaining.hypotheses, left):
        return state.sets_for(pending[:size], SetPurpose.CONFIRMATION, rng)
    # Pending confirmation has priority over the last sets of the budget.
    confirming = min(max((size + 1) // 2, len(pending) - (left - size)), size)
    sets = state.sets_for(pending[:confirming], SetPurpose.CONFIRMATION, rng)
    due = int(PLACEBO_SHARE * (state.sets + size)) - state.purposes[SetPurpose.PLACEBO]
    placebo = min(max(due, 0), size - len(sets))
    spread = AskedCells(
        rng.integers(state.sizes.topics, size=placebo),
        rng.integers(state.sizes.contexts, size=placebo),
    )
    sets += state.unanswered_sets(spread, SetPurpose.PLACEBO)
    if rest := min(size - len(sets), int(remaining.cells.sum())):
        cells = next_cells(
            state.evidence,
            state.sizes,
            search.alpha,
            rest,
            rng,
            state.sets_by_cell,
            remaining.cells,
        )
        sets += state.unanswered_sets(cells, SetPurpose.EVIDENCE)
    return sets
