"""Reasoning that a reply carries is kept beside the answer, in each wire format and spelling."""

from typing import Any

import pytest

from biaswatch.services.generator.domain.outcome import (
    MAX_REASONING_CHARACTERS,
    final_answer,
    recorded_results,
    response_from_call,
    response_from_plan,
    shrink_to_bus,
)
from biaswatch.services.generator.domain.planned_calls import CallResult
from biaswatch.services.generator.domain.questions import RatingScale, rating_on
from biaswatch.shared.contracts import Ending, Usage
from biaswatch.shared.llm.port import CallFailed, ModelAnswer, RecordedStep
from tests.integration.generator.test_wire_formats import adapter, call
from tests.support.model_server import model_server, replying
from tests.support.records import AT, make_probe

PERHAPS, RATED = "Perhaps Rating: 1.", "Rating: 3"
TEXT = {"type": "text", "text": RATED}


def chat(**message: Any) -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}]}


def responses(*items: dict[str, Any]) -> dict[str, Any]:
    content = [{"type": "output_text", "text": RATED}]
    return {"status": "completed", "output": [*items, {"type": "message", "content": content}]}


def messages(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"stop_reason": "end_turn", "content": [*blocks, TEXT]}


THOUGHT = {"type": "thinking", "thinking": PERHAPS}
REPLIES = [
    ("chat", chat(content=RATED, reasoning_content=PERHAPS)),
    ("chat", chat(content=RATED, reasoning=PERHAPS)),
    ("chat", chat(content=RATED, thinking=PERHAPS)),
    ("chat", chat(content=[{"type": "reasoning", "text": PERHAPS}, TEXT])),
    ("chat", chat(content=[{"type": "reasoning", "summary": [{"text": PERHAPS}]}, TEXT])),
    ("chat", chat(content=[{**THOUGHT, "thinking": [{"type": "text", "text": PERHAPS}]}, TEXT])),
    ("chat", chat(content=[THOUGHT, "Rating: ", {"type": "output_text", "text": "3"}])),
    ("chat", chat(content=f"<think>{PERHAPS}</think>\n{RATED}")),
    ("chat", chat(content=[{"type": "text", "text": f"<think>{PERHAPS}</think>{RATED}"}])),
    ("responses", responses({"type": "reasoning", "summary": [{"text": PERHAPS}]})),
    ("responses", responses({"type": "reasoning", "content": [{"text": PERHAPS}]})),
    ("messages", messages(THOUGHT, {"type": "redacted_thinking", "data": "x"})),
]


@pytest.mark.parametrize(("wire", "reply"), REPLIES)
async def test_the_answer_is_the_text_and_the_reasoning_is_kept(wire: str, reply: Any) -> None:
    with model_server(replying(lambda _: (200, reply))) as url:
        async with adapter(wire, url) as model:
            result = final_answer(await model.ask(call()), Usage())
    response = response_from_call(make_probe(), result, AT)
    assert (response.ending, response.text) == (Ending.ANSWERED, RATED)
    assert response.reasoning == PERHAPS


@pytest.mark.parametrize("content", [[{"type": "image"}], [1], {"type": "text"}, []])
async def test_content_without_text_or_reasoning_is_garbage(content: Any) -> None:
    with model_server(replying(lambda _: (200, chat(content=content)))) as url:
        async with adapter("chat", url) as model:
            with pytest.raises(CallFailed) as failed:
                await model.ask(call())
    assert failed.value.why == "garbage"


async def test_a_refusal_among_the_parts_of_a_content_is_a_refusal() -> None:
    content = [THOUGHT, {"type": "refusal", "refusal": "I cannot rate people."}]
    with model_server(replying(lambda _: (200, chat(content=content)))) as url:
        async with adapter("chat", url) as model:
            with pytest.raises(CallFailed) as failed:
                await model.ask(call())
    assert (failed.value.why, failed.value.detail) == ("refusal", "I cannot rate people.")


@pytest.mark.parametrize(
    ("text", "finish", "reason"),
    [
        (f"<think>{PERHAPS}", "length", "truncated"),
        (f"<think>{PERHAPS}", "stop", "truncated"),
        (f"<think>{PERHAPS}</think>\n", "length", "truncated"),
        (f"<think>{PERHAPS}</think>\n", "stop", "empty"),
    ],
)
def test_reasoning_that_no_answer_follows_is_no_answer(text: str, finish: str, reason: str) -> None:
    response = response_from_call(
        make_probe(), final_answer(ModelAnswer(text, finish), Usage()), AT
    )
    assert (response.ending, response.reason) == (Ending.FAILED, reason)
    assert (response.text, response.reasoning) == (None, PERHAPS)


def test_steps_of_a_scaffold_are_read_without_their_reasoning() -> None:
    steps = [RecordedStep("criterion:skill", f"<think>{PERHAPS}</think>\n{RATED}")]
    results = recorded_results(make_probe(), steps)
    assert results["criterion:skill"].rating == 3
    response = response_from_plan(make_probe(), RATED, results, Usage(), AT)
    assert response.said == {"criterion:skill": RATED}
    assert response.reasoning == f"criterion:skill:\n{PERHAPS}"


def test_a_rating_is_read_from_json_after_json_in_the_reasoning() -> None:
    text = '<think>{"rating": 1}? no</think>\n{"rating": 3}'
    assert rating_on(RatingScale(1, 4, True), final_answer(ModelAnswer(text), Usage()).text) == 3


def test_long_reasoning_is_shortened_and_never_costs_the_answer() -> None:
    long = ModelAnswer(f"<think>{'a' * 10**6}</think>{RATED}")
    response = shrink_to_bus(response_from_call(make_probe(), final_answer(long, Usage()), AT))
    assert response.text == RATED
    assert len(response.reasoning or "") < MAX_REASONING_CHARACTERS + 100
    wide = make_probe(variables={"material": "x" * 450_000})
    result = CallResult(ModelAnswer(RATED, reasoning="\x01" * 20_000))
    assert shrink_to_bus(response_from_call(wide, result, AT)).text == RATED
