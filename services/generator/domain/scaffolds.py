"""Scaffolds: how a probe becomes model calls and an answer."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from statistics import fmean
from typing import Protocol

from biaswatch.services.generator.domain.questions import (
    CHOOSE_LAST,
    CRITERION,
    NOT_THE_QUESTION,
    SCALE,
    STEP_BY_STEP,
    THEN_AS_ASKED,
    RatingScale,
    UnfitProbe,
    all_criteria,
    choice_instruction,
    choice_schema,
    criteria_of,
    has_criteria,
    judgements,
    listed,
    material_of,
    one_criterion,
    options_of,
    question_of,
    rating_instruction,
    rating_schema,
    scale_of,
    user,
)
from biaswatch.shared.contracts import Message, Probe, Role, Usage
from biaswatch.shared.llm.port import AnswerSchema, CallFailed, ModelAnswer

ANSWER = "answer"
"""The name of the only call of a scaffold that makes one."""


@dataclass(frozen=True)
class PlannedCall:
    """One call of a plan."""

    name: str
    messages: tuple[Message, ...]
    answer_schema: AnswerSchema | None = None
    """The schema its answer is to have."""
    scale: RatingScale | None = None
    """The scale of the rating that is read from it, where the plan needs one."""


@dataclass(frozen=True)
class CallResult:
    """What one call brought."""

    answer: ModelAnswer | None = None
    failure: CallFailed | None = None
    rating: float | None = None
    unread: str | None = None
    """Why there is an answer and no rating."""
    usage: Usage = field(default_factory=Usage)

    @property
    def text(self) -> str:
        """The words of the answer, empty without one."""
        return self.answer.text if self.answer else ""


class Scaffold(Protocol):
    """How a probe becomes calls and an answer; pure, so the same probe gives the same calls.

    What is not said otherwise is that of a scaffold with one call.
    """

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """Return the first calls, made at the same time; raise UnfitProbe where there are none."""

    def then(self, probe: Probe, results: Mapping[str, CallResult]) -> tuple[PlannedCall, ...]:
        """Return the calls that waited for those; none at the end."""
        return ()

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """Return the answer; raise Unreadable where the results allow none."""
        return results[ANSWER].text


class Direct(Scaffold):
    """Asks what the probe says, or builds the question from its variables."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        return (built(probe) if probe.variables else PlannedCall(ANSWER, probe.messages),)


class ChainOfThought(Scaffold):
    """Adds the request to think to whatever the probe asks."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        if probe.variables:
            return (built(probe, STEP_BY_STEP),)
        return (PlannedCall(ANSWER, with_request(probe, f"{STEP_BY_STEP} {THEN_AS_ASKED}")),)


class ReasonAndChoose(Scaffold):
    """Asks for the reasoning as part of the answer, so that it can be questioned."""

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        if not probe.variables:
            return (PlannedCall(ANSWER, with_request(probe, f"{CHOOSE_LAST} {NOT_THE_QUESTION}")),)
        if not options_of(probe):
            raise UnfitProbe("There are no options; name each in a variable `option:<letter>`.")
        return (built(probe, NOT_THE_QUESTION),)


def built(probe: Probe, *how: str) -> PlannedCall:
    """Build the one question from variables; `how` is what another scaffold adds to it."""
    question, material, options = question_of(probe), material_of(probe), options_of(probe)
    if options:
        asked = user(question, choice_instruction(options), *how, material, listed(options))
        return PlannedCall(ANSWER, (asked,), choice_schema(options))
    if SCALE not in probe.variables:
        return PlannedCall(ANSWER, (user(question, *how, material),))
    scale = scale_of(probe)
    weighed = all_criteria(criteria_of(probe)) if has_criteria(probe) else ""
    asked = user(question, rating_instruction(scale), weighed, *how, material)
    return PlannedCall(ANSWER, (asked,), rating_schema(scale))


def with_request(probe: Probe, request: str) -> tuple[Message, ...]:
    """Return the probe's messages with a request at the end of the user's last turn."""
    *before, last = probe.messages
    if last.role is not Role.USER:
        return (*probe.messages, user(request))
    return (*before, user(last.content, request))


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


SCAFFOLDS: Mapping[str, Callable[[], Scaffold]] = {
    "direct": Direct,
    "chain_of_thought": ChainOfThought,
    "reason_and_choose": ReasonAndChoose,
    "decomposed": Decomposed,
    "decomposed_algorithmic": DecomposedAlgorithmic,
}
"""Constructors by name; a new scaffold is a class and a row here."""


def scaffold_of(name: str) -> Scaffold:
    """Return the scaffold of this name, or raise UnfitProbe."""
    if name not in SCAFFOLDS:
        raise UnfitProbe(f"There is no scaffold {name}; there are {', '.join(sorted(SCAFFOLDS))}.")
    return SCAFFOLDS[name]()
