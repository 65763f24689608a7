"""Messages and choices as events: OpenTelemetry's log events until 1.36, and events of spans."""

from collections.abc import Mapping
from typing import Any

from biaswatch.shared.contracts.probe import Message
from biaswatch.shared.conventions.contents import RecordedContent, recorded
from biaswatch.shared.conventions.messages import messages_of, parsed
from biaswatch.shared.conventions.outputs import NOTHING, Output, output_of
from biaswatch.shared.conventions.signals import Fields, Signal
from biaswatch.shared.conventions.spans.genai import genai_content

ROLES_OF_EVENTS = {"gen_ai.system.message": "system", "gen_ai.user.message": "user",
                   "gen_ai.system.instruction": "system",
                   "gen_ai.assistant.message": "assistant"}  # fmt: skip
CHOICE = "gen_ai.choice"
AZURE = "gen_ai.event.content"
"""Attribute of Azure SDKs for the body of an event, as JSON."""


def read(signal: Signal, *, last: bool) -> RecordedContent | None:
    """Read a log event with one message or choice, or the events inside a span."""
    if not signal.is_span:
        return _log_event(signal)
    events = [(name, body_of(fields)) for name, fields in signal.events]
    return events_content(signal, events, last=last)


def events_content(
    signal: Signal, events: list[tuple[str, Fields]], *, last: bool
) -> RecordedContent | None:
    """Return the content of the events of one span; None without messages."""
    prompt = [message for name, body in events for message in _prompt(name, body)]
    outputs = [output for name, body in events for output in _answered(name, body, last)]
    if not prompt and not outputs:
        return None
    return genai_content(signal, signal.attributes, _best(outputs, last), tuple(prompt), last=last)


def _prompt(name: str, body: Fields) -> tuple[Message, ...]:
    if name == "gen_ai.content.prompt":
        return messages_of(body.get("gen_ai.prompt"))
    role = ROLES_OF_EVENTS.get(name)
    return messages_of([{"role": role, **_message(body)}]) if role else ()


def _answered(name: str, body: Fields, last: bool) -> list[Output]:
    """Return the output of an event; the assistant's messages are one only of an agent."""
    if name == CHOICE:
        return [] if body.get("index") else [_choice(body)]
    if name == "gen_ai.content.completion" and body.get("gen_ai.completion"):
        return [output_of(body["gen_ai.completion"], last=last)]
    return [output_of(_message(body))] if last and name == "gen_ai.assistant.message" else []


def _best(outputs: list[Output], last: bool) -> Output:
    """Return the first output with a text, or the last one; else the first without."""
    ordered = outputs[::-1] if last else outputs
    answered = (output for output in ordered if output.text is not None)
    return next(answered, ordered[0] if ordered else NOTHING)


def _log_event(signal: Signal) -> RecordedContent | None:
    held = parsed(signal.body)
    body = body_of({**signal.attributes, **(_object(held) or {"content": held})})
    if signal.name == CHOICE:
        if body.get("index"):
            return None  # only the first choice is the answer
        content = recorded(_choice(body), None, elsewhere=True)
        return content if content.answered else None
    if (role := ROLES_OF_EVENTS.get(signal.name)) is None:
        return None
    prompt = messages_of([{"role": role, **_message(body)}])
    return RecordedContent(prompt=prompt, elsewhere=True) if prompt else None


def body_of(fields: Fields) -> Fields:
    """Return the fields of an event, with those of a body inside an attribute."""
    held = _object(parsed(fields.get(AZURE))) or _object(parsed(fields.get("body")))
    if isinstance(text := fields.get(AZURE), str) and not held:
        held = {"content": text}
    return {**fields, **held}


def _choice(body: Fields) -> Output:
    message = parsed(body.get("message"))
    fields = {"message": message} if message is not None else {"content": body.get("content")}
    if body.get("tool_calls"):
        fields = {**fields, "tool_calls": parsed(body["tool_calls"])}
    return output_of({**fields, "finish_reason": body.get("finish_reason")})


def _message(body: Fields) -> dict[str, Any]:
    content = parsed(body.get("content", body.get("message")))
    is_message = isinstance(content, Mapping) and "content" in content
    return dict(content) if is_message else {"content": content}


def _object(value: Any) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}
