"""Missing answers of each group, by prompt, and whether their absence is itself a gap."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from services.diagnoser.domain.findings.groupings import Grouping
from services.diagnoser.domain.findings.observations import Observations
from shared.stats.comparisons.missingness import Missingness, missingness


@dataclass(frozen=True)
class GroupedMissingness:
    """What is missing of one feature in one domain of a grouping."""

    feature: str
    dimension: str
    domain: str
    found: Missingness
    """Counts prompts with at least one missing answer: repeats go missing together."""


def missingness_by_group(
    observations: Observations, grouping: Grouping, *, alpha: float, rng: np.random.Generator
) -> Iterator[GroupedMissingness]:
    """Return the absence of every feature in every domain."""
    units = observations.unit_codes()
    missing = ~np.isfinite(observations.values)
    for domain, name in enumerate(grouping.domains):
        groups = np.flatnonzero(grouping.domain_of == domain)
        for index, feature in enumerate(observations.features):
            counted = {}
            for group in groups:
                mine = grouping.codes == group
                lacking = units[mine & missing[:, index]]
                counted[grouping.groups[group].name] = (
                    len(np.unique(lacking)),
                    len(np.unique(units[mine])),
                )
            found = missingness(counted, alpha, rng=rng)
            yield GroupedMissingness(feature, grouping.name, name, found)
