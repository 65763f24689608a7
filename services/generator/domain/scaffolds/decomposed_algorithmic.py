"""Each criterion judged by a call of its own; the answer is their mean, rounded, without a call."""

import json
from collections.abc import Mapping
from statistics import fmean

from services.generator.domain.plan import Heard, Scaffold, SubCall
from services.generator.domain.scaffolds.decomposed import criteria_calls
from services.generator.domain.variables import CRITERION, scale_of
from shared.contracts import Probe


class DecomposedAlgorithmic:
    """Leaves nothing of the weighing to the model."""

    def first(self, probe: Probe) -> tuple[SubCall, ...]:
        """See `Scaffold.first`."""
        return criteria_calls(probe)

    def then(self, probe: Probe, heard: Mapping[str, Heard]) -> tuple[SubCall, ...]:
        """See `Scaffold.then`."""
        return ()

    def conclude(self, probe: Probe, heard: Mapping[str, Heard]) -> str:
        """Return the mean and what it is the mean of."""
        ratings = {
            name.removeprefix(CRITERION): each.rating
            for name, each in heard.items()
            if each.rating is not None
        }
        mean = scale_of(probe).rounded(fmean(ratings.values()))
        return json.dumps({"criteria": ratings, "rating": mean}, ensure_ascii=False)


def build() -> Scaffold:
    """Return the scaffold of this file."""
    return DecomposedAlgorithmic()
