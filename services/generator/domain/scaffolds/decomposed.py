"""Each criterion judged by a call of its own; a last call weighs the judgements, or their mean."""

import json
from collections.abc import Mapping
from statistics import fmean

from biaswatch.services.generator.domain.questions import (
    CRITERION,
    criteria_of,
    judgements,
    material_of,
    one_criterion,
    question_of,
    rating_instruction,
    rating_schema,
    scale_of,
    user,
)
from biaswatch.services.generator.domain.scaffolds import CallResult, PlannedCall, Scaffold
from biaswatch.shared.contracts import Probe

SYNTHESIS = "synthesis"


class Decomposed(Scaffold):
    """Criteria first, all at the same time; the synthesis reads every one of them."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        return criteria_calls(probe)

    def then(self, probe: Probe, results: Mapping[str, CallResult]) -> tuple[PlannedCall, ...]:
        """See `Scaffold.then`."""
        if SYNTHESIS in results:
            return ()
        scale = scale_of(probe)
        given = {
            name.removeprefix(CRITERION): (each.rating, each.text)
            for name, each in results.items()
            if each.rating is not None
        }
        asked = user(
            question_of(probe), rating_instruction(scale), judgements(given), material_of(probe)
        )
        return (PlannedCall(SYNTHESIS, (asked,), rating_schema(scale)),)

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """See `Scaffold.conclude`."""
        return results[SYNTHESIS].text


class DecomposedAlgorithmic(Scaffold):
    """Leaves nothing of the weighing to the model."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        return criteria_calls(probe)

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """Return the mean and what it is the mean of."""
        ratings = {
            name.removeprefix(CRITERION): each.rating
            for name, each in results.items()
            if each.rating is not None
        }
        mean = scale_of(probe).rounded(fmean(ratings.values()))
        return json.dumps({"criteria": ratings, "rating": mean}, ensure_ascii=False)


def criteria_calls(probe: Probe) -> tuple[PlannedCall, ...]:
    """Return one call for each criterion, with the whole of its guidance."""
    scale = scale_of(probe)
    question, how, material = question_of(probe), rating_instruction(scale), material_of(probe)
    asked = {
        name: user(question, how, one_criterion(name, guidance), material)
        for name, guidance in criteria_of(probe).items()
    }
    schema = rating_schema(scale)
    return tuple(
        PlannedCall(CRITERION + name, (each,), schema, scale) for name, each in asked.items()
    )


SCAFFOLDS = {"decomposed": Decomposed, "decomposed_algorithmic": DecomposedAlgorithmic}
