"""OpenTelemetry's conventions up to 1.36: each message and each choice is a log event."""

from typing import Any

from biaswatch.shared.conventions.messages import messages_of, text_of
from biaswatch.shared.conventions.recorded import RecordedContent, ending_of
from biaswatch.shared.conventions.signals import Signal

MESSAGES = {"gen_ai.system.message": "system", "gen_ai.user.message": "user",
            "gen_ai.assistant.message": "assistant"}  # fmt: skip
CHOICE = "gen_ai.choice"


def read(signal: Signal) -> RecordedContent | None:
    """Return the message or the first choice that an event holds; None for another event."""
    if signal.is_span:
        return None
    body: Any = signal.body if isinstance(signal.body, dict) else {}
    if signal.name == CHOICE:
        return _choice(body)
    if (role := MESSAGES.get(signal.name)) is None:
        return None
    asked = messages_of([{"role": role, "content": body.get("content")}])
    return RecordedContent(asked=asked, elsewhere=True) if asked else None


def _choice(body: Any) -> RecordedContent | None:
    if body.get("index"):
        return None  # an answer is the first choice
    finish = body.get("finish_reason")
    ending = ending_of(text_of(body.get("message")), None if finish is None else str(finish), None)
    found = RecordedContent(**ending, elsewhere=True)
    return found if found.answered else None
