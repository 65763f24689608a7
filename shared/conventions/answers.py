"""From a span or a log event to an answer: one convention reads it, a mapping says whose it is."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from biaswatch.shared.contracts.response import CallSpan
from biaswatch.shared.conventions.mapping import (
    FACT,
    GROUP,
    FieldMapping,
    MappingFile,
    declared_labels,
    labels_at,
    value_at,
)
from biaswatch.shared.conventions.messages import answer_text, label_of, messages_of
from biaswatch.shared.conventions.signals import RecordedContent, Signal, ending_of
from biaswatch.shared.conventions.spans import (
    read_genai,
    read_genai_events,
    read_langfuse,
    read_openinference,
    read_openllmetry,
    unquoted,
)

CONVENTIONS: Mapping[str, Callable[[Signal], RecordedContent | None]] = {
    "langfuse": read_langfuse,
    "openinference": read_openinference,
    "openllmetry": read_openllmetry,
    "genai": read_genai,
    "genai_events": read_genai_events,
}
"""By name; the first that knows a signal reads it."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NOT_IN_SOURCES = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """An answer, or what one signal tells of it."""

    source: str
    """The live system; empty where nothing names it."""
    key: str
    at_ns: int
    is_span: bool
    content: RecordedContent
    unit: str | None = None
    groups: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    span: CallSpan | None = None
    """Where the call is in its owner's traces."""
    redacted: dict[str, int] = field(default_factory=dict)
    """How often something was replaced in its texts, by what stands there instead."""

    @property
    def whole(self) -> bool:
        """Whether nothing else need be waited for: an event's span may name the user."""
        return self.content.answered and self.is_span

    @property
    def waits(self) -> bool:
        """Whether other signals of the operation may tell the rest."""
        return not self.whole and (self.content.elsewhere or not self.is_span)


def part_of(signal: Signal, mapping: MappingFile) -> AnswerPart | None:
    """Return what a signal tells of an answer; None for one that is of none."""
    fields = {**signal.resource, **signal.attributes}
    source = source_of(label_of(value_at(fields, mapping.source)) or "")
    found = _content(signal, fields, mapping.of(source))
    if found is None:
        return None
    if signal.attributes.get("langfuse.observation.type"):
        fields = unquoted(fields)
    of = mapping.of(source)
    key = label_of(value_at(fields, of.id))
    if key is None:
        key = signal.key if signal.trace_id else found.response_id or ""
    return AnswerPart(
        source, key, signal.at_ns, signal.is_span, found, label_of(value_at(fields, of.unit)),
        {**declared_labels(fields, GROUP), **labels_at(fields, of.groups)},
        {**declared_labels(fields, FACT), **labels_at(fields, of.strata)},
        _span_of(signal, found.response_id),
    )  # fmt: skip


def _span_of(signal: Signal, response_id: str | None) -> CallSpan | None:
    """Return where a call is in its traces; None where a signal names no span, or a wrong one."""
    try:
        return CallSpan(
            trace_id=signal.trace_id, span_id=signal.span_id, response_id=response_id or None
        )
    except ValidationError:
        return None


def source_of(name: str) -> str:
    """Return a service's name as the name of a live system: `support.bot` is `support_bot`."""
    return NOT_IN_SOURCES.sub("_", name)[:96]


def _content(
    signal: Signal, fields: Mapping[str, Any], mapping: FieldMapping
) -> RecordedContent | None:
    read = (found for each in CONVENTIONS.values() if (found := each(signal)) is not None)
    content = next(read, None)
    return _named(content, signal.error, fields, mapping)


def _named(
    content: RecordedContent | None,
    error: str | None,
    fields: Mapping[str, Any],
    mapping: FieldMapping,
) -> RecordedContent | None:
    """Return the content with what the mapping names in place of what the convention says."""
    said = answer_text(value_at(fields, mapping.text))
    if content is None:
        if said is None:
            return None
        content = RecordedContent(**ending_of(said, None, error))
    changed: dict[str, Any] = {} if said is None else {"text": said, "reason": None}
    if asked := messages_of(value_at(fields, mapping.prompt)):
        changed["asked"] = asked
    if not mapping.prompts:
        changed["asked"] = ()
    if model := label_of(value_at(fields, mapping.model)):
        changed["model"] = model
    if said is None and (reason := label_of(value_at(fields, mapping.reason))):
        changed |= {"text": None, "reason": reason}
    return replace(content, **changed) if changed else content


def joined(parts: Sequence[AnswerPart]) -> AnswerPart:
    """Return the answer that several signals of one operation tell together.

    What the span says comes first; messages are in the order of their events.
    """
    ordered = sorted(parts, key=lambda each: (not each.is_span, each.at_ns))
    base = ordered[0]
    said = next((each.content for each in ordered if each.content.text is not None), None)
    said = said or next((each.content for each in ordered if each.content.answered), base.content)
    asked = base.content.asked if base.is_span else ()
    asked = asked or tuple(
        message for each in ordered if not each.is_span for message in each.content.asked
    )
    content = replace(
        said,
        asked=asked,
        model=base.content.model or said.model,
        fingerprint=base.content.fingerprint or said.fingerprint,
        finish_reason=said.finish_reason or base.content.finish_reason,
        elsewhere=False,
    )
    return AnswerPart(
        base.source, base.key, base.at_ns, base.is_span, content,
        next((each.unit for each in ordered if each.unit), None),
        {name: label for each in reversed(ordered) for name, label in each.groups.items()},
        {name: label for each in reversed(ordered) for name, label in each.facts.items()},
        _joined_span([each.span for each in ordered if each.span]),
        dict(sum((Counter(each.redacted) for each in ordered), Counter())),
    )  # fmt: skip


def _joined_span(spans: Sequence[CallSpan]) -> CallSpan | None:
    """Return the first span, with the id of the answer that any of them names."""
    if not spans:
        return None
    named = next((each.response_id for each in spans if each.response_id), None)
    return spans[0].model_copy(update={"response_id": named})


def is_ready(parts: Sequence[AnswerPart]) -> bool:
    """Tell whether these parts are an answer to which nothing need be waited for."""
    return any(each.is_span for each in parts) and any(each.content.answered for each in parts)


def sent_fields(part: AnswerPart) -> dict[str, Any]:
    """Return an answer as the API takes it."""
    content = part.content
    found: dict[str, Any] = {
        "id": part.key,
        "at": moment_of(part.at_ns) if part.at_ns else None,
        "messages": content.asked,
        "text": content.text,
        "reason": content.reason,
        "groups": part.groups,
        "facts": part.facts,
        "unit": part.unit,
        "model": content.model,
        "fingerprint": content.fingerprint,
        "finish_reason": content.finish_reason,
        "span": part.span,
    }
    return {name: value for name, value in found.items() if value not in (None, {}, ())}


def moment_of(at_ns: int) -> datetime:
    """Return a moment, exact to the microsecond."""
    return EPOCH + timedelta(microseconds=at_ns // 1000)
