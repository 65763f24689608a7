"""Requests and replies in OpenAI's format, in gateway logs and batch outputs."""

from collections.abc import Mapping
from typing import Any

from biaswatch.shared.contracts.probe import Message
from biaswatch.shared.conventions.messages import label_of, messages_of, text_of
from biaswatch.shared.conventions.signals import RecordedContent, reason_of, recorded

Line = Mapping[str, Any]


def read_log(line: Line) -> RecordedContent | None:
    """Read a logged call: `{request: {messages}, response: {choices}}`."""
    request, response = _object(line, "request"), _object(line, "response")
    if not request and not response:
        return None
    prompt = messages_of(request.get("messages", request.get("input", request.get("prompt"))))
    return _content(prompt, response, response.get("error") or line.get("error"))


def read_batch(line: Line) -> RecordedContent | None:
    """Read a line of the output of a batch: `{custom_id, response: {body}}`."""
    if "custom_id" not in line:
        return None
    body = _object(_object(line, "response"), "body")
    return _content((), body, line.get("error") or body.get("error"))


def _content(prompt: tuple[Message, ...], reply: Line, error: Any) -> RecordedContent:
    text, finish = _chat(reply) if "choices" in reply else _responses(reply)
    return recorded(
        text,
        finish,
        _error_name(error),
        prompt=prompt,
        model=label_of(reply.get("model")),
        fingerprint=label_of(reply.get("system_fingerprint")),
        response_id=label_of(reply.get("id")),
    )


def _chat(reply: Line) -> tuple[str | None, str | None]:
    choices = reply["choices"]
    first = choices[0] if isinstance(choices, list) and choices else {}
    if not isinstance(first, Mapping):
        return None, None
    message = first.get("message")
    text = text_of(message) if message is not None else text_of(first.get("text"))
    if text is None and isinstance(message, Mapping):
        text = text_of(message.get("refusal"))
    return text, label_of(first.get("finish_reason"))


def _responses(reply: Line) -> tuple[str | None, str | None]:
    """Return the text of the messages of the Responses API, and its status."""
    output = reply.get("output")
    if not isinstance(output, list):
        return None, None
    texts = [
        text
        for item in output
        if isinstance(item, Mapping) and item.get("type") == "message"
        if (text := text_of(item)) is not None
    ]
    return "\n".join(texts) if texts else None, label_of(reply.get("status"))


def _error_name(error: Any) -> str | None:
    if not error:
        return None
    if isinstance(error, Mapping):
        return reason_of(str(error.get("code") or error.get("type") or "error"))
    return reason_of(str(error))


def _object(holder: Line, name: str) -> dict[str, Any]:
    value = holder.get(name)
    return dict(value) if isinstance(value, Mapping) else {}
