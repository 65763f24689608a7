"""Examination of judges of reports: the questions, and the standing in each dimension."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from biaswatch.services.evaluator.domain.controls.bank import REPORT, rubric_controls
from biaswatch.services.evaluator.domain.model_questions import (
    judgement_in,
    judging_probe,
    response_text,
    score_schema,
)
from biaswatch.services.evaluator.domain.rubric import Dimension, Profile, judging_prompt
from biaswatch.shared.analysis.judges.controls import Control
from biaswatch.shared.contracts import Brief, JudgeStanding, Probe, Response, derived_id
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.parsing.texts import plain_words
from biaswatch.shared.stats.estimate import undefined
from biaswatch.shared.stats.judges.results import ControlOutcome, KindResult

MIN_GOOD, MAX_BAD = 0.75, 0.5
"""Steps of the anchors: lower bound of scores of good texts, upper bound of bad ones."""
NO_TEXTS = "not examined: the dimension has no known texts"


@dataclass(frozen=True)
class ControlRequest:
    """A control, its judge, the swapped word, and the probe."""

    control: Control
    judge: str
    word: str
    probe: Probe


def control_requests(
    brief: Brief, dimensions: Sequence[Dimension], profile: Profile, at: datetime
) -> Iterator[ControlRequest]:
    """Yield every control of every judge, unless controls are off.

    Probes are those of an examination that any brief of the tenant may share, so that a judge is
    asked once a month.
    """
    if not brief.controls:
        return
    for judge in brief.judges:
        rows = list(
            rubric_controls(
                dimensions,
                profile,
                brief.controls_per_kind,
                groups=brief.subject.groups,
                author=judge.model,
            )
        )
        prompts = [
            judging_prompt(
                *(row.task, row.subject, profile, row.control.parts[REPORT]),
                from_low=row.control.number // 2 % 2 == 1,
            )
            for row in rows
        ]
        month = f"{at:%Y-%m}"
        bank = derived_id("examination", brief.tenant, judge.lane, month, brief.nonce, [*prompts])
        for row, prompt in zip(rows, prompts, strict=True):
            name = row.control.name
            schema = score_schema(row.task.dimension)
            probe = judging_probe(brief, name, judge, prompt, 0, at, schema)
            probe = probe.model_copy(update={"run_id": bank, "unit_id": f"{bank}/{name}"})
            yield ControlRequest(row.control, judge.name, row.word, probe)


def standings_of(
    brief: Brief,
    controls: Sequence[ControlRequest],
    replies: Mapping[str, Response],
    dimensions: Sequence[str],
) -> tuple[JudgeStanding, ...]:
    """Return the standing of each judge in each dimension, in the order of the brief.

    `replies` maps probe ids to responses. A dimension without known texts does not count.
    """
    # Imported late: its libraries load slowly.
    from biaswatch.shared.stats.judges.examination import examine

    standings = []
    for judge in dict.fromkeys(control.judge for control in controls):
        own_controls = [control for control in controls if control.judge == judge]
        kinds = examine(_outcome(c, replies.get(c.probe.id)) for c in own_controls)
        examined = {kind.kind for kind in kinds}
        kinds += [_unexamined(name) for name in dimensions if name not in examined]
        counts = brief.count_failed_judges
        standings.append(JudgeStanding(judge=judge, kinds=tuple(kinds), counts_failed=counts))
    return tuple(standings)


def _unexamined(dimension: str) -> KindResult:
    unknown = undefined(NO_TEXTS)
    return KindResult(dimension, unknown, unknown, believed=False, reason=NO_TEXTS)


def _outcome(request: ControlRequest, response: Response | None) -> ControlOutcome:
    control, reply, right, text = request.control, None, False, ""
    try:
        text = response_text(response)
        score = judgement_in(text).score
        reply, right = f"{score:g}", score >= MIN_GOOD if control.positive else score <= MAX_BAD
    except Unreadable:
        pass  # a reply that cannot be read is wrong
    report = control.parts[REPORT]
    return ControlOutcome(
        control.kind,
        control.positive,
        control.number,
        right,
        f"at least {MIN_GOOD:g}" if control.positive else f"at most {MAX_BAD:g}",
        reply,
        control.examined,
        request.word,
        answered=response is not None and response.text is not None,
        copied=plain_words(report) in plain_words(text),
    )
