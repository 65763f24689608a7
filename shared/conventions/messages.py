"""Messages in the forms of logs and conventions: lists or JSON, plain content or parts."""

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
"""Roles by their names in logs; messages of tools are left out."""


SCALARS = (int, float, Decimal, date, UUID)
"""Types besides text that can be labels."""
MAX_ENCODINGS = 3
"""How often a text may have been encoded as JSON."""


PROMPTS = ("messages", "input", "prompt", "contents", "question", "query")
"""Fields of a request or of inputs that hold the prompt, by precedence."""
TEXT_FIELDS = ("content", "parts", "text", "value")
"""Fields that hold the text of a message or a part, by precedence."""


def parsed(value: Any) -> Any:
    """Return a text decoded from JSON, also if encoded repeatedly; other values unchanged."""
    for _ in range(MAX_ENCODINGS):
        if not isinstance(value, str) or value[:1] not in {"[", "{", '"'}:
            break
        try:
            value = encodable(json.loads(value), value)
        except (ValueError, RecursionError):
            break
    return value


def opened(value: Any) -> Any:
    """Return a text decoded from JSON or from a Python literal; other values unchanged."""
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
    """Return the text of a message or of its text parts; None without text."""
    while isinstance(content, Mapping):
        content = next((content[name] for name in TEXT_FIELDS if name in content), None)
    if isinstance(content, str):
        return content
    if not isinstance(content, Iterable):
        return None
    texts = [text for part in content if (text := _part_text(part)) is not None]
    return "\n".join(texts) if texts else None


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return None
    kind = str(part.get("type", "text"))
    if kind == "refusal":
        part = {"text": part.get("refusal")}
    elif kind not in {"text", "input_text", "output_text"} or part.get("thought"):
        return None  # reasoning, tool calls, images
    text = part.get("content", part.get("text"))
    if isinstance(text, Mapping):
        text = text.get("value")
    return text if isinstance(text, str) else None


def messages_of(value: Any) -> tuple[Message, ...]:
    """Return the messages of a conversation that have text and a known role."""
    items = parsed(value)
    if isinstance(items, str):
        return (Message(role=Role.USER, content=items),)
    if isinstance(items, Mapping):
        items = items.get("messages", [items])
    if isinstance(items, list) and len(items) == 1 and isinstance(items[0], list):
        items = items[0]  # LangChain nests the messages of each of several prompts
    if not isinstance(items, list):
        return ()
    messages = []
    for item in items:
        if not isinstance(item, Mapping):
            continue
        fields = fields_of(item)
        role = role_of(item) if {"role", "type"} & fields.keys() else Role.USER
        text = text_of(fields.get("parts", fields.get("content")))
        if role is not None and text is not None:
            messages.append(Message(role=role, content=text))
    return tuple(messages)


def prompt_in(inputs: Any) -> tuple[Message, ...]:
    """Return the messages in a request or in named inputs; also a text, or messages alone."""
    content = opened(inputs)
    if isinstance(content, Mapping):
        content = next((content[name] for name in PROMPTS if content.get(name)), content)
    return messages_of(content)


def fields_of(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the fields of a message, which LangChain writes below `kwargs`."""
    inner = message.get("kwargs")
    return inner if isinstance(inner, Mapping) else message


def role_of(message: Any) -> Role | None:
    """Return the role of a message; None without a known one."""
    if not isinstance(message, Mapping):
        return None
    fields = fields_of(message)
    role = fields.get("role") or (fields.get("type") if "content" in fields else None)
    return ROLES.get(str(role).lower())


def label_of(value: Any) -> str | None:
    """Return a value as the name of a user, group or model; None if it cannot be one."""
    if value is None:
        return None
    if isinstance(value, str):
        return value.strip() or None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal) and isnan(value):
        return None
    return label_text(value) if isinstance(value, SCALARS) else None


def first_label(fields: Mapping[str, Any], *names: str) -> str | None:
    """Return the label of the first of these fields that has one."""
    return next((label for name in names if (label := label_of(fields.get(name)))), None)


def numbered(fields: Mapping[str, Any], prefix: str) -> list[dict[str, Any]]:
    """Return objects from flat fields: `prefix.0.role`, `prefix.0.content`, ..."""
    objects: dict[int, dict[str, Any]] = {}
    for name, value in fields.items():
        if name.startswith(prefix):
            number, _, field = name[len(prefix) :].partition(".")
            if number.isdecimal() and len(number) < 6:
                objects.setdefault(int(number), {})[field] = value
    return [objects[number] for number in sorted(objects)]
