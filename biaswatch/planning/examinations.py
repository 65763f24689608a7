"""Calls and cost of the examination of judges, shown before a run or an interpretation begins."""

from collections.abc import Sequence
from datetime import UTC, datetime

from biaswatch.planning.costs import EstimatedSpending, examination_spending
from biaswatch.services.evaluator.domain.controls.standings import control_requests
from biaswatch.services.evaluator.domain.rubric import tasks_for
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.services.evaluator.settings import EvaluatorSettings
from biaswatch.services.generator.settings import GeneratorSettings
from biaswatch.services.oracle.domain.questions import (
    control_question,
    examined_languages,
    study_texts,
)
from biaswatch.shared.analysis.judges.stories import story_controls
from biaswatch.shared.contracts import Suite, Target
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.requests.runs import BriefRequest, brief_of
from biaswatch.shared.runtime.settings import load_settings


def pair_examinations(
    suite: Suite, judges: Sequence[Target], *, count: int, seed: int
) -> list[EstimatedSpending]:
    """Estimate the examination of each judge of pairs."""
    groups = study_texts(suite.probes).groups
    return [
        _spending(
            judge,
            [
                control_question(control).text
                for language, labels in examined_languages(judge.name, groups, count).items()
                for control in story_controls(
                    count, seed, groups=labels, author=judge.model, language=language
                )
            ],
        )
        for judge in judges
    ]


def report_examinations(body: BriefRequest) -> list[EstimatedSpending]:
    """Estimate the examination of each paid judge of a report, by the rubric on this machine."""
    settings, at = load_settings(EvaluatorSettings), datetime.now(UTC)
    rubric = load_rubric(settings.evaluator_rubric_folder, settings.evaluator_profile_folder)
    brief = brief_of(body, at)
    paid = tuple(judge for judge in brief.judges if not PROVIDERS[judge.provider].free)
    brief = brief.model_copy(update={"judges": paid})
    if (profile := rubric.profiles.get(brief.profile)) is None:
        return []  # the evaluator refuses it
    tasks = tasks_for(rubric.dimensions, brief.subject, brief.dimensions)
    graded = list({task.dimension.name: task.dimension for task in tasks}.values())
    requests = list(control_requests(brief, graded, profile, at))
    return [
        _spending(judge, [r.probe.messages[0].content for r in requests if r.judge == judge.name])
        for judge in brief.judges
    ]


def _spending(judge: Target, questions: Sequence[str]) -> EstimatedSpending:
    settings = load_settings(GeneratorSettings)
    return examination_spending(judge, questions, settings.prices(), settings.generator_start)
