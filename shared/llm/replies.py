"""What a reply says: values of any type and size become bounded ones, or none."""

import json
import re
from collections.abc import Iterator
from typing import Any

from biaswatch.shared.llm.port import UNKNOWN_TOKENS, CallFailed, Failure, Tokens
from biaswatch.shared.parsing.model_reasoning import joined_reasoning

LONGEST_LABEL = 200
"""Characters of a name that a provider gives: a model, a fingerprint, a finish reason."""
LONGEST_DETAIL = 2000
"""Characters of a refusal's own words."""
MOST_TOKENS = 10**9
"""More tokens than any call has: a larger count is a mistake of the server's."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def storable(text: str) -> str:
    """Return a text that can be encoded: half a pair of characters becomes U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def shortened(text: str, most: int = LONGEST_DETAIL) -> str:
    """Return a text of at most so many characters, and how many it had."""
    text = storable(text)
    return text if len(text) <= most else f"{text[:most]}… ({len(text):,} characters in all)"


def label_of(value: Any) -> str | None:
    """Return a name on one line, cut where it is no name any more; None where it is no text."""
    if not isinstance(value, str) or not value:
        return None
    shown = _CONTROL.sub("\ufffd", storable(value[: LONGEST_LABEL + 1]))
    return shown if len(shown) <= LONGEST_LABEL else shown[:LONGEST_LABEL] + "…"


def count_of(value: Any) -> int | None:
    """Return a number of tokens; None where it is none: negative, broken, too large, a word."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 <= value <= MOST_TOKENS or value != int(value):
        return None
    return int(value)


def tokens_of(usage: Any, read: str, written: str) -> Tokens:
    """Return the tokens that were read and written, as far as a reply says so."""
    return count_of(at(usage, read)), count_of(at(usage, written))


def stated_tokens(document: Any) -> Tokens:
    """Return the tokens a reply of any of the wire formats states; unknown where it does not."""
    usage = at(document, "usage")
    chat = tokens_of(usage, "prompt_tokens", "completion_tokens")
    others = tokens_of(usage, "input_tokens", "output_tokens")
    return chat if chat != UNKNOWN_TOKENS else others


def at(document: Any, *path: str | int) -> Any:
    """Return what stands at a place of a document; None where it has no such place."""
    for step in path:
        if isinstance(step, str):
            document = document.get(step) if isinstance(document, dict) else None
        else:
            document = document[step] if isinstance(document, list) and document[step:] else None
    return document


def json_of(body: bytes, whose: str) -> Any:
    """Read the body of a reply, which is paid for, whatever it holds.

    Raises
    ------
    CallFailed
        It is no JSON, or nested deeper than anything is read.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        said = f"{whose} reply is not JSON."
        raise CallFailed(Failure.GARBAGE, said, tokens=UNKNOWN_TOKENS) from None


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
