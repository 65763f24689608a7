"""The question as it is, in one call."""

from services.generator.domain.plan import ANSWER, OneCall, Scaffold, SubCall
from services.generator.domain.variables import (
    SCALE,
    criteria_of,
    has_criteria,
    material_of,
    options_of,
    question_of,
    scale_of,
)
from services.generator.domain.wording import (
    all_criteria,
    choice_form,
    choice_instruction,
    listed,
    rating_form,
    rating_instruction,
    user,
)
from shared.contracts import Probe


class Direct(OneCall):
    """Asks what the probe says, or builds the question from its variables."""

    def first(self, probe: Probe) -> tuple[SubCall, ...]:
        """See `Scaffold.first`."""
        return (built(probe) if probe.variables else SubCall(ANSWER, probe.messages),)


def built(probe: Probe, *how: str) -> SubCall:
    """Build the one question from variables; `how` is what another scaffold adds to it."""
    question, material, options = question_of(probe), material_of(probe), options_of(probe)
    if options:
        asked = user(question, choice_instruction(options), *how, material, listed(options))
        return SubCall(ANSWER, (asked,), choice_form(options))
    if SCALE not in probe.variables:
        return SubCall(ANSWER, (user(question, *how, material),))
    scale = scale_of(probe)
    weighed = all_criteria(criteria_of(probe)) if has_criteria(probe) else ""
    asked = user(question, rating_instruction(scale), weighed, *how, material)
    return SubCall(ANSWER, (asked,), rating_form(scale))


def build() -> Scaffold:
    """Return the scaffold of this file."""
    return Direct()
