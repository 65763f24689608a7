"""The scaffolds of one call: as the question is, step by step, or reasons before the choice."""

from biaswatch.services.generator.domain.questions import (
    CHOOSE_LAST,
    NOT_THE_QUESTION,
    SCALE,
    STEP_BY_STEP,
    THEN_AS_ASKED,
    UnfitProbe,
    all_criteria,
    choice_instruction,
    choice_schema,
    criteria_of,
    has_criteria,
    listed,
    material_of,
    options_of,
    question_of,
    rating_instruction,
    rating_schema,
    scale_of,
    user,
)
from biaswatch.services.generator.domain.scaffolds import ANSWER, PlannedCall, Scaffold
from biaswatch.shared.contracts import Message, Probe, Role


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


SCAFFOLDS = {
    "direct": Direct,
    "chain_of_thought": ChainOfThought,
    "reason_and_choose": ReasonAndChoose,
}
