"""Spans that real SDKs sent in a chat and a tool call (`make test-otlp`) have one outcome each."""

import json
from collections import Counter, defaultdict
from pathlib import Path

import pytest

from biaswatch.shared.conventions.agents import parts_of
from biaswatch.shared.conventions.answers import AnswerPart, joined
from biaswatch.shared.conventions.left_out import LeftOut, OmissionReason
from biaswatch.shared.conventions.mapping import MappingFile
from biaswatch.shared.conventions.signals import signals_of_json

FOLDER = Path(__file__).parent / "captured"
ANSWER, TOOL_CALL = "Eva is a strong applicant.", "tool_call"
CALLS = {ANSWER: 1, TOOL_CALL: 1}
OUTCOMES: dict[str, dict[str, int]] = {
    "anthropic": CALLS,  # its client adds spans of its own, without texts
    "genai_1_36": CALLS,  # texts in log events
    "langchain_langsmith": {ANSWER: 2, TOOL_CALL: 1},  # with an agent of LangGraph
    "langchain_openinference": {ANSWER: 2, TOOL_CALL: 1},
    "langfuse": CALLS,
    "litellm": CALLS,
    "llama_index": CALLS,  # it traces each call twice
    "logfire": {ANSWER: 2, TOOL_CALL: 1},
    "mlflow": CALLS,
    "openai": CALLS,
    "openai_agents": {ANSWER: 2},  # agents without texts in their own spans
    "openinference": {ANSWER: 3, TOOL_CALL: 2},
    "openllmetry": CALLS,
    "openllmetry_0_40": CALLS,
    "pydantic_ai": {ANSWER: 2},
    "vercel": {ANSWER: 2, TOOL_CALL: 1},
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_chat_and_a_tool_call_are_read(name: str) -> None:
    left_out = LeftOut()
    signals = list(signals_of_json(json.loads((FOLDER / f"{name}.json").read_text())))
    parts: dict[str, list[AnswerPart]] = defaultdict(list)
    for part in parts_of(signals, MappingFile(), left_out):
        parts[part.key].append(part)
    answers = [answer for answer in map(joined, parts.values()) if answer.content.answered]
    assert Counter(part.content.text or part.content.reason for part in answers) == OUTCOMES[name]
    assert {part.content.model for part in answers} == {"biased"}
    assert {part.content.prompt[-1].content or "" for part in answers} <= {"Rate Eva.", ""}
    assert not left_out.counts[OmissionReason.UNREAD]


def test_every_capture_is_tested() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(OUTCOMES)
