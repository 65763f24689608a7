"""The words and the reasoning in a message's content: a text, or a list of typed parts."""

from collections.abc import Iterator
from typing import Any

from biaswatch.shared.llm.reply_values import at, storable
from biaswatch.shared.parsing.model_reasoning import joined_reasoning

TEXT_TYPES = frozenset({"text", "output_text"})
REASONING_TYPES = frozenset(
    {"thinking", "reasoning", "reasoning_content", "thought", "summary_text", "reasoning_text"}
)
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Fields of a message, beside its content, for its reasoning."""


def answer_text(content: Any) -> str | None:
    """Return the text of a content: itself, or its text parts joined; None of anything else."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list) or not any(_is_known(part) for part in content):
        return None
    return "".join(text for part in content for text in _part_texts(part))


def refusal_text(content: Any) -> str | None:
    """Return the refusals among the parts of a content; None without any."""
    parts = content if isinstance(content, list) else []
    refusals = (at(part, "refusal") for part in parts if at(part, "type") == "refusal")
    return " ".join(text for text in refusals if isinstance(text, str)) or None


def message_reasoning(message: Any, content: Any = None) -> str | None:
    """Return the reasoning in the fields of a message and in the parts of its content."""
    fields = ("".join(_texts(at(message, name))) for name in REASONING_FIELDS)
    field = next((text for text in fields if text.strip()), None)
    parts = content if isinstance(content, list) else []
    inner = "".join("".join(_texts(part)) for part in parts if at(part, "type") in REASONING_TYPES)
    joined = joined_reasoning(field, inner)
    return None if joined is None else storable(joined)


def _is_known(part: Any) -> bool:
    return isinstance(part, str) or at(part, "type") in TEXT_TYPES | REASONING_TYPES


def _part_texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif at(part, "type") in TEXT_TYPES and isinstance(text := at(part, "text"), str):
        yield text


def _texts(value: Any, levels: int = 4) -> Iterator[str]:
    """Yield the texts of a reasoning, however a provider nests them."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and levels:
        for item in value:
            yield from _texts(item, levels - 1)
    elif isinstance(value, dict) and levels:
        for name in ("thinking", "reasoning", "summary", "content", "text"):
            yield from _texts(value.get(name), levels - 1)
