"""The steps of a recorded answer as results of calls, which they once were."""

from collections.abc import Sequence

from biaswatch.services.generator.domain.questions import (
    CRITERION,
    OFF_SCALE,
    RatingScale,
    has_scale,
    rating_in,
    scale_of,
)
from biaswatch.services.generator.domain.scaffolds import CallResult
from biaswatch.shared.contracts import Probe, Usage
from biaswatch.shared.llm.port import ModelAnswer, RecordedStep
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.parsing.model_reasoning import after_reasoning

NOTHING_SPENT = Usage(calls=0)
ANY_NUMBER = RatingScale(-(10**12), 10**12, whole=False)
"""Where the probe names no scale."""


def recorded_results(probe: Probe, steps: Sequence[RecordedStep]) -> dict[str, CallResult]:
    """Return each step's result by its name.

    A criterion that was recorded without a rating has the one its text states. Ratings must lie on
    the probe's scale, where it names one. What cannot be read has a reason, and the answer counts
    nevertheless: it was given.

    Raises
    ------
    UnfitProbe
        What the probe names as its scale is none.
    """
    scale = scale_of(probe) if has_scale(probe) else ANY_NUMBER
    return {step.name: _result(step, scale) for step in steps}


def _result(step: RecordedStep, scale: RatingScale) -> CallResult:
    parts = after_reasoning(step.text)
    answer = ModelAnswer(parts.answer, reasoning=parts.reasoning) if parts.answer else None
    if step.rating is None and not step.name.startswith(CRITERION):
        return CallResult(answer, usage=NOTHING_SPENT)
    try:
        rating = rating_in(parts.answer, scale) if step.rating is None else step.rating
    except Unreadable as unread:
        return CallResult(answer, unread=str(unread), usage=NOTHING_SPENT)
    if not scale.holds(rating):
        return CallResult(answer, unread=OFF_SCALE, usage=NOTHING_SPENT)
    return CallResult(answer, rating=rating, usage=NOTHING_SPENT)
