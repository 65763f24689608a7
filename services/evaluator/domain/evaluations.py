"""Builds an evaluation from replies: means, spread, agreement, disputes.

Votes of a judge that fails its controls are reported separately, unless the brief counts them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from statistics import fmean, stdev
from typing import Any

from biaswatch.services.evaluator.domain.controls.standings import ControlRequest, standings_of
from biaswatch.services.evaluator.domain.model_questions import (
    JudgementRequest,
    JudgeScore,
    judgement_in,
    response_text,
)
from biaswatch.services.evaluator.domain.prose import MESSAGE, ProseRequest, prose_check
from biaswatch.services.evaluator.domain.writing.draft import CheckedReport
from biaswatch.shared.contracts import (
    Agreement,
    Brief,
    DimensionScore,
    Evaluation,
    Judgement,
    JudgeStanding,
    Probe,
    Response,
)
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.stats.krippendorff import krippendorff_alpha

CONTROLS_OFF = "controls were switched off"
DISPUTED_FROM = 0.25
"""Difference of judges' means, one step of the anchors, that marks a dispute."""


@dataclass(frozen=True)
class JudgeQuestions:
    """All questions to the judges of a report."""

    grades: Sequence[JudgementRequest] = ()
    controls: Sequence[ControlRequest] = ()
    prose: Sequence[ProseRequest] = ()
    dimensions: Sequence[str] = ()
    """Dimensions that are graded."""

    @property
    def probes(self) -> list[Probe]:
        """The probes that ask them."""
        probes = [grade.probe for grade in self.grades]
        probes += [request.probe for request in self.prose]
        return probes + [control.probe for control in self.controls]


def evaluation_of(
    brief: Brief,
    report: CheckedReport,
    questions: JudgeQuestions,
    replies: Mapping[str, Response],
    at: datetime,
) -> Evaluation:
    """Return the evaluation of a report; `replies` maps probe ids to responses."""
    standings = standings_of(brief, questions.controls, replies, questions.dimensions)
    scores = {r.key: _score(r, replies.get(r.probe.id)) for r in questions.grades}
    read = {key: score for key, score in scores.items() if isinstance(score, JudgeScore)}
    by_judge = {judge.judge: judge for judge in standings}
    judgements = [
        _judgement(request, scores[request.key], counts=_counts(request, by_judge))
        for request in questions.grades
    ]
    checks = [prose_check(request, replies.get(request.probe.id)) for request in questions.prose]
    wrong = dict.fromkeys(place for _, places in checks for place in places)
    return Evaluation(
        **_summary(judgements),
        at=at,
        tenant=brief.tenant,
        purpose=brief.purpose,
        run_id=brief.run_id,
        brief_id=brief.id,
        writer=brief.writer.name if brief.writer and not brief.report else None,
        report=report.text,
        reason=report.reason,
        faults=report.faults,
        failed=report.failed,
        repairs=report.repairs,
        hints=(*report.hints, *(report.fault("prose", place, MESSAGE) for place in wrong)),
        prose=tuple(check for check, _ in checks),
        statements=report.statements,
        unchecked=report.unchecked,
        judgements=tuple(judgements),
        judges=standings,
        uncontrolled=None if standings or not judgements else CONTROLS_OFF,
        calls=len(questions.probes) + report.calls,
        reasoning={key: score.reasoning for key, score in read.items() if score.reasoning},
        phrases={key: score.phrases for key, score in read.items() if score.phrases},
    )


def _counts(request: JudgementRequest, standings: Mapping[str, JudgeStanding]) -> bool:
    """Tell whether the grades of a judge count in a dimension."""
    judge = standings.get(request.judge)
    return judge is None or judge.counts(request.dimension)


def _score(request: JudgementRequest, response: Response | None) -> JudgeScore | str:
    """Return a judge's score, or the reason for its absence."""
    try:
        return judgement_in(response_text(response))
    except Unreadable as error:
        return f"not scored: {error}"


def _judgement(request: JudgementRequest, score: JudgeScore | str, *, counts: bool) -> Judgement:
    return Judgement(
        key=request.key,
        dimension=request.dimension,
        judge=request.judge,
        repeat=request.repeat,
        counts=counts,
        score=None if isinstance(score, str) else score.score,
        reason=score if isinstance(score, str) else None,
    )


def _summary(judgements: Sequence[Judgement]) -> dict[str, Any]:
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


def by_dimension(
    judgements: Sequence[Judgement], names: Iterable[str] = ()
) -> tuple[DimensionScore, ...]:
    """Return the score of each dimension, including unscored ones in `names`."""
    names = dict.fromkeys([*names, *(judgement.dimension for judgement in judgements)])
    return tuple(_dimension(name, [j for j in judgements if j.dimension == name]) for name in names)


def _dimension(name: str, judgements: Sequence[Judgement]) -> DimensionScore:
    scores = [judgement.score for judgement in judgements if judgement.score is not None]
    means = _judge_means(judgements)
    return DimensionScore(
        dimension=name,
        # Each judge has the same weight, regardless of the number of readable repeats.
        mean=fmean(means) if means else None,
        sd=stdev(scores) if len(scores) > 1 else None,
        scored=len(scores),
        asked=len(judgements),
        spread_of_judges=max(means) - min(means) if len(means) > 1 else None,
    )


def overall(dimensions: Iterable[DimensionScore]) -> tuple[float | None, int]:
    """Return the mean over scored dimensions, and their number."""
    means = [dimension.mean for dimension in dimensions if dimension.mean is not None]
    return (fmean(means) if means else None), len(means)


def disputed(dimensions: Iterable[DimensionScore]) -> tuple[str, ...]:
    """Return the dimensions on which judges disagree."""
    return tuple(d.dimension for d in dimensions if (d.spread_of_judges or 0) >= DISPUTED_FROM)


def agreement_of_judges(judgements: Sequence[Judgement]) -> Agreement | None:
    """Return the agreement between judges over dimensions; None for a single judge."""
    if len({judgement.judge for judgement in judgements}) < 2:
        return None
    names = dict.fromkeys(judgement.dimension for judgement in judgements)
    return _agreement(
        [_judge_means(j for j in judgements if j.dimension == name) for name in names]
    )


def agreement_of_repeats(judgements: Sequence[Judgement]) -> Agreement | None:
    """Return the agreement of repeats by one judge; None without repeats."""
    if not any(judgement.repeat for judgement in judgements):
        return None
    return _agreement(_scores_by(judgements, "judge", "dimension"))


def _agreement(units: Sequence[Sequence[float]]) -> Agreement:
    alpha, reason = krippendorff_alpha(units)
    return Agreement(alpha=alpha, units=sum(len(u) > 1 for u in units), reason=reason)


def _judge_means(judgements: Iterable[Judgement]) -> list[float]:
    return [fmean(scores) for scores in _scores_by(judgements, "judge") if scores]


def _scores_by(judgements: Iterable[Judgement], *fields: str) -> list[list[float]]:
    """Return the scores of judgements that agree in some fields."""
    scores: dict[object, list[float]] = {}
    for judgement in judgements:
        own = scores.setdefault(attrgetter(*fields)(judgement), [])
        own += [] if judgement.score is None else [judgement.score]
    return list(scores.values())
