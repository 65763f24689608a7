"""OpenInference, which Phoenix and Arize read: a span of kind LLM with numbered messages."""

from typing import Any

from biaswatch.shared.conventions.messages import (
    first_label,
    messages_of,
    numbered,
    parsed,
    text_of,
)
from biaswatch.shared.conventions.recorded import RecordedContent, ending_of
from biaswatch.shared.conventions.signals import Signal


def read(signal: Signal) -> RecordedContent | None:
    """Return what a span of kind LLM tells."""
    fields = signal.attributes
    if not signal.is_span or fields.get("openinference.span.kind") != "LLM":
        return None
    asked = messages_of([_flat(each) for each in numbered(fields, "llm.input_messages.")])
    output = numbered(fields, "llm.output_messages.")
    said = text_of(_flat(output[0]).get("content")) if output else _plain(fields)
    finish = first_label(fields, "llm.finish_reason")
    return RecordedContent(
        asked=asked or messages_of(fields.get("input.value")),
        **ending_of(said, finish, signal.error),
        model=first_label(fields, "llm.model_name"),
    )


def _flat(message: dict[str, Any]) -> dict[str, Any]:
    parts = [
        {"type": each.get("message_content.type"), "text": each.get("message_content.text")}
        for each in numbered(message, "message.contents.")
    ]
    content = message.get("message.content")
    return {"role": message.get("message.role", "user"), "content": parts or content}


def _plain(fields: Any) -> str | None:
    """Return the output of a span without messages, where it is text and no object."""
    found = parsed(fields.get("output.value"))
    return found if isinstance(found, str) else None
