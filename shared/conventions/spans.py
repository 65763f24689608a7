"""OpenTelemetry's conventions for generative AI: messages in attributes of a span or an event."""

from collections.abc import Mapping
from typing import Any

from biaswatch.shared.contracts.probe import Message, Role
from biaswatch.shared.conventions.messages import (
    first_label,
    messages_of,
    numbered,
    parsed,
    text_of,
)
from biaswatch.shared.conventions.signals import Fields, RecordedContent, Signal, ending_of

DETAILS = "gen_ai.client.inference.operation.details"
ANSWERING = {"chat", "text_completion", "generate_content"}
"""Operations whose output is an answer; agents, tools and embeddings are not."""


def read_genai(signal: Signal) -> RecordedContent | None:
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


MESSAGES = {"gen_ai.system.message": "system", "gen_ai.user.message": "user",
            "gen_ai.assistant.message": "assistant"}  # fmt: skip
CHOICE = "gen_ai.choice"


def read_genai_events(signal: Signal) -> RecordedContent | None:
    """Return the message or the first choice that an event holds; None for another event."""
    if signal.is_span:
        return None
    body: Any = signal.body if isinstance(signal.body, dict) else {}
    if signal.name == CHOICE:
        return _choice(body)
    if (role := MESSAGES.get(signal.name)) is None:
        return None
    asked = messages_of([{"role": role, "content": body.get("content")}])
    return RecordedContent(asked=asked, elsewhere=True) if asked else None


def _choice(body: Any) -> RecordedContent | None:
    if body.get("index"):
        return None  # an answer is the first choice
    finish = body.get("finish_reason")
    ending = ending_of(text_of(body.get("message")), None if finish is None else str(finish), None)
    found = RecordedContent(**ending, elsewhere=True)
    return found if found.answered else None


def read_openinference(signal: Signal) -> RecordedContent | None:
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


OPENLLMETRY_ANSWERING = {"chat", "completion"}


def read_openllmetry(signal: Signal) -> RecordedContent | None:
    """Return what a span of a model's call tells."""
    fields = signal.attributes
    if not signal.is_span or fields.get("llm.request.type") not in OPENLLMETRY_ANSWERING:
        return None
    completions = numbered(fields, "gen_ai.completion.")
    first = completions[0] if completions else {}
    return RecordedContent(
        asked=messages_of(numbered(fields, "gen_ai.prompt.")),
        **ending_of(
            text_of(first.get("content")), first_label(first, "finish_reason"), signal.error
        ),
        model=first_label(fields, "gen_ai.response.model", "gen_ai.request.model"),
        fingerprint=first_label(fields, "gen_ai.openai.system_fingerprint"),
        response_id=first_label(fields, "gen_ai.response.id"),
    )


GENERATION = "generation"


def read_langfuse(signal: Signal) -> RecordedContent | None:
    """Return what a span of a generation tells."""
    fields = signal.attributes
    if not signal.is_span or fields.get("langfuse.observation.type") != GENERATION:
        return None
    failed = fields.get("langfuse.observation.level") == "ERROR"
    return _content(
        fields.get("langfuse.observation.input"),
        fields.get("langfuse.observation.output"),
        first_label(fields, "langfuse.observation.model.name", "gen_ai.request.model"),
        signal.error or ("error" if failed else None),
    )


def read_observation(row: Fields) -> RecordedContent | None:
    """Return what an exported observation tells; None for one that is no generation."""
    if str(row.get("type", "")).lower() != GENERATION:
        return None
    failed = row.get("level") == "ERROR"
    model = first_label(row, "model", "providedModelName", "modelName")
    return _content(row.get("input"), row.get("output"), model, "error" if failed else None)


def unquoted(fields: Fields) -> dict[str, Any]:
    """Return attributes with metadata as it was before the SDK wrote it as JSON."""
    return {
        name: parsed(value) if ".metadata." in name and name.startswith("langfuse.") else value
        for name, value in fields.items()
    }


def _content(
    asked: Any, output: Any, model: str | None, error: str | None
) -> RecordedContent | None:
    said = parsed(output)
    if isinstance(said, list):
        said = said[-1] if said else None
    if isinstance(said, Mapping) and "choices" in said:
        choices = said["choices"]
        said = choices[0].get("message") if choices else None
    return RecordedContent(
        asked=messages_of(asked), **ending_of(text_of(said), None, error), model=model
    )
