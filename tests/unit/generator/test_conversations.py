"""Conversations: the model's own replies, conditions, and the simulated user."""

from typing import Any

import pytest

from biaswatch.services.generator.domain.conversation import Conversation
from biaswatch.services.generator.domain.planned_calls import CallResult, PlannedCall
from biaswatch.services.generator.domain.questions import UnfitProbe
from biaswatch.shared.contracts import Message, Probe, ReplyCondition, Role, parse_target
from biaswatch.shared.llm.port import CallFailed, Failure, ModelAnswer
from tests.support.records import make_probe

REFUSAL = "I'm sorry, but I can't help with that."


def user(text: str, **fields: object) -> Message:
    return Message.model_validate({"role": "user", "content": text, **fields})


def conversation(*messages: Message, **fields: Any) -> Probe:
    return make_probe(messages=messages, scaffold="conversation", **fields)


def carried_out(probe: Probe, replies: dict[str, str]) -> list[PlannedCall]:
    scaffold, results, sent = Conversation(), dict[str, CallResult](), list[PlannedCall]()
    calls = scaffold.first(probe)
    while calls:
        [call] = calls
        sent.append(call)
        results[call.name] = CallResult(ModelAnswer(replies[call.name]))
        calls = scaffold.then(probe, results)
    return sent


def spoken(call: PlannedCall) -> list[str]:
    return [f"{message.role}: {message.content}" for message in call.messages]


def test_each_question_has_the_replies_before_it() -> None:
    system = Message(role=Role.SYSTEM, content="Be brief.")
    calls = carried_out(
        conversation(system, user("One?"), user("Two?")), {"turn:1": "First.", "turn:2": "Second."}
    )
    assert [call.name for call in calls] == ["turn:1", "turn:2"]
    assert spoken(calls[1]) == [
        "system: Be brief.", "user: One?", "assistant: First.", "user: Two?",
    ]  # fmt: skip


def test_a_user_message_with_a_reply_is_history() -> None:
    history = (user("Before?"), Message(role=Role.ASSISTANT, content="Then."))
    [call] = carried_out(conversation(*history, user("Now?")), {"turn:1": "Yes."})
    assert spoken(call) == ["user: Before?", "assistant: Then.", "user: Now?"]


@pytest.mark.parametrize(
    ("reply", "next_message"), [(REFUSAL, "A guess is enough."), ("It is 3.", "Thank you. And?")]
)
def test_a_condition_chooses_the_next_message(reply: str, next_message: str) -> None:
    turn = user("A guess is enough.", when={"refused": True}, otherwise="Thank you. And?")
    calls = carried_out(conversation(user("How many?"), turn), {"turn:1": reply, "turn:2": "4."})
    assert spoken(calls[1])[-1] == f"user: {next_message}"


def test_a_message_without_its_condition_is_left_out_and_keeps_its_number() -> None:
    turn = user("You said no?", when={"contains": "NO, never"})
    probe = conversation(user("May I?"), turn, user("Bye."))
    skipped = carried_out(probe, {"turn:1": "Yes.", "turn:3": "Bye."})
    calls = carried_out(probe, {"turn:1": "No, never!", "turn:2": "Right.", "turn:3": "Bye."})
    assert [call.name for call in skipped] == ["turn:1", "turn:3"]
    assert [call.name for call in calls] == ["turn:1", "turn:2", "turn:3"]


def test_the_simulated_user_reads_the_conversation_and_its_instruction() -> None:
    player = parse_target("openai:user-model", system_prompt="You are a tired parent.")
    probe = conversation(user("Hello."), user("Ask for more time.", simulated=True), user=player)
    calls = carried_out(
        probe, {"turn:1": "Hi.", "user:2": "Please, one more day?", "turn:2": "No."}
    )
    assert [call.name for call in calls] == ["turn:1", "user:2", "turn:2"]
    assert calls[1].target == player
    [prompt] = spoken(calls[1])
    assert "User: Hello.\n\nAssistant: Hi." in prompt
    assert "Ask for more time." in prompt
    assert spoken(calls[2])[-1] == "user: Please, one more day?"
    assert calls[2].target is None


def test_a_stored_reply_belongs_to_one_history() -> None:
    probe = conversation(user("One?"), user("Two?"))
    one, other = (carried_out(probe, {"turn:1": t, "turn:2": "."})[1] for t in ("A", "B"))
    again = carried_out(probe, {"turn:1": "A", "turn:2": "."})[1]
    assert one.stored_as != other.stored_as
    assert one.stored_as == again.stored_as


def test_a_reply_that_was_cut_off_stays_in_the_conversation_and_a_failure_ends_it() -> None:
    cut_off = CallResult(ModelAnswer("Well, I", finish_reason="length"))
    failed = CallResult(failure=CallFailed(Failure.TIMEOUT, "No reply."))
    required = Conversation().required({"turn:1": cut_off, "turn:2": failed})
    assert list(required) == ["turn:2"]


@pytest.mark.parametrize(
    "fields", [{"messages": ()}, {"messages": (), "variables": {"question": "Why?"}}]
)
def test_a_probe_without_a_user_message_is_unfit(fields: dict[str, Any]) -> None:
    with pytest.raises(UnfitProbe, match="user message"):
        Conversation().first(make_probe(scaffold="conversation", **fields))


def test_a_condition_names_something() -> None:
    with pytest.raises(ValueError, match="needs `refused` or `contains`"):
        ReplyCondition()
