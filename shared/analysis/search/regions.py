"""A suite of fresh twins in the regions that a search has found."""

import numpy as np

from biaswatch.shared.analysis.search.replay import SearchState
from biaswatch.shared.analysis.search.twins import suite_of_sets
from biaswatch.shared.contracts import Suite
from biaswatch.shared.contracts.search import SetPurpose
from biaswatch.shared.errors import UsageError


def suite_of_findings(state: SearchState, sets: int) -> Suite:
    """Return a suite of fresh twins in the regions found, to run, compare and monitor.

    The scenarios of a region are drawn from those of its evidence; the fact `finding` numbers the
    findings as in the results, from 1. Verdicts are about the questions found, for persons beyond
    those asked where a group has enough names.

    Parameters
    ----------
    sets
        Number of sets of each finding, at least 1.

    Raises
    ------
    UsageError
        Nothing was found, or there are no sets.
    """
    if sets < 1:
        raise UsageError("A suite of findings needs at least one set of each finding.")
    if not state.findings:
        raise UsageError("The search has found nothing, so there are no twins to ask again.")
    search, number = state.search, len(state.rounds)
    rng = np.random.default_rng([search.seed, number])
    numbers = [finding for finding in state.findings for _ in range(sets)]
    record = state.sets_for(numbers, SetPurpose.CONFIRMATION, rng)
    suite = suite_of_sets(
        state.space,
        f"{search.space.name[:60]}-findings",
        "Fresh twins of the regions that a search has found.",
        state.drawing.copy().draw(number, record),
    )
    twins = sets * len(search.space.groups)
    probes = tuple(
        probe.model_copy(update={"facts": {**probe.facts, "finding": str(place // twins + 1)}})
        for place, probe in enumerate(suite.probes)
    )
    random = () if state.drawing.about_names else ("name",)
    return suite.model_copy(update={"probes": probes, "random": random})
