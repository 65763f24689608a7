"""Replies become an evaluation: means that say over what, spread, agreement, disputes.

The votes of a judge that fails its controls stand apart, unless the brief wants them counted.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from statistics import fmean, stdev
from typing import Any

from biaswatch.services.evaluator.domain.checks.facts import facts_of
from biaswatch.services.evaluator.domain.checks.report_faults import faults_of, unchecked_sentences
from biaswatch.services.evaluator.domain.checks.structure import fault
from biaswatch.services.evaluator.domain.controls.standings import (
    ControlRequest,
    control_replies,
    standings_of,
)
from biaswatch.services.evaluator.domain.marks import (
    MarkedReport,
    is_right,
    mark_faults,
    without_marks,
)
from biaswatch.services.evaluator.domain.model_questions import (
    JudgementRequest,
    JudgeScore,
    judgement_in,
    report_in,
    response_text,
)
from biaswatch.services.evaluator.domain.rubric import Profile
from biaswatch.shared.contracts import (
    Agreement,
    Brief,
    DimensionScore,
    Evaluation,
    Fault,
    Judgement,
    Response,
    Subject,
)
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.stats.krippendorff import krippendorff_alpha

CONTROLS_OFF = "controls were switched off"


def report_or_reason(response: Response | None) -> tuple[str | None, str | None]:
    """Return the report a writer's response holds, or why there is none."""
    try:
        return report_in(response_text(response)), None
    except Unreadable as unread:
        return None, f"There is no report: {unread}."


def read_report(brief: Brief, report: str) -> MarkedReport:
    """Return a report as judges and readers get it: marks are only a writer's that was asked."""
    return MarkedReport(report, ()) if brief.report else without_marks(report)


def evaluation_without_report(brief: Brief, reason: str, at: datetime) -> Evaluation:
    """Return the evaluation of a brief nobody wrote a report for."""
    return Evaluation(**_common(brief, at), reason=reason)


def evaluation_of(
    brief: Brief,
    report: str,
    profile: Profile,
    requests: Sequence[JudgementRequest],
    controls: Sequence[ControlRequest],
    replies: Mapping[str, Response],
    at: datetime,
) -> Evaluation:
    """Return the evaluation of a report; `replies` is by the id of the probe."""
    known = control_replies(controls, replies)
    standings = standings_of(known, count_failed=brief.count_failed_judges)
    set_aside = {each.judge for each in standings if not each.counts}
    judgements, reasoning, phrases = [], {}, {}
    for each in requests:
        judgement, said = _judged(each, replies.get(each.probe.id), set_aside)
        judgements.append(judgement)
        if said and said.reasoning:
            reasoning[each.key] = said.reasoning
        if said and said.phrases:
            phrases[each.key] = said.phrases
    read = read_report(brief, report)
    statements, unchecked = unchecked_sentences(read.text, brief.subject)
    return Evaluation(
        **_common(brief, at),
        **_scores(judgements),
        report=read.text,
        faults=(*_marks(read, brief.subject), *faults_of(read.text, brief.subject, profile)),
        marked=len(read.numbers),
        marks_right=_right(read, brief.subject),
        statements=statements,
        unchecked=unchecked,
        judgements=tuple(judgements),
        controls=known,
        judges=standings,
        uncontrolled=None if controls or not requests else CONTROLS_OFF,
        calls=len(requests) + len(controls) + (brief.writer is not None and not brief.report),
        reasoning=reasoning,
        phrases=phrases,
    )


def _marks(read: MarkedReport, subject: Subject) -> tuple[Fault, ...]:
    return tuple(fault(kind, "", said) for kind, said in mark_faults(read.numbers, subject))


def _right(read: MarkedReport, subject: Subject) -> int:
    facts = facts_of(subject)
    return sum(is_right(each, subject, facts) for each in read.numbers)


def _scores(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Return what the votes that count come to, and the others apart."""
    counted = [each for each in judgements if each.counts]
    dimensions = by_dimension(counted, names=[each.dimension for each in judgements])
    mean, mean_of = overall(dimensions)
    return {
        "dimensions": dimensions,
        "mean": mean,
        "mean_of": mean_of,
        "agreement": agreement_of_judges(counted),
        "repeat_agreement": agreement_of_repeats(counted),
        "disputed": disputed(dimensions),
        "apart": by_dimension([each for each in judgements if not each.counts]),
    }


def _judged(
    request: JudgementRequest, response: Response | None, set_aside: Collection[str]
) -> tuple[Judgement, JudgeScore | None]:
    counts = request.judge not in set_aside
    said: dict[str, Any] = {
        "key": request.key,
        "dimension": request.dimension,
        "judge": request.judge,
        "counts": counts,
    }
    try:
        read = judgement_in(response_text(response))
    except Unreadable as unread:
        return Judgement(**said, repeat=request.repeat, reason=f"not scored: {unread}"), None
    return Judgement(**said, repeat=request.repeat, score=read.score), read


def _common(brief: Brief, at: datetime) -> dict[str, object]:
    writer = brief.writer.name if brief.writer and not brief.report else None
    about = {name: getattr(brief, name) for name in ("tenant", "purpose", "run_id")}
    return {**about, "at": at, "brief_id": brief.id, "writer": writer}


DISPUTED_FROM = 0.25
"""One step of the anchors between two judges' means makes a dimension disputed."""


def by_dimension(
    judgements: Sequence[Judgement], names: Iterable[str] = ()
) -> tuple[DimensionScore, ...]:
    """Return the score of each dimension, of those named too; one that nobody scored has none."""
    empty: dict[str, list[Judgement]] = {name: [] for name in names}
    return tuple(_dimension(name, mine) for name, mine in (empty | _grouped(judgements)).items())


def _grouped(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    names = dict.fromkeys(each.dimension for each in judgements)
    return {name: [each for each in judgements if each.dimension == name] for name in names}


def _dimension(name: str, mine: Sequence[Judgement]) -> DimensionScore:
    scores = [each.score for each in mine if each.score is not None]
    means = _judge_means(mine)
    return DimensionScore(
        dimension=name,
        # Judges count alike, however many of their repeats could be read.
        mean=_within_0_and_1(fmean(means)) if means else None,
        sd=stdev(scores) if len(scores) > 1 else None,
        scored=len(scores),
        asked=len(mine),
        spread_of_judges=max(means) - min(means) if len(means) > 1 else None,
    )


def overall(dimensions: Iterable[DimensionScore]) -> tuple[float | None, int]:
    """Return the mean over the dimensions that are scored, and how many those are."""
    means = [each.mean for each in dimensions if each.mean is not None]
    return (_within_0_and_1(fmean(means)) if means else None), len(means)


def disputed(dimensions: Iterable[DimensionScore]) -> tuple[str, ...]:
    """Name the dimensions on which judges lie far apart."""
    return tuple(
        each.dimension
        for each in dimensions
        if each.spread_of_judges is not None and each.spread_of_judges >= DISPUTED_FROM
    )


def agreement_of_judges(judgements: Sequence[Judgement]) -> Agreement | None:
    """Return the agreement between judges over dimensions; None where there is only one judge."""
    if len({each.judge for each in judgements}) < 2:
        return None
    return _agreement([_judge_means(mine) for mine in _grouped(judgements).values()])


def agreement_of_repeats(judgements: Sequence[Judgement]) -> Agreement | None:
    """Return each judge's agreement with itself; None where nothing is repeated."""
    if not any(each.repeat for each in judgements):
        return None
    keys = dict.fromkeys((each.judge, each.dimension) for each in judgements)
    units = [
        [j.score for j in judgements if (j.judge, j.dimension) == key and j.score is not None]
        for key in keys
    ]
    return _agreement(units)


def _agreement(units: Sequence[Sequence[float]]) -> Agreement:
    alpha, reason = krippendorff_alpha(units)
    return Agreement(alpha=alpha, units=sum(len(u) > 1 for u in units), reason=reason)


def _judge_means(judgements: Iterable[Judgement]) -> list[float]:
    scores: dict[str, list[float]] = {}
    for each in judgements:
        if each.score is not None:
            scores.setdefault(each.judge, []).append(each.score)
    return [fmean(given) for given in scores.values()]


def _within_0_and_1(mean: float) -> float:
    """Keep a mean of numbers from 0 to 1 in that range: only rounding can leave it."""
    return min(max(mean, 0.0), 1.0)
