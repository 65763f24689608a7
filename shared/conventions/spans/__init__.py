"""Readers of spans and log events: a module for each convention, and their registry."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from biaswatch.shared.conventions.contents import RecordedContent
from biaswatch.shared.conventions.signals import Signal
from biaswatch.shared.conventions.spans import (
    genai,
    genai_events,
    langfuse,
    langsmith,
    mlflow,
    openinference,
    openllmetry,
    pydantic_ai,
    vercel,
)


class SignalReader(Protocol):
    """Reader of one convention."""

    def __call__(self, signal: Signal, *, last: bool) -> RecordedContent | None:
        """Return the content; None without anything of the convention.

        Of several messages, `last` selects the last one: the answer of an agent.
        """


CONVENTIONS: Mapping[str, SignalReader] = {
    "genai": genai.read,
    "genai_events": genai_events.read,
    "openinference": openinference.read,
    "openllmetry": openllmetry.read,
    "langfuse": langfuse.read,
    "vercel": vercel.read,
    "pydantic_ai": pydantic_ai.read,
    "mlflow": mlflow.read,
    "langsmith": langsmith.read,
}
"""Readers by name, in order of preference."""


def content_of(signal: Signal, *, last: bool = False) -> RecordedContent | None:
    """Return the content of a signal by the first convention with a text; None without any.

    Without a text, that of the first convention with a reason, or else with anything.
    """
    contents = []
    for read in CONVENTIONS.values():
        if (content := read(signal, last=last)) is not None:
            if content.text is not None:
                return content
            contents.append(content)
    if not contents:
        return None
    best = next((content for content in contents if content.reason), contents[0])
    prompts = (content.prompt for content in (best, *contents) if content.prompt)
    return replace(best, prompt=next(prompts, ()))
