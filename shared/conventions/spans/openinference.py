"""OpenInference, the convention of Phoenix and Arize: spans of kind LLM and AGENT."""

from collections.abc import Mapping
from typing import Any

from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.messages import first_label, messages_of, numbered
from biaswatch.shared.conventions.outputs import NOTHING, output_of
from biaswatch.shared.conventions.signals import Signal

KINDS = {"llm", "agent"}


def read(signal: Signal, *, last: bool) -> RecordedContent | None:
    """Read numbered messages, or else the whole output: text, or the body of a reply."""
    fields = signal.attributes
    kind = str(fields.get("openinference.span.kind")).lower()
    if not signal.is_span or kind not in KINDS:
        return None
    prompt = messages_of(
        [_message(item) for item in numbered(fields, "llm.input_messages.")]
    ) or messages_of(fields.get("input.value"))
    messages = [_message(item) for item in numbered(fields, "llm.output_messages.")]
    output = output_of(messages, last=last) if messages else NOTHING
    if not (output.text or output.is_tool_call) and fields.get("output.value"):
        output = output_of(fields["output.value"], last=last)
    error = signal.error
    finish = output.finish or first_label(fields, "llm.finish_reason")
    return recorded(
        type(output)(output.text, finish, output.is_tool_call),
        error,
        prompt=prompt,
        model=first_label(fields, "llm.model_name"),
    )


def _message(message: Mapping[str, Any]) -> dict[str, Any]:
    parts = [
        {"type": part.get("message_content.type"), "text": part.get("message_content.text")}
        for part in numbered(message, "message.contents.")
    ]
    content = message.get("message.content")
    calls = numbered(message, "message.tool_calls.") or message.get("message.tool_calls")
    role = message.get("message.role", "assistant")
    return {"role": role, "content": parts or content, "tool_calls": calls}
