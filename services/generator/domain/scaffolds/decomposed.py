"""Each criterion judged by a call of its own, then a call that weighs the judgements."""

from collections.abc import Mapping

from services.generator.domain.plan import Heard, Scaffold, SubCall
from services.generator.domain.variables import (
    CRITERION,
    criteria_of,
    material_of,
    question_of,
    scale_of,
)
from services.generator.domain.wording import (
    judgements,
    one_criterion,
    rating_form,
    rating_instruction,
    user,
)
from shared.contracts import Probe

SYNTHESIS = "synthesis"


class Decomposed:
    """Criteria first, all at the same time; the synthesis reads every one of them."""

    def first(self, probe: Probe) -> tuple[SubCall, ...]:
        """See `Scaffold.first`."""
        return criteria_calls(probe)

    def then(self, probe: Probe, heard: Mapping[str, Heard]) -> tuple[SubCall, ...]:
        """See `Scaffold.then`."""
        if SYNTHESIS in heard:
            return ()
        scale = scale_of(probe)
        given = {
            name.removeprefix(CRITERION): (each.rating, each.text)
            for name, each in heard.items()
            if each.rating is not None
        }
        asked = user(
            question_of(probe), rating_instruction(scale), judgements(given), material_of(probe)
        )
        return (SubCall(SYNTHESIS, (asked,), rating_form(scale)),)

    def conclude(self, probe: Probe, heard: Mapping[str, Heard]) -> str:
        """See `Scaffold.conclude`."""
        return heard[SYNTHESIS].text


def criteria_calls(probe: Probe) -> tuple[SubCall, ...]:
    """Return one call for each criterion, with the whole of its guidance."""
    scale = scale_of(probe)
    return tuple(
        SubCall(
            CRITERION + name,
            (
                user(
                    question_of(probe),
                    rating_instruction(scale),
                    one_criterion(name, guidance),
                    material_of(probe),
                ),
            ),
            rating_form(scale),
            scale,
        )
        for name, guidance in criteria_of(probe).items()
    )


def build() -> Scaffold:
    """Return the scaffold of this file."""
    return Decomposed()
