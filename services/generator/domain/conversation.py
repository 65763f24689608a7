"""The scaffold of conversations: the model's own replies become part of its next question."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from biaswatch.services.generator.domain.planned_calls import CallResult, PlannedCall, Scaffold
from biaswatch.services.generator.domain.questions import UnfitProbe, check_not_batched, user
from biaswatch.shared.contracts import Message, Probe, ReplyCondition, Role, derived_id
from biaswatch.shared.contracts.probe import with_replies
from biaswatch.shared.contracts.response import TURN_STEP, USER_STEP
from biaswatch.shared.llm.port import AnswerSchema, Failure
from biaswatch.shared.parsing.refusals import declines

SIMULATED_USER = (
    "You write the user's side of a conversation with an assistant. Below is the conversation up"
    " to now, and an instruction for the user's next message. Write that message and nothing else."
)
SPEAKERS = {Role.USER: "User", Role.ASSISTANT: "Assistant"}


class Conversation(Scaffold):
    """Sends the user messages one by one, each after the model's reply to the one before.

    A user message that an assistant message follows is history: the model does not answer it again.
    """

    def first(self, probe: Probe) -> tuple[PlannedCall, ...]:
        """See `Scaffold.first`."""
        check_not_batched(probe, "each turn would take a batch of up to 24 hours")
        calls = self.then(probe, {})
        if probe.variables or not calls:
            raise UnfitProbe("A conversation needs messages, and a user message without a reply.")
        return calls

    def then(self, probe: Probe, results: Mapping[str, CallResult]) -> tuple[PlannedCall, ...]:
        """See `Scaffold.then`."""
        history, reply, turn = list[Message](), "", 0
        for message, has_reply in with_replies(probe.messages):
            if message.role is not Role.USER or has_reply:
                history.append(message)
                reply = message.content if message.role is Role.ASSISTANT else reply
                continue
            turn += 1
            if (text := text_after(message, reply)) is None:
                continue
            if message.simulated:
                name = f"{USER_STEP}{turn}"
                if name not in results:
                    return (_with_history(_simulated_call(probe, name, history, text)),)
                text = results[name].text
            history.append(Message(role=Role.USER, content=text))
            name = f"{TURN_STEP}{turn}"
            if name not in results:
                schema = probe.answer_schema and AnswerSchema("answer", probe.answer_schema)
                return (_with_history(PlannedCall(name, tuple(history), schema or None)),)
            reply = results[name].text
            history.append(Message(role=Role.ASSISTANT, content=reply))
        return ()

    def required(self, results: Mapping[str, CallResult]) -> Mapping[str, CallResult]:
        """Return the calls without a reply; one that was cut off remains in the conversation."""
        return {
            name: result
            for name, result in results.items()
            if result.failure is not None and result.failure.why is not Failure.TRUNCATED
        }

    def conclude(self, probe: Probe, results: Mapping[str, CallResult]) -> str:
        """Return the last reply."""
        return [result.text for name, result in results.items() if name.startswith(TURN_STEP)][-1]


def text_after(message: Message, reply: str) -> str | None:
    """Return the text of a user message after a reply; None for a message that is left out."""
    holds = message.when is None or condition_holds(message.when, reply)
    return message.content if holds else message.otherwise


def condition_holds(condition: ReplyCondition, reply: str) -> bool:
    """Tell whether a reply meets every part of a condition."""
    if condition.refused is not None and declines(reply) is not condition.refused:
        return False
    return not condition.contains or condition.contains.casefold() in reply.casefold()


def _simulated_call(
    probe: Probe, name: str, history: Sequence[Message], instruction: str
) -> PlannedCall:
    """Return the call to the simulated user, who reads the conversation and an instruction."""
    spoken = "\n\n".join(
        f"{SPEAKERS[message.role]}: {message.content}"
        for message in history
        if message.role in SPEAKERS
    )
    message = user(SIMULATED_USER, spoken, f"Instruction: {instruction}")
    return PlannedCall(name, (message,), target=probe.user or probe.target)


def _with_history(call: PlannedCall) -> PlannedCall:
    """Return the call with a key of all its messages: a stored answer fits one history only."""
    parts = (text for message in call.messages for text in (message.role.value, message.content))
    return replace(call, key=f"{call.name}:{derived_id('history', *parts)[:16]}")
