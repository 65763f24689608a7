"""The texts of a response to measure: its answer, or every reply of a conversation."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from biaswatch.services.extractor.domain.extractor import Measured
from biaswatch.shared.contracts import CONVERSATION, Ending, Response
from biaswatch.shared.contracts.derived_features import over_conversation
from biaswatch.shared.contracts.probe import turn_count
from biaswatch.shared.contracts.providers import is_recorded
from biaswatch.shared.contracts.response import STEP_LIMIT, TURN_STEP
from biaswatch.shared.contracts.tools import TOOLS, ToolStep

STEPS = "steps"
"""The extractor that also measures responses that reached the limit of steps."""
TRUNCATED = "truncated"
"""The reason of a text that ended at its limit of tokens."""


@dataclass(frozen=True)
class ReplyText:
    """One text to measure."""

    text: str | None
    reason: str | None
    """Why the answer is missing or incomplete."""
    turn: int = 0
    """The user message that it answers, from 1; 0 for the only answer."""

    def is_measurable(self, response: Response, extractor: str) -> bool:
        """Tell whether it is an answer, or was cut off and may have the requested part."""
        if extractor == STEPS and self.reason == STEP_LIMIT:
            return bool(response.tool_steps)  # purged ones would look like none
        requested = response.probe.requested
        may_be_complete = requested is not None and requested.part == extractor
        return self.text is not None and (
            self.reason is None or (self.reason == TRUNCATED and may_be_complete)
        )


def texts_of(response: Response) -> Iterator[ReplyText]:
    """Yield the answer, or the replies of a conversation that ended."""
    turns = [step for step in response.steps if step.name.startswith(TURN_STEP)]
    ended = response.ending is Ending.ANSWERED or response.reason == TRUNCATED
    if response.probe.scaffold != CONVERSATION or not turns or not ended:
        reason = None if response.ending is Ending.ANSWERED else response.reason or "failed"
        yield ReplyText(response.text, reason)
        return
    for step in turns:
        turn = int(step.name.removeprefix(TURN_STEP))
        yield ReplyText(response.said.get(step.name), step.reason, turn)


def steps_of(response: Response) -> tuple[ToolStep, ...] | None:
    """Return the calls of tools in a response; None where they were not recorded."""
    target = response.probe.target
    with_tools = response.probe.scaffold == TOOLS and not is_recorded(target.provider)
    recorded = with_tools or target.parameters.get("steps") or response.tool_steps
    return response.tool_steps if recorded else None


def combined(
    response: Response, features: Sequence[str], measured: Sequence[tuple[ReplyText, Measured]]
) -> Measured:
    """Return the measurement of a response from those of its texts."""
    if len(measured) == 1 and measured[0][0].turn == 0:
        return measured[0][1]
    reasons = [reason for _, (_, reason) in measured if reason]
    if len(reasons) == len(measured):
        return {}, reasons[0]
    turns = {text.turn: values for text, (values, _) in measured}
    return over_conversation(features, turns, turn_count(response.probe.messages)), None
