"""Requests and replies in OpenAI's format, as gateways log them and as its batches return them."""

from collections.abc import Mapping
from typing import Any

from biaswatch.shared.conventions.messages import label_of, messages_of, text_of
from biaswatch.shared.conventions.signals import RecordedContent, ending_of, reason_of

Line = Mapping[str, Any]


def read_log(line: Line) -> RecordedContent | None:
    """Return what a logged call tells: `{request: {messages}, response: {choices}}`."""
    request, response = _object(line, "request"), _object(line, "response")
    if not request and not response:
        return None
    asked = messages_of(request.get("messages", request.get("input", request.get("prompt"))))
    return _content(asked, response, response.get("error") or line.get("error"))


def read_batch(line: Line) -> RecordedContent | None:
    """Return what a line of a batch's output tells: `{custom_id, response: {body}}`."""
    if "custom_id" not in line:
        return None
    body = _object(_object(line, "response"), "body")
    return _content((), body, line.get("error") or body.get("error"))


def _content(asked: Any, reply: Line, error: Any) -> RecordedContent:
    said, finish = _chat(reply) if "choices" in reply else _responses(reply)
    return RecordedContent(
        asked=asked,
        **ending_of(said, finish, _named(error)),
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
    said = text_of(message) if message is not None else text_of(first.get("text"))
    if said is None and isinstance(message, Mapping):
        said = text_of(message.get("refusal"))
    return said, label_of(first.get("finish_reason"))


def _responses(reply: Line) -> tuple[str | None, str | None]:
    """Return what the Responses API said, in its messages."""
    output = reply.get("output")
    if not isinstance(output, list):
        return None, None
    said = [text_of(each) for each in output
            if isinstance(each, Mapping) and each.get("type") == "message"]  # fmt: skip
    words = [each for each in said if each is not None]
    return "\n".join(words) if words else None, label_of(reply.get("status"))


def _named(error: Any) -> str | None:
    if not error:
        return None
    if isinstance(error, Mapping):
        return reason_of(str(error.get("code") or error.get("type") or "error"))
    return reason_of(str(error))


def _object(holder: Line, name: str) -> dict[str, Any]:
    found = holder.get(name)
    return dict(found) if isinstance(found, Mapping) else {}
