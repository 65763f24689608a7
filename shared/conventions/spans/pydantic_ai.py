"""Pydantic AI and Logfire: messages as lists in one attribute of a span."""

from typing import Any

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.messages import messages_of, parsed
from biaswatch.shared.conventions.outputs import Output, output_of
from biaswatch.shared.conventions.signals import Fields, Signal
from biaswatch.shared.conventions.spans.genai import INPUT, genai_content, prompt_of
from biaswatch.shared.conventions.spans.genai_events import body_of, events_content

HISTORIES = ("pydantic_ai.all_messages", "all_messages_events")
"""Attributes of an agent with its whole conversation; the second is of versions before 1.0."""
RESULTS = ("final_result",)


def read(signal: Signal, *, last: bool) -> RecordedContent | None:
    """Read the conversation of an agent, or the events of a call (`events`)."""
    fields = signal.attributes
    if not signal.is_span:
        return None
    for name in HISTORIES:
        if history := _objects(fields.get(name)):
            return _of_agent(signal, history)
    if events := _objects(fields.get("events")):
        named = [(str(event.get("event.name")), body_of(event)) for event in events]
        return events_content(signal, named, last=last)
    if response := fields.get("response_data"):  # Logfire's own instrumentation of SDKs
        request = parsed(fields.get("request_data"))
        prompt = messages_of(request) if isinstance(request, dict) else ()
        return genai_content(signal, fields, output_of(response), prompt, last=True)
    return None


def _of_agent(signal: Signal, history: list[Fields]) -> RecordedContent:
    fields = signal.attributes
    result = next((fields[name] for name in RESULTS if fields.get(name)), None)
    output = output_of(history, last=True) if result is None else Output(str(result))
    questions = [item for item in history if item.get("role") in {"user", "system"}]
    return genai_content(signal, fields, output, prompt_of({**fields, INPUT: questions}), last=True)


def _objects(value: Any) -> list[Fields]:
    items = parsed(value)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
