"""One call that reasons first and then chooses one of the options."""

from services.generator.domain.plan import ANSWER, OneCall, Scaffold, SubCall
from services.generator.domain.scaffolds.chain_of_thought import with_request
from services.generator.domain.scaffolds.direct import built
from services.generator.domain.variables import Unfit, options_of
from services.generator.domain.wording import CHOOSE_LAST, NOT_THE_QUESTION
from shared.contracts import Probe


class ReasonAndChoose(OneCall):
    """Asks for the reasoning as part of the answer, so that it can be questioned."""

    def first(self, probe: Probe) -> tuple[SubCall, ...]:
        """See `Scaffold.first`."""
        if not probe.variables:
            return (SubCall(ANSWER, with_request(probe, f"{CHOOSE_LAST} {NOT_THE_QUESTION}")),)
        if not options_of(probe):
            raise Unfit("There are no options; name each in a variable `option:<letter>`.")
        return (built(probe, NOT_THE_QUESTION),)


def build() -> Scaffold:
    """Return the scaffold of this file."""
    return ReasonAndChoose()
