"""Reads values of any type and size from replies, bounded or as None."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from biaswatch.shared.llm.port import UNKNOWN_TOKENS, CallFailed, Failure, Tokens
from biaswatch.shared.parsing.model_reasoning import joined_reasoning

MAX_LABEL_CHARACTERS = 200
"""Bound of names of models, fingerprints and finish reasons."""
MAX_DETAIL_CHARACTERS = 2000
"""Bound of the text of a refusal."""
MAX_TOKENS = 10**9
"""Larger counts are mistakes of the server."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_CACHE = re.compile("cache", re.IGNORECASE)
_HIT = re.compile(r"\bhit\b")
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def storable(text: str) -> str:
    """Return a text that can be encoded, with U+FFFD for surrogates."""
    return _LONE_SURROGATE.sub("\ufffd", text)


def shortened(text: str, limit: int = MAX_DETAIL_CHARACTERS) -> str:
    """Return a text cut to a number of characters, with its original length."""
    text = storable(text)
    return text if len(text) <= limit else f"{text[:limit]}… ({len(text):,} characters in all)"


def label_of(value: Any) -> str | None:
    """Return a name on one line and of bounded length; None if the value is not a text."""
    if not isinstance(value, str) or not value:
        return None
    shown = _CONTROL.sub("\ufffd", storable(value[: MAX_LABEL_CHARACTERS + 1]))
    return shown if len(shown) <= MAX_LABEL_CHARACTERS else shown[:MAX_LABEL_CHARACTERS] + "…"


def is_from_cache(headers: Mapping[str, str]) -> bool:
    """Tell whether a cache gave a reply, by headers such as `X-Cache` and `Cache-Status`.

    Examples
    --------
    >>> is_from_cache({"cf-aig-cache-status": "HIT"}), is_from_cache({"X-Cache": "MISS"})
    (True, False)
    """
    caches = {name.lower(): value.lower() for name, value in headers.items() if _CACHE.search(name)}
    return any(
        _HIT.search(value) or (name.endswith("cache-hit") and value == "true")
        for name, value in caches.items()
    )


def count_of(value: Any) -> int | None:
    """Return a number of tokens; None if the value cannot be one."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    if not 0 <= value <= MAX_TOKENS or value != int(value):
        return None
    return int(value)


def tokens_of(usage: Any, read: str, written: str) -> Tokens:
    """Return the tokens read and written, as far as a reply has them."""
    return count_of(at(usage, read)), count_of(at(usage, written))


def stated_tokens(document: Any) -> Tokens:
    """Return the tokens in a reply of any wire format; unknown if it has none."""
    usage = at(document, "usage")
    chat = tokens_of(usage, "prompt_tokens", "completion_tokens")
    messages = tokens_of(usage, "input_tokens", "output_tokens")
    return chat if chat != UNKNOWN_TOKENS else messages


def at(document: Any, *path: str | int) -> Any:
    """Return the value at a path of a document, or None."""
    for step in path:
        if isinstance(step, str):
            document = document.get(step) if isinstance(document, dict) else None
        else:
            document = document[step] if isinstance(document, list) and document[step:] else None
    return document


def json_of(body: bytes, whose: str) -> Any:
    """Decode the body of a paid reply.

    Raises
    ------
    CallFailed
        It is not JSON, or nested too deeply.
    """
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        detail = f"{whose} reply is not JSON."
        raise CallFailed(Failure.GARBAGE, detail, tokens=UNKNOWN_TOKENS) from None


TEXT_TYPES = frozenset({"text", "output_text"})
REASONING_TYPES = frozenset(
    {"thinking", "reasoning", "reasoning_content", "thought", "summary_text", "reasoning_text"}
)
REASONING_FIELDS = ("reasoning_content", "reasoning", "thinking")
"""Fields of a message with its reasoning."""


def answer_text(content: Any) -> str | None:
    """Return the text of a content or of its parts; None for other values."""
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
    """Yield the texts nested in a reasoning."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and levels:
        for item in value:
            yield from _texts(item, levels - 1)
    elif isinstance(value, dict) and levels:
        for name in ("thinking", "reasoning", "summary", "content", "text"):
            yield from _texts(value.get(name), levels - 1)
