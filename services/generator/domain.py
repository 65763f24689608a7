"""What is asked for a probe, and what becomes of the answer or its absence."""

from datetime import datetime

from shared.contracts import Ending, Message, Probe, Response, Role, Usage
from shared.llm.port import Answer, Call, CallFailed, Failure

LARGEST_ANSWER_BYTES = 200 * 1024
"""Beyond this an answer is an outcome of its own: it would not fit a record with its question."""
LONGEST_PAUSE_S = 60.0


def call_of(probe: Probe, timeout_s: float) -> Call:
    """Give the call the `direct` scaffold makes."""
    system = probe.target.system_prompt
    said = (Message(role=Role.SYSTEM, content=system),) if system else ()
    return Call(
        model=probe.target.model,
        messages=tuple({"role": m.role.value, "content": m.content} for m in said + probe.messages),
        repeat_key=probe.id,
        parameters=probe.target.parameters,
        timeout_s=timeout_s,
        recording=(probe.key, probe.scaffold, probe.repeat),
    )


def pause_s(failure: CallFailed, attempt: int, luck: float) -> float:
    """Give how long to wait before asking again: what was asked for, or longer each time."""
    doubled = min(LONGEST_PAUSE_S, 0.5 * 2.0**attempt) * (0.5 + luck / 2)
    return max(failure.retry_after_s or 0.0, doubled)


def answered(probe: Probe, answer: Answer, usage: Usage, at: datetime) -> Response:
    """Give the response that holds an answer."""
    if len(answer.text.encode()) > LARGEST_ANSWER_BYTES:
        size = len(answer.text.encode()) // 1024
        detail = f"The answer is {size} KiB; {LARGEST_ANSWER_BYTES // 1024} KiB are kept."
        return failed(probe, CallFailed(Failure.OVERSIZE, detail), usage, at)
    cut = answer.finish_reason == "length"
    return Response(
        **_common(probe, usage, at),
        # What was cut off is kept, but not measured: its end may have said the opposite.
        ending=Ending.FAILED if cut else Ending.ANSWERED,
        reason=Failure.TRUNCATED.value if cut else None,
        text=answer.text,
        model=answer.model,
        fingerprint=answer.fingerprint,
        finish_reason=answer.finish_reason,
    )


def failed(probe: Probe, failure: CallFailed, usage: Usage, at: datetime) -> Response:
    """Give the response that says why there is no answer."""
    withheld = failure.why is Failure.CONTENT_FILTER
    return Response(
        **_common(probe, usage, at),
        ending=Ending.REFUSED if withheld else Ending.FAILED,
        reason=failure.why.value,
        detail=failure.detail,
    )


def _common(probe: Probe, usage: Usage, at: datetime) -> dict[str, object]:
    return {
        "tenant": probe.tenant,
        "purpose": probe.purpose,
        "at": at,
        "probe": probe,
        "usage": usage,
    }
