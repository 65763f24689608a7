"""Replies become an evaluation."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from services.evaluator.domain.checking import faults_of
from services.evaluator.domain.plan import Asked
from services.evaluator.domain.profiles import Profile
from services.evaluator.domain.reading import Read, Unreadable, judgement_in, report_in
from services.evaluator.domain.scoring import (
    agreement_of_judges,
    agreement_of_repeats,
    by_dimension,
    disputed,
    overall,
)
from shared.contracts import Brief, Ending, Evaluation, Judgement, Response

CUT_OFF = "length"


def written(response: Response | None) -> tuple[str | None, str | None]:
    """Return the report a writer's response holds, or why there is none."""
    try:
        return report_in(_text(response)), None
    except Unreadable as unread:
        return None, f"There is no report: {unread}."


def _text(response: Response | None) -> str:
    if response is None:
        raise Unreadable("no reply came before the deadline")
    if response.ending is not Ending.ANSWERED:
        raise Unreadable(f"the call ended as {response.reason or response.ending.value}")
    if response.text is None:
        raise Unreadable("the reply was purged")
    if response.finish_reason == CUT_OFF:
        raise Unreadable("the reply was cut off at its limit of tokens")
    return response.text


def evaluation_without_report(brief: Brief, reason: str, at: datetime) -> Evaluation:
    """Return the evaluation of a brief nobody wrote a report for."""
    return Evaluation(**_common(brief, at), reason=reason)


def evaluation_of(
    brief: Brief,
    report: str,
    profile: Profile,
    asked: Sequence[Asked],
    heard: Mapping[str, Response],
    at: datetime,
) -> Evaluation:
    """Return the evaluation of a report; `heard` is by the id of the probe."""
    judgements, reasoning, phrases = [], {}, {}
    for each in asked:
        judgement, read = _judged(each, heard.get(each.probe.id))
        judgements.append(judgement)
        if read and read.reasoning:
            reasoning[each.key] = read.reasoning
        if read and read.phrases:
            phrases[each.key] = read.phrases
    dimensions = by_dimension(judgements)
    mean, mean_of = overall(dimensions)
    return Evaluation(
        **_common(brief, at),
        report=report,
        faults=faults_of(report, brief.subject, profile),
        judgements=tuple(judgements),
        dimensions=dimensions,
        mean=mean,
        mean_of=mean_of,
        agreement=agreement_of_judges(judgements),
        repeat_agreement=agreement_of_repeats(judgements),
        disputed=disputed(dimensions),
        reasoning=reasoning,
        phrases=phrases,
    )


def _judged(asked: Asked, response: Response | None) -> tuple[Judgement, Read | None]:
    said = {"key": asked.key, "dimension": asked.dimension, "judge": asked.judge}
    try:
        read = judgement_in(_text(response))
    except Unreadable as unread:
        return Judgement(**said, repeat=asked.repeat, reason=f"not scored: {unread}"), None
    return Judgement(**said, repeat=asked.repeat, score=read.score), read


def _common(brief: Brief, at: datetime) -> dict[str, object]:
    return {
        "tenant": brief.tenant,
        "purpose": brief.purpose,
        "at": at,
        "brief_id": brief.id,
        "run_id": brief.run_id,
        "writer": brief.writer.name if brief.writer and not brief.report else None,
    }
