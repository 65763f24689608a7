"""JSON pointers (RFC 6901) and request templates: how an application's own format is spoken."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from shared.llm.port import Call

MESSAGES, PROMPT, SYSTEM, REPEAT = "{messages}", "{prompt}", "{system}", "{repeat}"


def found_at(document: Any, pointer: str) -> Any:
    """Return what a pointer points to; raise LookupError where nothing is there."""
    if pointer and not pointer.startswith("/"):
        raise LookupError(pointer)
    for raw in pointer.split("/")[1:]:
        step = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(document, list):
            if not (step.isascii() and step.isdigit()):
                raise LookupError(pointer)
            document = document[int(step)]
        elif isinstance(document, Mapping):
            document = document[step]
        else:
            raise LookupError(pointer)  # noqa: TRY004 - the reply is another than was described
    return document


def filled(template: JsonValue, call: Call) -> JsonValue:
    """Return the request: placeholders in its strings become what is asked, nothing else does."""
    if isinstance(template, dict):
        return {name: filled(value, call) for name, value in template.items()}
    if isinstance(template, list):
        return [filled(value, call) for value in template]
    if template == MESSAGES:
        return [dict(message) for message in call.messages if message["role"] != "system"]
    return _words(template, call) if isinstance(template, str) else template


def _words(template: str, call: Call) -> str:
    """Fill in one pass, so that what a prompt says is never taken for a placeholder."""
    words = {
        PROMPT: _said(call, {"user", "assistant"}),
        SYSTEM: _said(call, {"system"}),
        REPEAT: call.repeat_key,
    }
    parts = [template]
    for placeholder in words:
        parts = [piece for part in parts for piece in _split(part, placeholder, set(words))]
    return "".join(words.get(part, part) for part in parts)


def _split(part: str, placeholder: str, known: set[str]) -> list[str]:
    if part in known:
        return [part]
    pieces: list[str] = []
    for piece in part.split(placeholder):
        pieces += [piece, placeholder]
    return pieces[:-1]


def _said(call: Call, roles: set[str]) -> str:
    return "\n\n".join(m["content"] for m in call.messages if m["role"] in roles)
