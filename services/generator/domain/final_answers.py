"""The answer of a call without the model's reasoning, or the reason that none follows it."""

from collections.abc import Mapping
from dataclasses import replace

from biaswatch.services.generator.domain.scaffolds import ANSWER, CallResult
from biaswatch.shared.contracts import Usage
from biaswatch.shared.llm.port import CallFailed, Failure, ModelAnswer
from biaswatch.shared.llm.reply_values import shortened
from biaswatch.shared.parsing.model_reasoning import after_reasoning, joined_reasoning

MAX_REASONING_CHARACTERS = 20_000
"""Characters of reasoning that are kept with an answer; of longer reasoning, its beginning."""
CUT_OFF = "The answer was cut off inside its reasoning."
REASONING_ALONE = "The model's answer is empty after its reasoning."


def final_answer(answer: ModelAnswer, usage: Usage) -> CallResult:
    """Return the result of a call: its text without reasoning, or why it has none."""
    parts = after_reasoning(answer.text)
    reasoning = joined_reasoning(answer.reasoning, parts.reasoning)
    final = replace(answer, text=parts.answer, reasoning=reasoning)
    if parts.answer.strip():
        return CallResult(final, usage=usage)
    if parts.cut_off or answer.finish_reason == "length":
        return CallResult(final, CallFailed(Failure.TRUNCATED, CUT_OFF), usage=usage)
    return CallResult(final, CallFailed(Failure.EMPTY, REASONING_ALONE), usage=usage)


def kept_reasoning(results: Mapping[str, CallResult]) -> str | None:
    """Return the reasoning of calls by step, bounded; None without any."""
    parts = {
        name: result.answer.reasoning
        for name, result in results.items()
        if result.answer and result.answer.reasoning
    }
    if not parts:
        return None
    if list(results) == [ANSWER]:
        return shortened(parts[ANSWER], MAX_REASONING_CHARACTERS)
    named = "\n\n".join(f"{name}:\n{text}" for name, text in parts.items())
    return shortened(named, MAX_REASONING_CHARACTERS)
