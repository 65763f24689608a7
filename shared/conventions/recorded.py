"""What a convention reads from one span, log event or line: an answer, or a part of one."""

import re
from dataclasses import dataclass
from typing import TypedDict

from biaswatch.shared.contracts.probe import Message

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
