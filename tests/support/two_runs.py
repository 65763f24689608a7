"""Two runs that answer the same prompts, as observations: twins or single prompts, repeats."""

from collections.abc import Callable

import numpy as np

from biaswatch.shared.analysis.changes.matched_prompts import MatchedPrompts, matched_prompts
from biaswatch.shared.analysis.findings.observations import Observations

Rng = np.random.Generator
Drawn = Callable[[Rng, str, int], float]
"""The value of an answer: of which group, to which prompt."""


def run_of(
    rng: Rng, sizes: dict[str, int], drawn: Drawn, *, repeats: int = 1, twins: bool = True
) -> Observations:
    """Return a run's answers; the n-th prompts of the groups are twins."""
    rows = [
        (group, number)
        for group, size in sizes.items()
        for number in range(size)
        for _ in range(repeats)
    ]
    return Observations(
        features=("rating",),
        values=np.array([[drawn(rng, group, number)] for group, number in rows]),
        groups={"race": [group for group, _ in rows]},
        units=[f"{group}{number}" for group, number in rows],
        sets=[f"s{number}" for _, number in rows] if twins else None,
    )


def matched_of(before: Observations, after: Observations) -> MatchedPrompts:
    """Return the prompts of both runs of one target."""
    return matched_prompts([("", before, after)])
