"""The response to a probe: its answer, or the reason for a missing one."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pydantic_core import to_json

from biaswatch.services.generator.domain.likelihood import scored_options
from biaswatch.services.generator.domain.planned_calls import ANSWER, CallResult
from biaswatch.services.generator.domain.questions import (
    CRITERION,
    OFF_SCALE,
    SCALE,
    RatingScale,
    rating_on,
    scale_of,
)
from biaswatch.services.generator.domain.tool_use import tool_steps
from biaswatch.shared.contracts import Ending, Probe, Response, Step, Usage
from biaswatch.shared.llm.port import WITHHELD, CallFailed, Failure, ModelAnswer, RecordedStep
from biaswatch.shared.llm.replies import shortened
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.parsing.model_reasoning import after_reasoning, joined_reasoning

NOTHING_SPENT = Usage(calls=0)
MAX_REASONING_CHARACTERS = 20_000
"""Longer reasoning is cut."""
CUT_OFF = "The answer was cut off inside its reasoning."
REASONING_ALONE = "The model's answer is empty after its reasoning."
MAX_ANSWER_BYTES = 200 * 1024
"""Longer answers are failures, as they would not fit a record together with their question."""
MAX_RESPONSE_BYTES = 500 * 1024
"""Encoded size, a little less than the bus carries; a control character takes six bytes."""
UNFIT, UNREAD_STEP = "unfit_for_scaffold", "unread_step"
CallResults = Mapping[str, CallResult]


def recorded_results(probe: Probe, steps: Sequence[RecordedStep]) -> dict[str, CallResult]:
    """Return the results of recorded steps by name.

    A criterion without a recorded rating has the rating that its text states. Ratings must be on
    the scale of the probe, if it names one. Unreadable ratings get a reason, and the answer counts
    nevertheless.

    Raises
    ------
    UnfitProbe
        The scale of the probe is invalid.
    """
    scale = scale_of(probe) if SCALE in probe.variables else None
    return {step.name: _recorded_result(step, scale) for step in steps}


def _recorded_result(step: RecordedStep, scale: RatingScale | None) -> CallResult:
    parts = after_reasoning(step.text)
    answer = ModelAnswer(parts.answer, reasoning=parts.reasoning) if parts.answer else None
    if step.rating is None and not step.name.startswith(CRITERION):
        return CallResult(answer, usage=NOTHING_SPENT)
    try:
        rating = rating_on(scale, parts.answer) if step.rating is None else step.rating
    except Unreadable as error:
        return CallResult(answer, unread=str(error), usage=NOTHING_SPENT)
    if scale and not scale.holds(rating):
        return CallResult(answer, unread=OFF_SCALE, usage=NOTHING_SPENT)
    return CallResult(answer, rating=rating, usage=NOTHING_SPENT)


def final_answer(answer: ModelAnswer, usage: Usage) -> CallResult:
    """Return the result of a call: its text without reasoning, or the reason for having none."""
    parts = after_reasoning(answer.text)
    reasoning = joined_reasoning(answer.reasoning, parts.reasoning)
    final = replace(answer, text=parts.answer, reasoning=reasoning)
    if parts.answer.strip() or answer.calls:
        return CallResult(final, usage=usage)
    if parts.cut_off or answer.finish_reason == "length":
        return CallResult(final, CallFailed(Failure.TRUNCATED, CUT_OFF), usage=usage)
    return CallResult(final, CallFailed(Failure.EMPTY, REASONING_ALONE), usage=usage)


def kept_reasoning(results: CallResults) -> str | None:
    """Return the reasoning of calls by step, cut to a limit; None without any."""
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


def response_from_call(
    probe: Probe, result: CallResult, at: datetime, steps: CallResults | None = None
) -> Response:
    """Return the response to a probe that took one call, with the recorded steps, if any."""
    reasoning = kept_reasoning({ANSWER: result})
    if result.failure or not result.answer:
        failure = result.failure or CallFailed(Failure.EMPTY, "The call brought nothing.")
        return _response(
            probe, result.usage, at, _Failed.of(failure), results=steps or None, reasoning=reasoning
        )
    return _response(probe, result.usage, at, result.answer, results=steps, reasoning=reasoning)


def response_from_plan(
    probe: Probe, text: str, results: CallResults, usage: Usage, at: datetime
) -> Response:
    """Return the response to a probe that took several calls."""
    answers = [result.answer for result in results.values()]
    cached = any(answer is not None and answer.from_cache for answer in answers)
    last = replace(answers[-1] or ModelAnswer(text), text=text, from_cache=cached)
    return _plan_response(probe, results, usage, at, last)


def _plan_response(
    probe: Probe, results: CallResults, usage: Usage, at: datetime, outcome: "ModelAnswer | _Failed"
) -> Response:
    reasoning = kept_reasoning(results)
    return _response(probe, usage, at, outcome, results=results, reasoning=reasoning)


def failed_plan(
    probe: Probe, results: CallResults, usage: Usage, at: datetime, *, required: CallResults
) -> Response | None:
    """Return the response if a required step has no answer or an unreadable one, else None."""
    for name, result in required.items():
        if failure := result.failure or _cut_off(result):
            outcome = _Failed.of(CallFailed(failure.why, f"The step {name}: {failure.detail}"))
            return _plan_response(probe, results, usage, at, outcome)
        if result.unread:
            outcome = _Failed(UNREAD_STEP, f"{name}: {result.unread}")
            return _plan_response(probe, results, usage, at, outcome)
    return None


def inconclusive_plan(
    probe: Probe, results: CallResults, usage: Usage, at: datetime, *, reason: str
) -> Response:
    """Return the response to a probe whose results are readable but give no answer."""
    outcome = _Failed(reason, "The scaffold came to no answer.")
    return _plan_response(probe, results, usage, at, outcome)


def failed_response(probe: Probe, reason: str, detail: str, usage: Usage, at: datetime) -> Response:
    """Return a response with a reason instead of a text."""
    return _response(probe, usage, at, _Failed(reason, detail))


def shrink_to_bus(response: Response) -> Response:
    """Return a response that fits the bus: without its texts, or those of the probe, if too large.

    Raises
    ------
    ValueError
        It has a value that no record can have.
    """
    if response.message_bytes() <= MAX_RESPONSE_BYTES:
        return response
    if response.reasoning is not None:
        return shrink_to_bus(response.model_copy(update={"reasoning": None}))
    detail = f"With its question, the answer is over {MAX_RESPONSE_BYTES // 1024} KiB."
    failed = _Failed(Failure.OVERSIZE, detail)
    without_texts = _response(response.probe, response.usage, response.at, failed)
    if without_texts.message_bytes() <= MAX_RESPONSE_BYTES:
        return without_texts
    bare = response.probe.model_copy(
        update={"baseline": None, "expected": None, "messages": (), "variables": {}, "facts": {}}
    )
    return _response(bare, response.usage, response.at, failed)


def sum_usage(usages: Sequence[Usage], latency_s: float) -> Usage:
    """Add up the usage of calls; a sum with an unknown part is unknown."""
    read, written = [u.prompt_tokens for u in usages], [u.completion_tokens for u in usages]
    costs = [u.cost for u in usages]
    return Usage(
        prompt_tokens=None if not read or None in read else sum(filter(None, read)),
        completion_tokens=None if not written or None in written else sum(filter(None, written)),
        calls=sum(u.calls for u in usages),
        retries=sum(u.retries for u in usages),
        latency_s=max(0.0, latency_s),
        cost=None if not costs or None in costs else sum(filter(None, costs)),
    )


@dataclass(frozen=True)
class _Failed:
    """The end of a probe without a usable answer."""

    reason: str
    detail: str
    ending: Ending = Ending.FAILED

    @classmethod
    def of(cls, failure: CallFailed) -> "_Failed":
        ending = Ending.REFUSED if failure.why in WITHHELD else Ending.FAILED
        return cls(failure.why.value, failure.detail, ending)


def _response(
    probe: Probe,
    usage: Usage,
    at: datetime,
    outcome: ModelAnswer | _Failed,
    *,
    results: CallResults | None = None,
    reasoning: str | None = None,
) -> Response:
    """Return the response with an answer or a failure; results of several calls become steps."""
    texts = {name: result.text for name, result in (results or {}).items() if result.text}
    steps = _steps(results or {})
    answer = outcome if isinstance(outcome, ModelAnswer) else None
    if _encoded_bytes(texts.values()) > MAX_ANSWER_BYTES:
        texts = {}
    if isinstance(outcome, ModelAnswer):
        size = _encoded_bytes((outcome.text, *texts.values()))
        if size > MAX_ANSWER_BYTES:
            limit_kib = MAX_ANSWER_BYTES // 1024
            detail = f"The answer is {size // 1024} KiB; the limit is {limit_kib} KiB."
            outcome, steps, texts = _Failed(Failure.OVERSIZE, detail), (), {}
    return Response(
        tenant=probe.tenant,
        purpose=probe.purpose,
        at=at,
        probe=probe,
        usage=usage,
        steps=steps,
        said=texts,
        tool_steps=tool_steps(probe, results or {ANSWER: CallResult(answer)}),
        reasoning=reasoning,
        scored=() if isinstance(outcome, _Failed) else scored_options(probe, results or {}),
        **_ending(outcome),
    )


def _ending(outcome: ModelAnswer | _Failed) -> dict[str, Any]:
    """Return the fields of an answer or a failure; a truncated text is stored, not measured."""
    if isinstance(outcome, _Failed):
        return {"ending": outcome.ending, "reason": outcome.reason, "detail": outcome.detail}
    cut_off = outcome.finish_reason == "length"
    return {
        "ending": Ending.FAILED if cut_off else Ending.ANSWERED,
        "reason": Failure.TRUNCATED.value if cut_off else None,
        "text": outcome.text,
        "model": outcome.model,
        "fingerprint": outcome.fingerprint,
        "from_cache": outcome.from_cache,
        "finish_reason": outcome.finish_reason,
    }


def _steps(results: CallResults) -> tuple[Step, ...]:
    steps = []
    for name, result in results.items():
        failure = result.failure or _cut_off(result)
        steps.append(
            Step(
                name=name,
                rating=result.rating,
                reason=failure.why.value if failure else result.unread,
                finish_reason=result.answer.finish_reason if result.answer else None,
                usage=result.usage,
            )
        )
    return tuple(steps)


def _cut_off(result: CallResult) -> CallFailed | None:
    """Return the failure of a truncated answer: its end may have said the opposite."""
    if result.answer is None or result.answer.finish_reason != "length":
        return None
    return CallFailed(Failure.TRUNCATED, "The answer was cut off at the limit of tokens.")


def _encoded_bytes(texts: Iterable[str]) -> int:
    return sum(len(to_json(text)) for text in texts)
