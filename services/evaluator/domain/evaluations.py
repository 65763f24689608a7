"""Builds an evaluation from replies: means, spread, agreement, disputes.

Votes of a judge that fails its controls are reported separately, unless the brief counts them.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from statistics import fmean, stdev
from typing import Any

from biaswatch.services.evaluator.domain.controls.standings import (
    ControlRequest,
    control_replies,
    standings_of,
)
from biaswatch.services.evaluator.domain.model_questions import (
    JudgementRequest,
    JudgeScore,
    judgement_in,
    response_text,
)
from biaswatch.services.evaluator.domain.prose import ProseRequest, prose_check, prose_hints
from biaswatch.services.evaluator.domain.reports import CheckedReport
from biaswatch.shared.contracts import (
    Agreement,
    Brief,
    DimensionScore,
    Evaluation,
    Judgement,
    Response,
)
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.stats.krippendorff import krippendorff_alpha

CONTROLS_OFF = "controls were switched off"


def evaluation_without_report(brief: Brief, reason: str, at: datetime) -> Evaluation:
    """Return the evaluation of a brief without a report."""
    return Evaluation(**_common(brief, at), reason=reason)


def evaluation_of(
    brief: Brief,
    report: CheckedReport,
    requests: Sequence[JudgementRequest],
    controls: Sequence[ControlRequest],
    prose: Sequence[ProseRequest],
    replies: Mapping[str, Response],
    at: datetime,
) -> Evaluation:
    """Return the evaluation of a report; `replies` maps probe ids to responses."""
    known = control_replies(controls, replies)
    standings = standings_of(known, count_failed=brief.count_failed_judges)
    set_aside = {request.judge for request in standings if not request.counts}
    judgements, reasoning, phrases = [], {}, {}
    for request in requests:
        judgement, score = _judged(request, replies.get(request.probe.id), set_aside)
        judgements.append(judgement)
        if score and score.reasoning:
            reasoning[request.key] = score.reasoning
        if score and score.phrases:
            phrases[request.key] = score.phrases
    checks = [prose_check(request, replies.get(request.probe.id)) for request in prose]
    wrong = [place for _, places in checks for place in places]
    return Evaluation(
        **_common(brief, at),
        **_scores(judgements),
        report=report.text,
        faults=report.faults,
        failed=report.failed,
        repairs=report.repairs,
        hints=(*report.hints, *prose_hints(wrong, report.spans)),
        prose=tuple(check for check, _ in checks),
        statements=report.statements,
        unchecked=report.unchecked,
        judgements=tuple(judgements),
        controls=known,
        judges=standings,
        uncontrolled=None if controls or not requests else CONTROLS_OFF,
        calls=len(requests) + len(controls) + len(prose) + report.calls,
        reasoning=reasoning,
        phrases=phrases,
    )


def _scores(judgements: Sequence[Judgement]) -> dict[str, Any]:
    """Summarise the votes that count, and separately those that do not."""
    counted = [judgement for judgement in judgements if judgement.counts]
    dimensions = by_dimension(counted, names=[judgement.dimension for judgement in judgements])
    mean, mean_of = overall(dimensions)
    return {
        "dimensions": dimensions,
        "mean": mean,
        "mean_of": mean_of,
        "agreement": agreement_of_judges(counted),
        "repeat_agreement": agreement_of_repeats(counted),
        "disputed": disputed(dimensions),
        "apart": by_dimension([judgement for judgement in judgements if not judgement.counts]),
    }


def _judged(
    request: JudgementRequest, response: Response | None, set_aside: Collection[str]
) -> tuple[Judgement, JudgeScore | None]:
    counts = request.judge not in set_aside
    fields: dict[str, Any] = {
        "key": request.key,
        "dimension": request.dimension,
        "judge": request.judge,
        "counts": counts,
    }
    try:
        score = judgement_in(response_text(response))
    except Unreadable as error:
        return Judgement(**fields, repeat=request.repeat, reason=f"not scored: {error}"), None
    return Judgement(**fields, repeat=request.repeat, score=score.score), score


def _common(brief: Brief, at: datetime) -> dict[str, object]:
    writer = brief.writer.name if brief.writer and not brief.report else None
    fields = {name: getattr(brief, name) for name in ("tenant", "purpose", "run_id")}
    return {**fields, "at": at, "brief_id": brief.id, "writer": writer}


DISPUTED_FROM = 0.25
"""Difference of judges' means, one step of the anchors, that marks a dispute."""


def by_dimension(
    judgements: Sequence[Judgement], names: Iterable[str] = ()
) -> tuple[DimensionScore, ...]:
    """Return the score of each dimension, including unscored ones in `names`."""
    empty: dict[str, list[Judgement]] = {name: [] for name in names}
    return tuple(_dimension(name, group) for name, group in (empty | _grouped(judgements)).items())


def _grouped(judgements: Sequence[Judgement]) -> dict[str, list[Judgement]]:
    names = dict.fromkeys(judgement.dimension for judgement in judgements)
    return {name: [j for j in judgements if j.dimension == name] for name in names}


def _dimension(name: str, judgements: Sequence[Judgement]) -> DimensionScore:
    scores = [judgement.score for judgement in judgements if judgement.score is not None]
    means = _judge_means(judgements)
    return DimensionScore(
        dimension=name,
        # Each judge has the same weight, regardless of the number of readable repeats.
        mean=_within_0_and_1(fmean(means)) if means else None,
        sd=stdev(scores) if len(scores) > 1 else None,
        scored=len(scores),
        asked=len(judgements),
        spread_of_judges=max(means) - min(means) if len(means) > 1 else None,
    )


def overall(dimensions: Iterable[DimensionScore]) -> tuple[float | None, int]:
    """Return the mean over scored dimensions, and their number."""
    means = [dimension.mean for dimension in dimensions if dimension.mean is not None]
    return (_within_0_and_1(fmean(means)) if means else None), len(means)


def disputed(dimensions: Iterable[DimensionScore]) -> tuple[str, ...]:
    """Return the dimensions on which judges disagree."""
    return tuple(
        dimension.dimension
        for dimension in dimensions
        if dimension.spread_of_judges is not None and dimension.spread_of_judges >= DISPUTED_FROM
    )


def agreement_of_judges(judgements: Sequence[Judgement]) -> Agreement | None:
    """Return the agreement between judges over dimensions; None for a single judge."""
    if len({judgement.judge for judgement in judgements}) < 2:
        return None
    return _agreement([_judge_means(group) for group in _grouped(judgements).values()])


def agreement_of_repeats(judgements: Sequence[Judgement]) -> Agreement | None:
    """Return the agreement of repeats by one judge; None without repeats."""
    if not any(judgement.repeat for judgement in judgements):
        return None
    keys = dict.fromkeys((judgement.judge, judgement.dimension) for judgement in judgements)
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
    for judgement in judgements:
        if judgement.score is not None:
            scores.setdefault(judgement.judge, []).append(judgement.score)
    return [fmean(judge_scores) for judge_scores in scores.values()]


def _within_0_and_1(mean: float) -> float:
    """Undo rounding errors that take a mean of scores out of 0 to 1."""
    return min(max(mean, 0.0), 1.0)
