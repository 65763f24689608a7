"""The one response to a probe: its answer, or why there is none."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from biaswatch.services.generator.domain.questions import (
    CRITERION,
    OFF_SCALE,
    RatingScale,
    has_scale,
    rating_in,
    scale_of,
)
from biaswatch.services.generator.domain.scaffolds import ANSWER, CallResult
from biaswatch.shared.contracts import Ending, Probe, Response, Step, Usage
from biaswatch.shared.llm.port import WITHHELD, CallFailed, Failure, ModelAnswer, RecordedStep
from biaswatch.shared.llm.replies import shortened
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.parsing.model_reasoning import after_reasoning, joined_reasoning

NOTHING_SPENT = Usage(calls=0)
ANY_NUMBER = RatingScale(-(10**12), 10**12, whole=False)
"""Where the probe names no scale."""


def recorded_results(probe: Probe, steps: Sequence[RecordedStep]) -> dict[str, CallResult]:
    """Return each step's result by its name.

    A criterion that was recorded without a rating has the one its text states. Ratings must lie on
    the probe's scale, where it names one. What cannot be read has a reason, and the answer counts
    nevertheless: it was given.

    Raises
    ------
    UnfitProbe
        What the probe names as its scale is none.
    """
    scale = scale_of(probe) if has_scale(probe) else ANY_NUMBER
    return {step.name: _result(step, scale) for step in steps}


def _result(step: RecordedStep, scale: RatingScale) -> CallResult:
    parts = after_reasoning(step.text)
    answer = ModelAnswer(parts.answer, reasoning=parts.reasoning) if parts.answer else None
    if step.rating is None and not step.name.startswith(CRITERION):
        return CallResult(answer, usage=NOTHING_SPENT)
    try:
        rating = rating_in(parts.answer, scale) if step.rating is None else step.rating
    except Unreadable as unread:
        return CallResult(answer, unread=str(unread), usage=NOTHING_SPENT)
    if not scale.holds(rating):
        return CallResult(answer, unread=OFF_SCALE, usage=NOTHING_SPENT)
    return CallResult(answer, rating=rating, usage=NOTHING_SPENT)


MAX_REASONING_CHARACTERS = 20_000
"""Characters of reasoning that are kept with an answer; of longer reasoning, its beginning."""
CUT_OFF = "The answer was cut off inside its reasoning."
REASONING_ALONE = "The model's answer is empty after its reasoning."


def final_answer(answer: ModelAnswer, usage: Usage) -> CallResult:
    """Return the result of a call: its text without reasoning, or why it has none."""
    parts = after_reasoning(answer.text)
    reasoning = joined_reasoning(answer.reasoning, parts.reasoning)
    final = replace(answer, text=parts.answer, reasoning=reasoning)
    if parts.answer.strip():
        return CallResult(final, usage=usage)
    if parts.cut_off or answer.finish_reason == "length":
        return CallResult(final, CallFailed(Failure.TRUNCATED, CUT_OFF), usage=usage)
    return CallResult(final, CallFailed(Failure.EMPTY, REASONING_ALONE), usage=usage)


def kept_reasoning(results: Mapping[str, CallResult]) -> str | None:
    """Return the reasoning of calls by step, bounded; None without any."""
    parts = {
        name: result.answer.reasoning
        for name, result in results.items()
        if result.answer and result.answer.reasoning
    }
    if not parts:
        return None
    if list(results) == [ANSWER]:
        return shortened(parts[ANSWER], MAX_REASONING_CHARACTERS)
    named = "\n\n".join(f"{name}:\n{text}" for name, text in parts.items())
    return shortened(named, MAX_REASONING_CHARACTERS)


LARGEST_ANSWER_BYTES = 200 * 1024
"""A longer answer is an outcome of its own: it would not fit a record with its question."""
LARGEST_RESPONSE_BYTES = 500 * 1024
"""A little less than the bus carries, as it travels: a control character takes six bytes there."""
UNFIT, UNREAD_STEP = "unfit_for_scaffold", "unread_step"
CallResults = Mapping[str, CallResult]


def answered(
    probe: Probe, result: CallResult, at: datetime, steps: CallResults | None = None
) -> Response:
    """Return the response to a probe that took one call, with the steps recorded with it."""
    fields = _fields(probe, result.usage, at, steps or None)
    fields["reasoning"] = kept_reasoning({ANSWER: result})
    if result.failure or not result.answer:
        nothing = CallFailed(Failure.EMPTY, "The call brought nothing.")
        return _failed(fields, result.failure or nothing)
    return _with_text(fields, result.answer.text, result.answer)


def concluded(
    probe: Probe, text: str, results: CallResults, usage: Usage, at: datetime
) -> Response:
    """Return the response to a probe that took several calls."""
    last = [each.answer for each in results.values()][-1] or ModelAnswer(text)
    return _with_text(_fields(probe, usage, at, results), text, last)


def broken_off(probe: Probe, results: CallResults, usage: Usage, at: datetime) -> Response | None:
    """Return the response where a step brought no answer or none that could be read, else None."""
    fields = _fields(probe, usage, at, results)
    for name, each in results.items():
        if failure := each.failure or _cut_off(each):
            return _failed(fields, CallFailed(failure.why, f"The step {name}: {failure.detail}"))
        if each.unread:
            return _without_text(fields, UNREAD_STEP, f"{name}: {each.unread}")
    return None


def without(probe: Probe, reason: str, detail: str, usage: Usage, at: datetime) -> Response:
    """Return the response that has a reason and no text."""
    return _without_text(_fields(probe, usage, at), reason, detail)


def unrecordable(probe: Probe, error: Exception, at: datetime) -> Response:
    """Return the response where what came of the calls is none."""
    detail = f"What the calls brought cannot be recorded ({type(error).__name__})."
    return without(probe, Failure.GARBAGE.value, detail, Usage(), at)


def fitting(response: Response) -> Response:
    """Return a response the bus can carry: without its words, or without its question's as well.

    Raises
    ------
    ValueError
        It has a value that no record can have.
    """
    if response.message_bytes() <= LARGEST_RESPONSE_BYTES:
        return response
    if response.reasoning is not None:
        return fitting(response.model_copy(update={"reasoning": None}))
    kept = {name: getattr(response, name) for name in ("tenant", "purpose", "at", "usage")}
    detail = f"With its question, the answer is over {LARGEST_RESPONSE_BYTES // 1024} KiB."
    why = {"ending": Ending.FAILED, "reason": Failure.OVERSIZE.value, "detail": detail}
    without_words = Response(**kept, **why, probe=response.probe)
    if without_words.message_bytes() <= LARGEST_RESPONSE_BYTES:
        return without_words
    bare = response.probe.model_copy(update=dict.fromkeys(("baseline", "expected")))
    bare = bare.model_copy(update={"messages": (), "variables": {}, "facts": {}})
    return Response(**kept, **why, probe=bare)


def _size(texts: Iterable[str]) -> int:
    """Return the bytes of texts as they travel."""
    return sum(len(to_json(text)) for text in texts)


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


def _fields(
    probe: Probe, usage: Usage, at: datetime, results: CallResults | None = None
) -> dict[str, Any]:
    """Return what every response has; of several calls, each as a step with its words."""
    fields: dict[str, Any] = {
        "tenant": probe.tenant,
        "purpose": probe.purpose,
        "at": at,
        "probe": probe,
        "usage": usage,
    }
    if results is None:
        return fields
    said = {name: each.text for name, each in results.items() if each.text}
    if _size(said.values()) > LARGEST_ANSWER_BYTES:
        said = {}
    steps = []
    for name, each in results.items():
        failure = each.failure or _cut_off(each)
        steps.append(
            Step(
                name=name,
                rating=each.rating,
                reason=failure.why.value if failure else each.unread,
                finish_reason=each.answer.finish_reason if each.answer else None,
                usage=each.usage,
            )
        )
    return {**fields, "steps": tuple(steps), "said": said, "reasoning": kept_reasoning(results)}


def _cut_off(result: CallResult) -> CallFailed | None:
    """Return the failure of an answer that was cut off: its end may have said the opposite."""
    if result.answer is None or result.answer.finish_reason != "length":
        return None
    return CallFailed(Failure.TRUNCATED, "The answer was cut off at the limit of tokens.")


def _failed(fields: Mapping[str, Any], failure: CallFailed) -> Response:
    ending = Ending.REFUSED if failure.why in WITHHELD else Ending.FAILED
    return _without_text(fields, failure.why.value, failure.detail, ending)


def _without_text(
    fields: Mapping[str, Any], reason: str, detail: str, ending: Ending = Ending.FAILED
) -> Response:
    return Response(**fields, ending=ending, reason=reason, detail=detail)


def _with_text(fields: Mapping[str, Any], text: str, answer: ModelAnswer) -> Response:
    size = _size((text, *fields.get("said", {}).values()))
    if size > LARGEST_ANSWER_BYTES:
        kept = LARGEST_ANSWER_BYTES // 1024
        detail = f"The answer is {size // 1024} KiB; {kept} KiB are kept."
        own = {name: fields[name] for name in fields if name not in {"steps", "said"}}
        return _failed(own, CallFailed(Failure.OVERSIZE, detail))
    short = answer.finish_reason == "length"
    return Response(
        **fields,
        # What was cut off is kept, but not measured.
        ending=Ending.FAILED if short else Ending.ANSWERED,
        reason=Failure.TRUNCATED.value if short else None,
        text=text,
        model=answer.model,
        fingerprint=answer.fingerprint,
        finish_reason=answer.finish_reason,
    )
