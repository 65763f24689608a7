"""Exports of Langfuse and Phoenix."""

from collections.abc import Mapping
from typing import Any

from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.mapping import FieldMapping
from biaswatch.shared.conventions.messages import first_label, opened, prompt_in
from biaswatch.shared.conventions.outputs import output_of
from biaswatch.shared.conventions.rows.form import RowFormat
from biaswatch.shared.conventions.signals import Fields, Signal
from biaswatch.shared.conventions.spans import openinference

MESSAGE_LISTS = ("llm.input_messages", "llm.output_messages")
PHOENIX_NAMES = {"attributes.openinference.span.kind", "context.span_id", "span_kind"}


def _observation(row: Fields) -> RecordedContent | None:
    """Read an observation of Langfuse; None if it is not a generation."""
    if str(row.get("type", "")).lower() != "generation":
        return None
    error = "error" if row.get("level") == "ERROR" else None
    model = first_label(row, "model", "providedModelName", "modelName")
    prompt = prompt_in(row.get("input"))
    return recorded(output_of(row.get("output"), last=True), error, prompt=prompt, model=model)


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


LANGFUSE = RowFormat(
    lambda row: "type" in row and bool(row.keys() & {"traceId", "trace_id"}),
    _observation,
    FieldMapping(
        id=("id",), time=("endTime", "end_time", "startTime", "start_time"),
        unit=("userId", "user_id", "sessionId", "session_id", "traceId", "trace_id"),
    ),
)  # fmt: skip
OPENINFERENCE = RowFormat(
    lambda row: bool(row.keys() & PHOENIX_NAMES),
    _span,
    FieldMapping(
        id=("context.span_id", "span_id"), time=("end_time", "start_time"),
        unit=("attributes.user.id", "attributes.session.id", "user.id", "session.id"),
    ),
)  # fmt: skip
