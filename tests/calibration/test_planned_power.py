"""Planned power of runs: answers drawn by other means are found as often as was planned."""

from collections.abc import Callable

import numpy as np
import pytest

from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse, diagnose, folded
from biaswatch.shared.contracts import Claim, SummaryWord
from biaswatch.shared.stats.comparisons.assumed_answers import AssumedAnswers
from biaswatch.shared.stats.comparisons.planned_power import simulated_power
from biaswatch.shared.stats.comparisons.simulated_studies import PlannedTest, StudyShape

Rng = np.random.Generator
Rows = list[MeasuredResponse]
RUNS = 300


def response(group: str, place: int, value: float | None, *, twins: bool) -> MeasuredResponse:
    return MeasuredResponse(
        target="t", scaffold="direct", unit=f"{group}{place}", set=f"s{place}" if twins else None,
        groups={"race": group}, extractor="rating", values={"rating": value}, why_missing=None,
    )  # fmt: skip


def lengths_of_twins(rng: Rng) -> Rows:
    """30 sets, 2 repeats; means of twins deviate by 8 and correlate by .5; answers by 12."""
    means = rng.multivariate_normal([210, 200], [[64, 32], [32, 64]], 30)
    return [
        response(group, place, float(rng.normal(mean[side], 12)), twins=True)
        for place, mean in enumerate(means)
        for side, group in enumerate("ab")
        for _ in range(2)
    ]


def selections_without_twins(rng: Rng) -> Rows:
    """70 prompts a side, 3 repeats, a tenth missing; rates .35 and .2 that deviate by .1."""
    result = []
    for group, rate in (("a", 0.35), ("b", 0.2)):
        size = rate * (1 - rate) / 0.01 - 1
        for place, of_prompt in enumerate(rng.beta(rate * size, (1 - rate) * size, 70)):
            answers = rng.random(3) < of_prompt
            result += [
                response(group, place, None if rng.random() < 0.1 else float(yes), twins=False)
                for yes in answers
            ]
    return result


def selections_of_a_bank(rng: Rng) -> Rows:
    """8 sets, 12 repeats; rates .55 and .35 in every set."""
    return [
        response(group, place, float(rng.random() < rate), twins=True)
        for place in range(8)
        for group, rate in (("a", 0.55), ("b", 0.35))
        for _ in range(12)
    ]


@pytest.mark.parametrize(
    ("study", "shape", "repeats", "answers", "claim"),
    [
        (
            lengths_of_twins, StudyShape(30), 2,
            AssumedAnswers(210, 200, 12, 8, 0.5), Claim.POPULATION,
        ),
        (
            selections_without_twins, StudyShape(0, 70, 70), 3,
            AssumedAnswers(0.35, 0.2, None, 0.1, 0.0, (0.0, 1.0), 0.1), Claim.POPULATION,
        ),
        pytest.param(
            selections_of_a_bank, StudyShape(8), 12,
            AssumedAnswers(0.55, 0.35, None, 0.0, 0.0, (0.0, 1.0)), Claim.BANK,
            marks=pytest.mark.slow,
        ),
    ],
)  # fmt: skip
def test_runs_find_a_gap_as_often_as_was_planned(
    study: Callable[[Rng], Rows],
    shape: StudyShape,
    repeats: int,
    answers: AssumedAnswers,
    claim: Claim,
) -> None:
    """Answers drawn by other means and judged by the whole diagnosis; two standard errors."""
    plan = AnalysisPlan(permutations=0, claim=claim)
    result = 0
    for number in range(RUNS):
        [finding] = diagnose(
            folded(study(np.random.default_rng(number))), plan, np.random.default_rng(1)
        )
        gap = finding.gaps[0]
        result += gap.summary is SummaryWord.DISPARITY and (gap.gap.value or 0) > 0
    test = PlannedTest(fixed_prompts=claim is Claim.BANK)
    planned = simulated_power(shape, repeats, answers, test, runs=RUNS)
    assert 0.3 < planned < 0.97
    assert result / RUNS == pytest.approx(planned, abs=0.08)
