"""Spans and log events of OpenTelemetry, as plain values, however they were transported."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypedDict

from biaswatch.shared.contracts.probe import Message
from biaswatch.shared.parsing.json_objects import without_half_pairs

Fields = Mapping[str, Any]
MAX_TIME_NS = 2**64 - 1
"""The latest moment that OTLP can hold, in nanoseconds of Unix time."""


@dataclass(frozen=True, slots=True)
class Signal:
    """One span, or one log event that belongs to a span."""

    trace_id: str
    """32 hexadecimal digits; empty where a log event has none."""
    span_id: str
    name: str
    """The span's name, or the event's."""
    at_ns: int
    """When a span ended, or when an event happened (Unix time in nanoseconds); 0: unknown."""
    attributes: Fields
    resource: Fields
    is_span: bool = True
    events: tuple[tuple[str, Fields], ...] = ()
    """The events inside a span, by name, with their attributes."""
    body: Any = None
    """What a log event holds."""
    error: str | None = None
    """Why the operation failed; None unless it did."""

    @property
    def key(self) -> str:
        """What names the operation: the same in a repeated span and in its log events."""
        return f"{self.trace_id}-{self.span_id}"


def signals_of_json(request: Any) -> Iterator[Signal]:
    """Yield the spans and log events of a request in OTLP's JSON, in their order.

    Raises
    ------
    ValueError
        This is no such request.
    """
    with_spans, with_logs = _list(request, "resourceSpans"), _list(request, "resourceLogs")
    for each in with_spans:
        resource = attributes_of_json(_get(each, "resource", {}).get("attributes"))
        for scope in _list(each, "scopeSpans"):
            yield from (_span(span, resource) for span in _list(scope, "spans"))
    for each in with_logs:
        resource = attributes_of_json(_get(each, "resource", {}).get("attributes"))
        for scope in _list(each, "scopeLogs"):
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
            (str(_get(each, "name", "")), attributes_of_json(each.get("attributes")))
            for each in _list(span, "events")
        ),
        error=str(attributes.get("error.type") or "error") if failed else None,
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
    """Return attributes by name, with the values that OTLP's JSON wraps."""
    return {
        without_half_pairs(str(each["key"])): value_of_json(each.get("value"))
        for each in _checked(pairs)
    }


def value_of_json(wrapped: Any) -> Any:
    """Return the value inside `{"stringValue": ...}` and its like."""
    if not isinstance(wrapped, dict):
        return None
    for name, value in wrapped.items():
        match name:
            case "intValue":
                return int(value)
            case "arrayValue":
                return [value_of_json(each) for each in _list(value, "values")]
            case "kvlistValue":
                return attributes_of_json(_list(value, "values"))
            case _:
                return without_half_pairs(value)
    return None


def _list(holder: Any, name: str) -> list[Any]:
    if not isinstance(holder, dict):
        raise ValueError("this is not OTLP's JSON: an object was expected")  # noqa: TRY004
    return _checked(holder.get(name))


def _checked(found: Any) -> list[Any]:
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
        raise ValueError("this is not OTLP's JSON: a list of objects was expected")
    return found


def _get(holder: Any, name: str, otherwise: Any) -> Any:
    """Return a field; another kind of value than expected counts as a mistake."""
    found = holder.get(name)
    if found is None:
        return otherwise
    if not isinstance(found, type(otherwise)):
        raise ValueError(f"this is not OTLP's JSON: {name} is of another kind")  # noqa: TRY004
    return without_half_pairs(found) if isinstance(found, str) else found


def _whole(holder: Any, name: str) -> int:
    try:
        number = int(holder.get(name) or 0)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"this is not OTLP's JSON: {name} is no whole number") from None
    if not 0 <= number <= MAX_TIME_NS:
        raise ValueError(f"this is not OTLP's JSON: {name} is no moment")
    return number


NOT_IN_TOKENS = re.compile(r"[^A-Za-z0-9_-]+")
LONGEST_REASON = 96


@dataclass(frozen=True, slots=True)
class RecordedContent:
    """What was asked and said, as far as one signal tells."""

    asked: tuple[Message, ...] = ()
    text: str | None = None
    reason: str | None = None
    """Why there is no answer."""
    finish_reason: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    elsewhere: bool = False
    """Whether the words may come in another signal of the same operation."""

    @property
    def answered(self) -> bool:
        """Whether it tells what became of the question."""
        return self.text is not None or self.reason is not None


class AnswerEnding(TypedDict):
    """How a call ended: with a text, with a reason for having none, or nobody knows."""

    text: str | None
    reason: str | None
    finish_reason: str | None


def ending_of(text: str | None, finish: str | None, error: str | None) -> AnswerEnding:
    """Return text, reason and finish reason; an empty answer has a reason where one is known."""
    if text and error is None:
        return {"text": text, "reason": None, "finish_reason": finish}
    if error is not None:
        return {"text": None, "reason": reason_of(error), "finish_reason": finish}
    if finish in {"content_filter", "SAFETY", "refusal"}:
        return {"text": None, "reason": "content_filter", "finish_reason": finish}
    return {"text": None, "reason": None, "finish_reason": finish}


def reason_of(error: str) -> str:
    """Return the name of an error as a token: `openai.RateLimitError`, `openai_RateLimitError`."""
    return NOT_IN_TOKENS.sub("_", error).strip("_")[:LONGEST_REASON] or "error"
