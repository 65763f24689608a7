"""Formats of recorded answers: detection, and conversion of rows."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from math import inf
from typing import Any

from biaswatch.shared.contracts.probe import Message
from biaswatch.shared.conventions.contents import RecordedContent, reason_of, recorded
from biaswatch.shared.conventions.mapping import FieldMapping, value_at
from biaswatch.shared.conventions.messages import (
    answer_text,
    first_label,
    label_of,
    messages_of,
    opened,
    parsed,
)
from biaswatch.shared.conventions.outputs import output_of
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.conventions.spans import openinference
from biaswatch.shared.errors import UsageError


class LogFormat(StrEnum):
    """Format of a file of recorded answers."""

    OTLP = "otlp"
    OPENAI = "openai"
    OPENAI_BATCH = "openai-batch"
    LANGFUSE = "langfuse"
    OPENINFERENCE = "openinference"
    JSONL = "jsonl"
    CSV = "csv"
    PARQUET = "parquet"


Fields = Mapping[str, Any]
MESSAGE_LISTS = ("llm.input_messages", "llm.output_messages")


@dataclass(frozen=True)
class RowReader:
    """Reader of a format: a function for the content, and the usual mapping of fields."""

    content: Callable[[Fields], RecordedContent | None]
    """Function that returns None for a row without an answer."""
    usual: FieldMapping


def _plain(row: Fields) -> RecordedContent:
    return RecordedContent()  # the mapping names all fields


def _span(row: Fields) -> RecordedContent | None:
    """Read a span as Phoenix exports it: attributes with a prefix, messages as lists."""
    fields: dict[str, Any] = {}
    for name, value in row.items():
        if name in {"attributes", "attributes.llm"} or name.endswith(MESSAGE_LISTS):
            value = opened(value)
        fields |= _dotted(value, "" if name == "attributes" else name.removeprefix("attributes."))
    fields.setdefault("openinference.span.kind", row.get("span_kind"))
    failed = str(row.get("status_code", "")).upper() == "ERROR"
    error = str(fields.get("error.type") or "error") if failed else None
    return openinference.read(Signal("", "", "", 0, fields, {}, error=error), last=False)


def _dotted(value: Any, name: str) -> dict[str, Any]:
    """Flatten objects and lists of objects to names with dots."""
    if isinstance(value, Mapping):
        items = [(str(key), item) for key, item in value.items()]
    elif isinstance(value, list) and value and all(isinstance(item, Mapping) for item in value):
        items = [(str(number), item) for number, item in enumerate(value)]
    else:
        return {name: value}
    fields: dict[str, Any] = {}
    for key, item in items:
        fields |= _dotted(item, f"{name}.{key}" if name else key)
    return fields


def _observation(row: Fields) -> RecordedContent | None:
    """Read an observation of Langfuse; None if it is not a generation."""
    if str(row.get("type", "")).lower() != "generation":
        return None
    error = "error" if row.get("level") == "ERROR" else None
    model = first_label(row, "model", "providedModelName", "modelName")
    prompt = messages_of(opened(row.get("input")))
    return recorded(output_of(row.get("output"), last=True), error, prompt=prompt, model=model)


def _logged_call(row: Fields) -> RecordedContent | None:
    """Read a logged call: `{request: {messages}, response: {choices}}`."""
    row = _with_opened(row, "request", "response", "error")
    request, response = row.get("request"), row.get("response")
    if not request and not response:
        return None
    if isinstance(request, Mapping):
        names = ("messages", "input", "prompt")
        request = next((request[name] for name in names if request.get(name)), None)
    return _reply(response, _error_in(response) or row.get("error"), messages_of(request))


def _batch_line(row: Fields) -> RecordedContent | None:
    """Read a line of the output of a batch of OpenAI or Anthropic."""
    if "custom_id" not in row:
        return None
    row = _with_opened(row, "response", "result", "error")
    result = row.get("result")
    if isinstance(result, Mapping):  # Anthropic
        failed = result.get("type") != "succeeded"
        error = result.get("error") or result.get("type") if failed else None
        return _reply(result.get("message"), error, ())
    body = _object(row.get("response")).get("body")
    return _reply(body, row.get("error") or _error_in(body), ())


def _reply(reply: Any, error: Any, prompt: tuple[Message, ...]) -> RecordedContent:
    """Return the body of a reply of any provider."""
    fields = _object(reply)
    return recorded(
        output_of(reply),
        _error_name(error),
        prompt=prompt,
        model=label_of(fields.get("model")),
        fingerprint=label_of(fields.get("system_fingerprint")),
        response_id=label_of(fields.get("id")),
    )


def _error_in(body: Any) -> Any:
    return _object(body).get("error")


def _error_name(error: Any) -> str | None:
    if not error:
        return None
    if isinstance(error, Mapping):
        inner = error["error"] if isinstance(error.get("error"), Mapping) else error
        return reason_of(str(inner.get("code") or inner.get("type") or "error"))
    return reason_of(str(error))


def _object(value: Any) -> Fields:
    return value if isinstance(value, Mapping) else {}


def _with_opened(row: Fields, *names: str) -> Fields:
    """Parse these fields of a row, which a CSV file holds as JSON text."""
    return {**row, **{name: opened(row[name]) for name in names if name in row}}


GENERIC = RowReader(
    _plain,
    FieldMapping(
        id=("id",), time=("at",), prompt=("messages", "prompt"), text=("text",),
        reason=("reason",), unit=("unit",), model=("model",),
    ),
)  # fmt: skip
READERS: Mapping[LogFormat, RowReader] = {
    LogFormat.OPENAI: RowReader(
        _logged_call,
        FieldMapping(
            id=("id", "request_id", "response.id"),
            time=("at", "timestamp", "created_at", "response.created", "response.created_at"),
            unit=("user", "request.user", "request.safety_identifier"),
        ),
    ),
    LogFormat.OPENAI_BATCH: RowReader(
        _batch_line,
        FieldMapping(
            id=("custom_id",),
            time=("response.body.created", "response.body.created_at"),
            unit=("user",),
        ),
    ),
    LogFormat.LANGFUSE: RowReader(
        _observation,
        FieldMapping(
            id=("id",), time=("endTime", "end_time", "startTime", "start_time"),
            unit=("userId", "user_id", "sessionId", "session_id", "traceId", "trace_id"),
        ),
    ),
    LogFormat.OPENINFERENCE: RowReader(
        _span,
        FieldMapping(
            id=("context.span_id", "span_id"), time=("end_time", "start_time"),
            unit=("attributes.user.id", "attributes.session.id", "user.id", "session.id"),
        ),
    ),
    LogFormat.JSONL: GENERIC,
    LogFormat.CSV: GENERIC,
    LogFormat.PARQUET: GENERIC,
}  # fmt: skip


def detected(row: Fields, suffix: str) -> LogFormat:
    """Return the format of a file, from its first row or else from its extension."""
    names = set(row)
    if names & {"resourceSpans", "resourceLogs"}:
        return LogFormat.OTLP
    if "custom_id" in names and names & {"response", "result"}:
        return LogFormat.OPENAI_BATCH
    if {"request", "response"} <= names:
        return LogFormat.OPENAI
    if names & {"attributes.openinference.span.kind", "context.span_id", "span_kind"}:
        return LogFormat.OPENINFERENCE
    if "type" in names and names & {"traceId", "trace_id"}:
        return LogFormat.LANGFUSE
    endings = {".csv": LogFormat.CSV, ".parquet": LogFormat.PARQUET}
    return endings.get(suffix.lower(), LogFormat.JSONL)


def merged(usual: FieldMapping, declared: FieldMapping) -> FieldMapping:
    """Return the usual mapping, with the declared fields replaced."""
    names = declared.model_fields_set & set(FieldMapping.model_fields)
    return usual.model_copy(update={name: getattr(declared, name) for name in names})


def named_content(content: RecordedContent, row: Fields, mapping: FieldMapping) -> dict[str, Any]:
    """Return the fields of the content that the mapping replaces."""
    text_value = value_at(row, mapping.text)
    changed: dict[str, Any] = {}
    if (text := answer_text(text_value)) is not None:
        changed = {"text": text, "reason": None}
    if mapping.prompt and (prompt := messages_of(opened(value_at(row, mapping.prompt)))):
        changed["prompt"] = prompt
    if not mapping.prompts:
        changed["prompt"] = ()
    return changed


IDS = ("id", "unit")
LABELS = (*IDS, "reason", "model", "fingerprint", "finish_reason")
DIMENSIONS = ("groups", "facts")
EXACT_FLOAT_LIMIT = 2.0**53
"""Above this limit, a double holds only some of the integers."""
SCALAR = "Write text, a number, true or false."


def plain_answer(where: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with scalars converted to text, without empty fields.

    Raises
    ------
    UsageError
        A label is a list or an object, or groups are not an object.
    """
    changed: dict[str, Any] = {n: _label(where, n, row[n]) for n in LABELS if n in row}
    changed |= {n: _labels(where, n, row[n]) for n in DIMENSIONS if n in row}
    if not isinstance(row.get("text"), str):
        changed["text"] = answer_text(row.get("text"))
    answer = {**row, **changed}
    return {name: value for name, value in answer.items() if value is not None}


def id_label(value: Any) -> str | None:
    """Return an id as a label; a rounded float keeps its exponent, which shows the rounding."""
    is_rounded = isinstance(value, float) and EXACT_FLOAT_LIMIT <= abs(value) < inf
    return repr(value) if is_rounded else label_of(value)


def _label(where: str, name: str, value: Any) -> str | None:
    if isinstance(value, list | Mapping):
        raise UsageError(f"{where}: {name} is {_kind(value)}. {SCALAR}")
    return id_label(value) if name in IDS else label_of(value)


def _labels(where: str, name: str, written: Any) -> dict[str, str]:
    values = {} if written is None else parsed(written)
    if not isinstance(values, Mapping):
        raise UsageError(
            f"{where}: {name} is {_kind(values)}. Write an object with a label for each dimension,"
            ' like {"gender": "female"}.'
        )
    labels = {key: _label(where, f"{name}.{key}", value) for key, value in values.items()}
    return {key: label for key, label in labels.items() if label is not None}


def _kind(value: Any) -> str:
    if isinstance(value, list):
        return "a list"
    if isinstance(value, Mapping):
        return "an object"
    return "text" if isinstance(value, str) else "a single value"
