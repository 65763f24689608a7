"""The AI SDK of Vercel: `ai.generateText` and the calls `.doGenerate` below it."""

from collections.abc import Mapping
from typing import Any

from biaswatch.shared.contracts.probe import Message
from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.messages import first_label, label_of, messages_of, parsed
from biaswatch.shared.conventions.outputs import Output
from biaswatch.shared.conventions.signals import Fields, Signal

TEXTS = ("ai.response.text", "ai.result.text", "ai.response.object", "ai.result.object")
"""Attributes with the answer; those of `result` are of versions before 4."""
TOOL_CALLS = ("ai.response.toolCalls", "ai.result.toolCalls")
PROMPTS = ("ai.prompt.messages", "ai.prompt")


def read(signal: Signal, *, last: bool) -> RecordedContent | None:
    """Read the attributes `ai.response.*` and `ai.prompt*`."""
    fields = signal.attributes
    if not signal.is_span or not any(name in fields for name in (*TEXTS, *TOOL_CALLS, *PROMPTS)):
        return None
    text = next((text for name in TEXTS if (text := label_of(fields.get(name)))), None)
    called = any(parsed(fields.get(name)) for name in TOOL_CALLS)
    finish = first_label(
        fields, "ai.response.finishReason", "ai.result.finishReason", "ai.finishReason"
    )
    names = ("gen_ai.response.model", "ai.response.model", "gen_ai.request.model", "ai.model.id")
    return recorded(
        Output(text, finish, is_tool_call=called and text is None),
        signal.error,
        prompt=next(filter(None, (_prompt(fields, name) for name in PROMPTS)), ()),
        model=first_label(fields, *names),
        response_id=first_label(fields, "gen_ai.response.id", "ai.response.id"),
    )


def _prompt(fields: Fields, name: str) -> tuple[Message, ...]:
    """Return the messages of a prompt; `ai.prompt` may hold a text below `prompt`."""
    prompt: Any = parsed(fields.get(name))
    if not isinstance(prompt, Mapping):
        return messages_of(prompt)
    system = [{"role": "system", "content": prompt["system"]}] if prompt.get("system") else []
    return messages_of([*system, *(prompt.get("messages") or [{"content": prompt.get("prompt")}])])
