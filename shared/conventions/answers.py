"""Answers read from spans and log events, with the groups that a mapping names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

from pydantic import ValidationError

from biaswatch.shared.contracts.response import CallSpan
from biaswatch.shared.conventions.contents import NOT_IN_TOKENS, RecordedContent, recorded
from biaswatch.shared.conventions.kinds import SpanKind, kind_of
from biaswatch.shared.conventions.left_out import MAX_NAMES
from biaswatch.shared.conventions.mapping import (
    FACT,
    GROUP,
    FieldMapping,
    MappingFile,
    declared_labels,
    labels_at,
    value_at,
)
from biaswatch.shared.conventions.messages import label_of, messages_of
from biaswatch.shared.conventions.outputs import NOTHING, logged_output
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.conventions.spans import content_of
from biaswatch.shared.conventions.spans.langfuse import unquoted

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class AnswerPart:
    """An answer, or the part of it in one signal."""

    source: str
    """The live system; empty if unknown."""
    key: str
    at_ns: int
    is_span: bool
    content: RecordedContent
    unit: str | None = None
    groups: dict[str, str] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    span: CallSpan | None = None
    """The span of the call in the traces of its owner."""
    redacted: dict[str, int] = field(default_factory=dict)
    """Numbers of redactions in its texts, by replacement."""
    is_agent: bool = False
    """True for the span of an agent, whose answer may be in its steps."""
    names: tuple[str, ...] = ()
    """Names of its attributes, if it has neither an answer nor a reason."""
    trace_id: str = ""
    span_id: str = ""
    parent_id: str = ""
    """The span of the same service that this one is part of; empty for a root."""
    is_link: bool = False
    """True for a span without a call, kept as the parent of other spans."""

    @property
    def span_key(self) -> tuple[str, str]:
        """Trace and span."""
        return self.trace_id, self.span_id

    @property
    def whole(self) -> bool:
        """True if it is complete; the span of an event may still name the user."""
        return self.content.answered and self.is_span

    @property
    def waits(self) -> bool:
        """True if other signals of the operation may complete it."""
        return not self.whole and (self.content.elsewhere or not self.is_span)


def part_of(signal: Signal, mapping: MappingFile) -> AnswerPart | None:
    """Return the part of an answer in a signal, or None."""
    fields = {**signal.resource, **signal.attributes}
    source = source_of(label_of(value_at(fields, mapping.source)) or "")
    own = mapping.of(source)
    kind = kind_of(signal) if signal.is_span else None
    content = _content(signal, kind, fields, own)
    if content is None:
        return None
    if signal.attributes.get("langfuse.observation.type"):
        fields = unquoted(fields)
    key = label_of(value_at(fields, own.id))
    if key is None:
        key = signal.key if signal.trace_id else content.response_id or ""
    return AnswerPart(
        source,
        key,
        signal.at_ns,
        signal.is_span,
        content,
        unit=label_of(value_at(fields, own.unit)),
        groups={**declared_labels(fields, GROUP), **labels_at(fields, own.groups)},
        facts={**declared_labels(fields, FACT), **labels_at(fields, own.strata)},
        span=_span_of(signal, content.response_id),
        is_agent=kind is SpanKind.AGENT,
        names=() if content.answered else tuple(signal.attributes)[: MAX_NAMES + 1],
        trace_id=signal.trace_id,
        span_id=signal.span_id,
        parent_id=signal.parent_id,
    )


def link_of(signal: Signal, mapping: MappingFile) -> AnswerPart:
    """Return a span without a call as the link between its parent and its children."""
    fields = {**signal.resource, **signal.attributes}
    source = source_of(label_of(value_at(fields, mapping.source)) or "")
    return AnswerPart(
        source,
        signal.key,
        signal.at_ns,
        signal.is_span,
        RecordedContent(),
        trace_id=signal.trace_id,
        span_id=signal.span_id,
        parent_id=signal.parent_id,
        is_link=True,
    )


def _span_of(signal: Signal, response_id: str | None) -> CallSpan | None:
    """Return the span of a call; None if the signal has no valid one."""
    try:
        return CallSpan(
            trace_id=signal.trace_id, span_id=signal.span_id, response_id=response_id or None
        )
    except ValidationError:
        return None


def source_of(name: str) -> str:
    """Return the name of a service as that of a live system: `support.bot`, `support_bot`."""
    return NOT_IN_TOKENS.sub("_", name)[:96]


def _content(
    signal: Signal, kind: SpanKind | None, fields: Mapping[str, Any], mapping: FieldMapping
) -> RecordedContent | None:
    """Return the content by the first matching convention; mapped fields take precedence."""
    is_agent = kind is SpanKind.AGENT
    content = None if kind is SpanKind.OTHER else content_of(signal, last=is_agent)
    if is_agent and (content is None or not content.answered):
        content = replace(content or RecordedContent(), elsewhere=False)
    output = logged_output(value_at(fields, mapping.text))
    if content is None:
        if output == NOTHING:
            return None
        content = recorded(output, signal.error)
    if output.text is not None:
        content = replace(content, text=output.text, reason=None)
    elif reason := label_of(value_at(fields, mapping.reason)):
        content = replace(content, text=None, reason=reason)
    prompt = messages_of(value_at(fields, mapping.prompt)) or content.prompt
    return replace(
        content,
        prompt=prompt if mapping.prompts else (),
        model=label_of(value_at(fields, mapping.model)) or content.model,
    )


def joined(parts: Sequence[AnswerPart]) -> AnswerPart:
    """Join the parts of one operation; the span takes precedence, events keep their order."""
    ordered = sorted(parts, key=lambda part: (not part.is_span, part.at_ns))
    base = ordered[0]
    answer = next((part.content for part in ordered if part.content.text is not None), None)
    answer = answer or next(
        (part.content for part in ordered if part.content.answered), base.content
    )
    prompt = base.content.prompt if base.is_span else ()
    prompt = prompt or tuple(
        message for part in ordered if not part.is_span for message in part.content.prompt
    )
    groups: dict[str, str] = {}
    facts: dict[str, str] = {}
    for part in reversed(ordered):
        groups |= part.groups
        facts |= part.facts
    spans = [part.span for part in ordered if part.span]
    response_id = next((span.response_id for span in spans if span.response_id), None)
    return AnswerPart(
        base.source,
        base.key,
        base.at_ns,
        base.is_span,
        replace(
            answer,
            prompt=prompt,
            model=base.content.model or answer.model,
            fingerprint=base.content.fingerprint or answer.fingerprint,
            finish_reason=answer.finish_reason or base.content.finish_reason,
            elsewhere=False,
        ),
        unit=next((part.unit for part in ordered if part.unit), None),
        groups=groups,
        facts=facts,
        span=spans[0].model_copy(update={"response_id": response_id}) if spans else None,
        redacted=dict(sum((Counter(part.redacted) for part in ordered), Counter())),
        is_agent=base.is_agent,
        names=base.names,
        trace_id=base.trace_id,
        span_id=base.span_id,
        parent_id=base.parent_id,
    )


def sent_fields(part: AnswerPart) -> dict[str, Any]:
    """Return an answer as fields of the API, without empty ones."""
    content = part.content
    fields: dict[str, Any] = {
        "id": part.key,
        "at": moment_of(part.at_ns) if part.at_ns else None,
        "messages": content.prompt,
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
    return {name: value for name, value in fields.items() if value not in (None, {}, ())}


def moment_of(at_ns: int) -> datetime:
    """Return a time in nanoseconds as a datetime, exact to the microsecond."""
    return EPOCH + timedelta(microseconds=at_ns // 1000)
