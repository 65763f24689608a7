"""LangSmith, and other exporters with a whole request and reply in two attributes."""

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.messages import messages_of, opened
from biaswatch.shared.conventions.outputs import NOTHING, output_of
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.conventions.spans.genai import genai_content

PROMPTS = ("gen_ai.prompt", "langsmith.entity.input", "traceloop.entity.input")
COMPLETIONS = ("gen_ai.completion", "langsmith.entity.output", "traceloop.entity.output")
"""Attributes with a text, messages, or the body of a reply."""


def read(signal: Signal, *, last: bool) -> RecordedContent | None:
    """Read `gen_ai.prompt` and `gen_ai.completion`."""
    fields = signal.attributes
    if not signal.is_span or not any(name in fields for name in (*PROMPTS, *COMPLETIONS)):
        return None
    completion = next((fields[name] for name in COMPLETIONS if fields.get(name)), None)
    output = NOTHING if completion is None else output_of(completion, last=last)
    prompt = next((opened(fields[name]) for name in PROMPTS if fields.get(name)), None)
    return genai_content(signal, fields, output, messages_of(prompt), last=last)
