"""OpenTelemetry's GenAI attributes, in spans and in the event with an operation's details."""

from dataclasses import replace
from typing import Any

from biaswatch.shared.contracts.probe import Message, Role
from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.messages import first_label, messages_of, parsed, text_of
from biaswatch.shared.conventions.outputs import NOTHING, Output, output_of
from biaswatch.shared.conventions.signals import Fields, Signal

DETAILS = "gen_ai.client.inference.operation.details"
OUTPUT, INPUT = "gen_ai.output.messages", "gen_ai.input.messages"
CALL_ATTRIBUTES = ("gen_ai.operation.name", OUTPUT, INPUT, "gen_ai.request.model",
                   "gen_ai.response.model", "gen_ai.response.id", "gen_ai.provider.name",
                   "gen_ai.system")  # fmt: skip
"""Attributes of calls; others, such as that of the conversation, may be on any span."""
FINGERPRINTS = ("openai.response.system_fingerprint", "gen_ai.openai.response.system_fingerprint",
                "gen_ai.openai.system_fingerprint")  # fmt: skip


def read(signal: Signal, *, last: bool) -> RecordedContent | None:
    """Read the messages of a span or of an event with details; also of that event in a span."""
    if not (signal.is_span or signal.name == DETAILS):
        return None
    fields = _fields(signal)
    if not any(name in fields for name in CALL_ATTRIBUTES):
        return None
    output = output_of(fields.get(OUTPUT), last=last) if fields.get(OUTPUT) else NOTHING
    return genai_content(signal, fields, output, prompt_of(fields), last=last)


def _fields(signal: Signal) -> Fields:
    """Return the attributes, with those of an event that holds the messages."""
    if not signal.is_span and isinstance(signal.body, dict):
        return {**signal.body, **signal.attributes}
    held = (fields for _, fields in signal.events if OUTPUT in fields or INPUT in fields)
    return {**{k: v for fields in held for k, v in fields.items()}, **signal.attributes}


def prompt_of(fields: Fields) -> tuple[Message, ...]:
    """Return system instructions and input messages."""
    prompt = messages_of(fields.get(INPUT))
    instructions: Any = parsed(fields.get("gen_ai.system_instructions"))
    system = text_of(instructions) if instructions else None
    return prompt if system is None else (Message(role=Role.SYSTEM, content=system), *prompt)


def genai_content(
    signal: Signal, fields: Fields, output: Output, prompt: tuple[Message, ...], *, last: bool
) -> RecordedContent:
    """Return an output with the common attributes of GenAI: models, ids, finish reason."""
    error = signal.error
    if error is None and not signal.is_span:
        error = first_label(fields, "error.type")
    return recorded(
        replace(output, finish=output.finish or _finish(fields)),
        error,
        prompt=prompt,
        model=first_label(fields, "gen_ai.response.model", "gen_ai.request.model", "model_name"),
        fingerprint=first_label(fields, *FINGERPRINTS),
        response_id=first_label(fields, "gen_ai.response.id"),
        elsewhere=output == NOTHING and not last,
    )


def _finish(fields: Fields) -> str | None:
    """Return the first finish reason; some exporters write a list as text."""
    reasons = parsed(fields.get("gen_ai.response.finish_reasons"))
    if isinstance(reasons, list) and reasons:
        return str(reasons[0])
    return reasons.partition(",")[0] if isinstance(reasons, str) and reasons else None
