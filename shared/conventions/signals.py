"""Spans and log events of OpenTelemetry as plain values."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from biaswatch.shared.parsing.json_objects import without_surrogates

Fields = Mapping[str, Any]
REMOTE_PARENT = 0x200
"""Flag of a span whose parent is in another process."""
MAX_TIME_NS = 2**64 - 1
"""The largest timestamp of OTLP, in nanoseconds of Unix time."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One span, or one log event that belongs to a span."""

    trace_id: str
    """32 hexadecimal digits; empty for a log event without a trace."""
    span_id: str
    name: str
    """The name of the span or event."""
    at_ns: int
    """End of the span or time of the event, in nanoseconds of Unix time; 0 if unknown."""
    attributes: Fields
    resource: Fields
    is_span: bool = True
    events: tuple[tuple[str, Fields], ...] = ()
    """Names and attributes of the events inside a span."""
    body: Any = None
    """The body of a log event."""
    error: str | None = None
    """The error of a failed operation."""
    parent_id: str = ""
    """The span of the same service that this one is part of; empty for a root."""

    @property
    def key(self) -> str:
        """The key of the operation, which its repeated spans and its log events share."""
        return f"{self.trace_id}-{self.span_id}"


def signals_of_json(request: Any) -> Iterator[Signal]:
    """Yield the spans and log events of a request in OTLP's JSON, in order.

    Raises
    ------
    ValueError
        The request is invalid.
    """
    spans, logs = _list(request, "resourceSpans"), _list(request, "resourceLogs")
    for group in spans:
        resource = attributes_of_json(_get(group, "resource", {}).get("attributes"))
        for scope in _list(group, "scopeSpans"):
            yield from (_span(span, resource) for span in _list(scope, "spans"))
    for group in logs:
        resource = attributes_of_json(_get(group, "resource", {}).get("attributes"))
        for scope in _list(group, "scopeLogs"):
            yield from (_event(record, resource) for record in _list(scope, "logRecords"))


def _span(span: Any, resource: Fields) -> Signal:
    attributes = attributes_of_json(span.get("attributes"))
    status = _get(span, "status", {})
    failed = status.get("code") in {2, "STATUS_CODE_ERROR"}
    return Signal(
        trace_id=str(_get(span, "traceId", "")).lower(),
        span_id=str(_get(span, "spanId", "")).lower(),
        name=str(_get(span, "name", "")),
        at_ns=_whole(span, "endTimeUnixNano"),
        attributes=attributes,
        resource=resource,
        events=tuple(
            (str(_get(event, "name", "")), attributes_of_json(event.get("attributes")))
            for event in _list(span, "events")
        ),
        error=str(attributes.get("error.type") or "error") if failed else None,
        parent_id=(
            ""
            if _whole(span, "flags") & REMOTE_PARENT
            else str(_get(span, "parentSpanId", "")).lower()
        ),
    )


def _event(record: Any, resource: Fields) -> Signal:
    attributes = attributes_of_json(record.get("attributes"))
    name = _get(record, "eventName", "") or attributes.get("event.name", "")
    return Signal(
        trace_id=str(_get(record, "traceId", "")).lower(),
        span_id=str(_get(record, "spanId", "")).lower(),
        name=str(name),
        at_ns=_whole(record, "timeUnixNano") or _whole(record, "observedTimeUnixNano"),
        attributes=attributes,
        resource=resource,
        is_span=False,
        body=value_of_json(record["body"]) if record.get("body") else None,
    )


def attributes_of_json(pairs: Any) -> dict[str, Any]:
    """Return attributes by name, with their values unwrapped."""
    return {
        without_surrogates(str(pair["key"])): value_of_json(pair.get("value"))
        for pair in _checked(pairs)
    }


def value_of_json(wrapped: Any) -> Any:
    """Return the value inside a wrapper such as `{"stringValue": ...}`."""
    if not isinstance(wrapped, dict):
        return None
    for name, value in wrapped.items():
        match name:
            case "intValue":
                return _integer(value)
            case "arrayValue":
                return [value_of_json(item) for item in _list(value, "values")]
            case "kvlistValue":
                return attributes_of_json(_list(value, "values"))
            case _:
                return without_surrogates(value)
    return None


def _list(holder: Any, name: str) -> list[Any]:
    if not isinstance(holder, dict):
        raise ValueError("this is not OTLP's JSON: an object was expected")  # noqa: TRY004
    return _checked(holder.get(name))


def _checked(value: Any) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ValueError("this is not OTLP's JSON: a list of objects was expected")
    return value


def _get(holder: Any, name: str, otherwise: Any) -> Any:
    """Return a field, which must have the type of its default."""
    value = holder.get(name)
    if value is None:
        return otherwise
    if not isinstance(value, type(otherwise)):
        raise ValueError(f"this is not OTLP's JSON: {name} has another type")  # noqa: TRY004
    return without_surrogates(value) if isinstance(value, str) else value


def _integer(value: Any) -> int:
    try:
        return int(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("this is not OTLP's JSON: an intValue is not an integer") from None


def _whole(holder: Any, name: str) -> int:
    try:
        number = int(holder.get(name) or 0)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"this is not OTLP's JSON: {name} is not a whole number") from None
    if not 0 <= number <= MAX_TIME_NS:
        raise ValueError(f"this is not OTLP's JSON: {name} is not a valid time")
    return number
