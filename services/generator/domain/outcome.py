"""What becomes of an answer, of several, or of their absence: the one response to a probe."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from services.generator.domain.scaffolds import CallResult
from shared.contracts import Ending, Probe, Response, Step, Usage
from shared.llm.port import WITHHELD, CallFailed, Failure, ModelAnswer

LARGEST_ANSWER_BYTES = 200 * 1024
"""Beyond this an answer is an outcome of its own: it would not fit a record with its question."""
UNFIT, UNREAD_STEP = "unfit_for_scaffold", "unread_step"


def answered(probe: Probe, result: CallResult, usage: Usage, at: datetime) -> Response:
    """Return the response to a probe that took one call."""
    if result.failure or not result.answer:
        return failed(probe, result.failure or _nothing(), usage, at)
    return _whole(probe, result.answer.text, result.answer, usage, at, {})


def concluded(
    probe: Probe, text: str, results: Mapping[str, CallResult], usage: Usage, at: datetime
) -> Response:
    """Return the response to a probe that took several calls."""
    last = [each.answer for each in results.values()][-1] or ModelAnswer(text)
    return _whole(probe, text, last, usage, at, _steps(results))


def broken_off(
    probe: Probe, results: Mapping[str, CallResult], usage: Usage, at: datetime
) -> Response | None:
    """Return the response where a step brought no answer or none that could be read, else None."""
    for name, each in results.items():
        if failure := each.failure or cut(each):
            named = CallFailed(failure.why, f"The step {name}: {failure.detail}")
            return failed(probe, named, usage, at, _steps(results))
        if each.unread:
            return without(probe, UNREAD_STEP, f"{name}: {each.unread}", usage, at, _steps(results))
    return None


def failed(
    probe: Probe,
    failure: CallFailed,
    usage: Usage,
    at: datetime,
    steps: Mapping[str, Any] | None = None,
) -> Response:
    """Return the response that says why there is no answer."""
    ending = Ending.REFUSED if failure.why in WITHHELD else Ending.FAILED
    return without(probe, failure.why.value, failure.detail, usage, at, steps, ending)


def without(
    probe: Probe,
    reason: str,
    detail: str,
    usage: Usage,
    at: datetime,
    steps: Mapping[str, Any] | None = None,
    ending: Ending = Ending.FAILED,
) -> Response:
    """Return the response that has a reason and no text."""
    common = {**_common(probe, usage, at), **(steps or {})}
    return Response(**common, ending=ending, reason=reason, detail=detail)


def cut(result: CallResult) -> CallFailed | None:
    """Tell whether an answer was cut off: its end may have said the opposite."""
    if result.answer is None or result.answer.finish_reason != "length":
        return None
    return CallFailed(Failure.TRUNCATED, "The answer was cut off at the limit of tokens.")


def total(usages: Sequence[Usage], latency_s: float) -> Usage:
    """Add up what calls cost; a sum with an unknown part is unknown."""
    return Usage(
        prompt_tokens=_sum([u.prompt_tokens for u in usages]),
        completion_tokens=_sum([u.completion_tokens for u in usages]),
        calls=sum(u.calls for u in usages),
        retries=sum(u.retries for u in usages),
        latency_s=max(0.0, latency_s),
        cost=_sum([u.cost for u in usages]),
    )


def _sum(parts: Sequence[Any]) -> Any:
    return None if not parts or None in parts else sum(parts)


def _whole(
    probe: Probe,
    text: str,
    answer: ModelAnswer,
    usage: Usage,
    at: datetime,
    steps: Mapping[str, Any],
) -> Response:
    size = len(text.encode()) + sum(len(said.encode()) for said in steps.get("said", {}).values())
    if size > LARGEST_ANSWER_BYTES:
        kept = LARGEST_ANSWER_BYTES // 1024
        detail = f"The answer is {size // 1024} KiB; {kept} KiB are kept."
        return failed(probe, CallFailed(Failure.OVERSIZE, detail), usage, at)
    short = answer.finish_reason == "length"
    return Response(
        **_common(probe, usage, at),
        **steps,
        # What was cut off is kept, but not measured: its end may have said the opposite.
        ending=Ending.FAILED if short else Ending.ANSWERED,
        reason=Failure.TRUNCATED.value if short else None,
        text=text,
        model=answer.model,
        fingerprint=answer.fingerprint,
        finish_reason=answer.finish_reason,
    )


def _steps(results: Mapping[str, CallResult]) -> dict[str, Any]:
    said = {name: each.text for name, each in results.items() if each.text}
    if sum(len(text.encode()) for text in said.values()) > LARGEST_ANSWER_BYTES:
        said = {}
    return {"steps": tuple(_step(name, each) for name, each in results.items()), "said": said}


def _step(name: str, result: CallResult) -> Step:
    failure = result.failure or cut(result)
    return Step(
        name=name,
        rating=result.rating,
        reason=failure.why.value if failure else result.unread,
        finish_reason=result.answer.finish_reason if result.answer else None,
        usage=result.usage,
    )


def _nothing() -> CallFailed:
    return CallFailed(Failure.EMPTY, "The call brought nothing.")


def _common(probe: Probe, usage: Usage, at: datetime) -> dict[str, Any]:
    return {
        "tenant": probe.tenant,
        "purpose": probe.purpose,
        "at": at,
        "probe": probe,
        "usage": usage,
    }
