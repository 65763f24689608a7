"""OpenTelemetry's conventions for generative AI: messages in attributes of a span or an event."""

from typing import Any

from biaswatch.shared.contracts.probe import Message, Role
from biaswatch.shared.conventions.messages import first_label, messages_of, parsed, text_of
from biaswatch.shared.conventions.recorded import RecordedContent, ending_of
from biaswatch.shared.conventions.signals import Signal

DETAILS = "gen_ai.client.inference.operation.details"
ANSWERING = {"chat", "text_completion", "generate_content"}
"""Operations whose output is an answer; agents, tools and embeddings are not."""


def read(signal: Signal) -> RecordedContent | None:
    """Return what a span of an answering operation, or the event with its details, tells."""
    fields = signal.attributes
    if not (signal.is_span or signal.name == DETAILS):
        return None
    if str(fields.get("gen_ai.operation.name")) not in ANSWERING:  # it may be a list
        return None
    choices = parsed(fields.get("gen_ai.output.messages"))
    first: Any = choices[0] if isinstance(choices, list) and choices else {}
    finish = first.get("finish_reason") if isinstance(first, dict) else None
    said = text_of(first.get("parts", first.get("content"))) if isinstance(first, dict) else None
    asked = (
        *_instructions(fields.get("gen_ai.system_instructions")),
        *messages_of(fields.get("gen_ai.input.messages")),
    )
    if not choices:
        asked, said, finish = _of_span_events(signal)
    return RecordedContent(
        asked=asked,
        **ending_of(said, finish or _finish(fields), signal.error or _error(signal)),
        model=first_label(fields, "gen_ai.response.model", "gen_ai.request.model"),
        fingerprint=first_label(
            fields,
            "openai.response.system_fingerprint",
            "gen_ai.openai.response.system_fingerprint",
        ),
        response_id=first_label(fields, "gen_ai.response.id"),
        elsewhere=not choices,
    )


def _error(signal: Signal) -> str | None:
    return None if signal.is_span else first_label(signal.attributes, "error.type")


def _instructions(written: Any) -> tuple[Message, ...]:
    words = text_of(parsed(written)) if written else None
    return () if words is None else (Message(role=Role.SYSTEM, content=words),)


def _finish(fields: Any) -> str | None:
    reasons = fields.get("gen_ai.response.finish_reasons")
    return str(reasons[0]) if isinstance(reasons, list) and reasons else None


def _of_span_events(signal: Signal) -> tuple[tuple[Message, ...], str | None, str | None]:
    """Return what the span's own events tell, as instrumentations of 2024 wrote them."""
    asked: tuple[Message, ...] = ()
    said = None
    for name, fields in signal.events:
        if name == "gen_ai.content.prompt":
            asked = messages_of(fields.get("gen_ai.prompt"))
        elif name == "gen_ai.content.completion":
            found = messages_of(fields.get("gen_ai.completion"))
            said = found[0].content if found else None
    return asked, said, None
