"""Prompt and answer of one record, with the reason for a missing answer."""

import re
from dataclasses import dataclass

from biaswatch.shared.contracts.probe import Message
from biaswatch.shared.conventions.outputs import Output

NOT_IN_TOKENS = re.compile(r"[^A-Za-z0-9_-]+")
MAX_REASON_CHARACTERS = 96
FILTERED = {"content_filter", "content-filter", "safety", "refusal", "prohibited_content"}
"""Finish reasons of answers that were withheld, in lower case."""
TOOL_CALL = "tool_call"
"""The reason for a missing text where the model called a tool."""


@dataclass(frozen=True, slots=True)
class RecordedContent:
    """Prompt and answer, as far as one signal has them."""

    prompt: tuple[Message, ...] = ()
    text: str | None = None
    reason: str | None = None
    """The reason for a missing answer."""
    finish_reason: str | None = None
    model: str | None = None
    fingerprint: str | None = None
    response_id: str | None = None
    elsewhere: bool = False
    """True if another signal of the same operation may have the texts."""

    @property
    def answered(self) -> bool:
        """True if it has an answer or the reason for a missing one."""
        return self.text is not None or self.reason is not None


def recorded(
    output: Output,
    error: str | None,
    *,
    prompt: tuple[Message, ...] = (),
    model: str | None = None,
    fingerprint: str | None = None,
    response_id: str | None = None,
    elsewhere: bool = False,
) -> RecordedContent:
    """Return the content of a record; an empty answer gets its reason, if it is known."""
    reason = None
    if error is not None:
        reason = reason_of(error)
    elif not output.text and (output.finish or "").lower() in FILTERED:
        reason = "content_filter"
    elif output.is_tool_call:
        reason = TOOL_CALL
    return RecordedContent(
        prompt=prompt,
        text=output.text if output.text and error is None else None,
        reason=reason,
        finish_reason=output.finish,
        model=model,
        fingerprint=fingerprint,
        response_id=response_id,
        elsewhere=elsewhere,
    )


def reason_of(error: str) -> str:
    """Return the name of an error as a token: `openai.RateLimitError`, `openai_RateLimitError`."""
    return NOT_IN_TOKENS.sub("_", error).strip("_")[:MAX_REASON_CHARACTERS] or "error"
