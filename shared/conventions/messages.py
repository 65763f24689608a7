"""Messages as conventions write them: lists or JSON, with plain content or with parts."""

import json
from collections.abc import Iterable, Mapping
from datetime import date
from decimal import Decimal
from math import isnan
from typing import Any
from uuid import UUID

from biaswatch.shared.contracts.probe import Message, Role
from biaswatch.shared.parsing.json_objects import encodable
from biaswatch.shared.parsing.python_literals import python_literal
from biaswatch.shared.parsing.texts import label_text

ROLES = {"system": Role.SYSTEM, "developer": Role.SYSTEM, "user": Role.USER, "human": Role.USER,
         "assistant": Role.ASSISTANT, "ai": Role.ASSISTANT, "model": Role.ASSISTANT}  # fmt: skip
"""Roles by the words in use; what tools said is no part of the conversation with a person."""


SCALARS = (int, float, Decimal, date, UUID)
"""Values beside texts that can be labels; files of other tools hold each of these."""
MARKS = {"role", "type", "content", "parts", "text", "tool_calls"}
"""Fields of messages and of their parts."""


def parsed(value: Any) -> Any:
    """Return what a text says as JSON; another value, and a text that is none, as it is."""
    if isinstance(value, str) and value[:1] in {"[", "{", '"'}:
        try:
            return encodable(json.loads(value), value)
        except (ValueError, RecursionError):
            return value
    return value


def opened(value: Any) -> Any:
    """Return what a text says as JSON or as Python wrote it; another value as it is."""
    content = parsed(value)
    if (
        isinstance(content, str)
        and content is value
        and value.startswith(("[", "{", "(", "array("))
    ):
        try:
            return python_literal(value)
        except (ValueError, SyntaxError):
            return value
    return content


def text_of(content: Any) -> str | None:
    """Return the words of a message: its text, or those of its parts that are text."""
    while isinstance(content, Mapping):
        content = content.get("content", content.get("text"))
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return None
    words = [found for part in content if (found := _words(part)) is not None]
    return "\n".join(words) if words else None


def answer_text(value: Any) -> str | None:
    """Return the text of an answer as a log writes it: parts, a message, a number, or text.

    Text that is JSON and no message, like `{"rating": 3}`, is the answer itself.
    """
    content = opened(value)
    text = text_of(content)
    if text is not None or _is_conversation(content):
        return text
    return value if isinstance(value, str) else label_of(value)


def _is_conversation(value: Any) -> bool:
    """Return whether a value is a message, or a list of messages or parts."""
    items = value if isinstance(value, list) else [value]
    return bool(items) and all(isinstance(item, Mapping) and MARKS & item.keys() for item in items)


def _words(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return None
    if str(part.get("type", "text")) not in {"text", "input_text", "output_text"}:
        return None  # reasoning, tool calls, images
    found = part.get("content", part.get("text"))
    return found if isinstance(found, str) else None


def messages_of(written: Any) -> tuple[Message, ...]:
    """Return a conversation; what has no words, or a role that is no person's, is left out."""
    found = parsed(written)
    if isinstance(found, str):
        return (Message(role=Role.USER, content=found),)
    if isinstance(found, Mapping):
        found = found.get("messages", [found])
    if not isinstance(found, list):
        return ()
    return tuple(message for each in found if (message := _message(each)) is not None)


def _message(each: Any) -> Message | None:
    if not isinstance(each, Mapping):
        return None
    role = ROLES.get(str(each.get("role", "user")).lower())
    words = text_of(each.get("parts", each.get("content")))
    return None if role is None or words is None else Message(role=role, content=words)


def label_of(value: Any) -> str | None:
    """Return a value as a name of a user, a group or a model; None for what is none."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, float | Decimal) and isnan(value):
        return None
    return label_text(value) if isinstance(value, SCALARS) else None


def first_label(fields: Mapping[str, Any], *names: str) -> str | None:
    """Return the first of these fields that has a value."""
    return next((found for name in names if (found := label_of(fields.get(name)))), None)


def numbered(fields: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return the objects that are written flat: `prefix.0.role`, `prefix.0.content`, ..."""
    found: dict[int, dict[str, Any]] = {}
    for name, value in fields.items():
        if name.startswith(prefix):
            number, _, field = name[len(prefix) :].partition(".")
            if number.isdecimal() and len(number) < 6:
                found.setdefault(int(number), {})[field] = value
    return [found[number] for number in sorted(found)]
