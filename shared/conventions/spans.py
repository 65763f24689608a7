"""Readers of spans, log events and gateway logs, one for each convention of generative AI."""

from collections.abc import Callable, Mapping
from typing import Any

from biaswatch.shared.contracts.probe import Message, Role
from biaswatch.shared.conventions.messages import (
    first_label,
    label_of,
    messages_of,
    numbered,
    parsed,
    text_of,
)
from biaswatch.shared.conventions.signals import (
    Fields,
    RecordedContent,
    Signal,
    reason_of,
    recorded,
)

GENAI_DETAILS = "gen_ai.client.inference.operation.details"
GENAI_ANSWERING = {"chat", "text_completion", "generate_content"}
"""Operations whose output is an answer; agents, tools and embeddings have none."""
GENAI_MESSAGES = {"gen_ai.system.message": "system", "gen_ai.user.message": "user",
                  "gen_ai.assistant.message": "assistant"}  # fmt: skip
OPENLLMETRY_ANSWERING = {"chat", "completion"}
LANGFUSE_GENERATION = "generation"


def read_genai(signal: Signal) -> RecordedContent | None:
    """Read OpenTelemetry's GenAI attributes of a span, or of the event with its details."""
    fields = signal.attributes
    if not (signal.is_span or signal.name == GENAI_DETAILS):
        return None
    if str(fields.get("gen_ai.operation.name")) not in GENAI_ANSWERING:  # it may be a list
        return None
    error = signal.error
    if error is None and not signal.is_span:
        error = first_label(fields, "error.type")
    choices = parsed(fields.get("gen_ai.output.messages"))
    text = finish = None
    if choices:
        first: Any = choices[0] if isinstance(choices, list) else {}
        if isinstance(first, dict):
            finish = first.get("finish_reason")
            text = text_of(first.get("parts", first.get("content")))
        instructions = fields.get("gen_ai.system_instructions")
        system = text_of(parsed(instructions)) if instructions else None
        prompt = messages_of(fields.get("gen_ai.input.messages"))
        if system is not None:
            prompt = (Message(role=Role.SYSTEM, content=system), *prompt)
    else:
        prompt, text = _span_events(signal)
    return recorded(
        text,
        finish or _genai_finish(fields),
        error,
        prompt=prompt,
        model=first_label(fields, "gen_ai.response.model", "gen_ai.request.model"),
        fingerprint=first_label(
            fields,
            "openai.response.system_fingerprint",
            "gen_ai.openai.response.system_fingerprint",
        ),
        response_id=first_label(fields, "gen_ai.response.id"),
        elsewhere=not choices,
    )


def _genai_finish(fields: Fields) -> str | None:
    reasons = fields.get("gen_ai.response.finish_reasons")
    return str(reasons[0]) if isinstance(reasons, list) and reasons else None


def _span_events(signal: Signal) -> tuple[tuple[Message, ...], str | None]:
    """Return prompt and answer in the events of a span, as written by instrumentations of 2024."""
    prompt: tuple[Message, ...] = ()
    text = None
    for name, fields in signal.events:
        if name == "gen_ai.content.prompt":
            prompt = messages_of(fields.get("gen_ai.prompt"))
        elif name == "gen_ai.content.completion":
            answers = messages_of(fields.get("gen_ai.completion"))
            text = answers[0].content if answers else None
    return prompt, text


def read_genai_events(signal: Signal) -> RecordedContent | None:
    """Read an event of OpenTelemetry up to 1.36: one message, or one choice."""
    if signal.is_span:
        return None
    body: Any = signal.body if isinstance(signal.body, dict) else {}
    if signal.name == "gen_ai.choice":
        if body.get("index"):
            return None  # only the first choice is the answer
        finish = body.get("finish_reason")
        finish = None if finish is None else str(finish)
        content = recorded(text_of(body.get("message")), finish, None, elsewhere=True)
        return content if content.answered else None
    if (role := GENAI_MESSAGES.get(signal.name)) is None:
        return None
    prompt = messages_of([{"role": role, "content": body.get("content")}])
    return RecordedContent(prompt=prompt, elsewhere=True) if prompt else None


def read_openinference(signal: Signal) -> RecordedContent | None:
    """Read a span of kind LLM of OpenInference, which Phoenix and Arize use."""
    fields = signal.attributes
    if not signal.is_span or fields.get("openinference.span.kind") != "LLM":
        return None
    prompt = messages_of(
        [_openinference_message(item) for item in numbered(fields, "llm.input_messages.")]
    )
    output = numbered(fields, "llm.output_messages.")
    if output:
        text = text_of(_openinference_message(output[0]).get("content"))
    else:
        value = parsed(fields.get("output.value"))
        text = value if isinstance(value, str) else None
    return recorded(
        text,
        first_label(fields, "llm.finish_reason"),
        signal.error,
        prompt=prompt or messages_of(fields.get("input.value")),
        model=first_label(fields, "llm.model_name"),
    )


def _openinference_message(message: Mapping[str, Any]) -> dict[str, Any]:
    parts = [
        {"type": part.get("message_content.type"), "text": part.get("message_content.text")}
        for part in numbered(message, "message.contents.")
    ]
    content = message.get("message.content")
    return {"role": message.get("message.role", "user"), "content": parts or content}


def read_openllmetry(signal: Signal) -> RecordedContent | None:
    """Read a span of OpenLLMetry (Traceloop) up to 0.50; later versions use GenAI's attributes."""
    fields = signal.attributes
    if not signal.is_span or fields.get("llm.request.type") not in OPENLLMETRY_ANSWERING:
        return None
    completions = numbered(fields, "gen_ai.completion.")
    first = completions[0] if completions else {}
    return recorded(
        text_of(first.get("content")),
        first_label(first, "finish_reason"),
        signal.error,
        prompt=messages_of(numbered(fields, "gen_ai.prompt.")),
        model=first_label(fields, "gen_ai.response.model", "gen_ai.request.model"),
        fingerprint=first_label(fields, "gen_ai.openai.system_fingerprint"),
        response_id=first_label(fields, "gen_ai.response.id"),
    )


def read_langfuse(signal: Signal) -> RecordedContent | None:
    """Read a span of a generation of the Langfuse SDK."""
    fields = signal.attributes
    if not signal.is_span or fields.get("langfuse.observation.type") != LANGFUSE_GENERATION:
        return None
    failed = fields.get("langfuse.observation.level") == "ERROR"
    return _langfuse_content(
        fields.get("langfuse.observation.input"),
        fields.get("langfuse.observation.output"),
        first_label(fields, "langfuse.observation.model.name", "gen_ai.request.model"),
        signal.error or ("error" if failed else None),
    )


def read_observation(row: Fields) -> RecordedContent | None:
    """Read an observation of a Langfuse export; None if it is not a generation."""
    if str(row.get("type", "")).lower() != LANGFUSE_GENERATION:
        return None
    error = "error" if row.get("level") == "ERROR" else None
    model = first_label(row, "model", "providedModelName", "modelName")
    return _langfuse_content(row.get("input"), row.get("output"), model, error)


def unquoted(fields: Fields) -> dict[str, Any]:
    """Return attributes with Langfuse's metadata decoded from JSON."""
    return {
        name: parsed(value) if ".metadata." in name and name.startswith("langfuse.") else value
        for name, value in fields.items()
    }


def _langfuse_content(
    prompt: Any, output: Any, model: str | None, error: str | None
) -> RecordedContent:
    answer = parsed(output)
    if isinstance(answer, list):
        answer = answer[-1] if answer else None
    if isinstance(answer, Mapping) and "choices" in answer:
        choices = answer["choices"]
        answer = choices[0].get("message") if choices else None
    return recorded(text_of(answer), None, error, prompt=messages_of(prompt), model=model)


CONVENTIONS: Mapping[str, Callable[[Signal], RecordedContent | None]] = {
    "langfuse": read_langfuse,
    "openinference": read_openinference,
    "openllmetry": read_openllmetry,
    "genai": read_genai,
    "genai_events": read_genai_events,
}
"""Readers by name; the first that returns a content is used."""


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
