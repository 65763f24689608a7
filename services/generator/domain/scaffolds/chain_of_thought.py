"""One call that is asked to think step by step before it answers."""

from services.generator.domain.plan import ANSWER, OneCall, Scaffold, SubCall
from services.generator.domain.scaffolds.direct import built
from services.generator.domain.wording import STEP_BY_STEP, THEN_AS_ASKED, user
from shared.contracts import Message, Probe, Role


class ChainOfThought(OneCall):
    """Adds the request to think to whatever the probe asks."""

    def first(self, probe: Probe) -> tuple[SubCall, ...]:
        """See `Scaffold.first`."""
        if probe.variables:
            return (built(probe, STEP_BY_STEP),)
        return (SubCall(ANSWER, with_request(probe, f"{STEP_BY_STEP} {THEN_AS_ASKED}")),)


def with_request(probe: Probe, request: str) -> tuple[Message, ...]:
    """Return the probe's messages with a request at the end of the user's last turn."""
    *before, last = probe.messages
    if last.role is not Role.USER:
        return (*probe.messages, user(request))
    return (*before, user(last.content, request))


def build() -> Scaffold:
    """Return the scaffold of this file."""
    return ChainOfThought()
