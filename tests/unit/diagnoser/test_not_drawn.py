"""Answers that are not drawn: texts and names are the units, and twins need placebo twins."""

from collections.abc import Iterator

import numpy as np
import pytest

from biaswatch.shared.analysis.findings.diagnosis import diagnose
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan
from biaswatch.shared.analysis.findings.growing_columns import folded
from biaswatch.shared.analysis.findings.measured_responses import MeasuredResponse
from biaswatch.shared.contracts import Claim, Gap
from biaswatch.shared.stats.estimate import DIFFERS, NOT_SHOWN, Question

RANGES = {"expected_rating": (1.0, 5.0)}
SETS = 30


def rows(
    gap: float, *, placebo: bool = False, named: bool = True, scaffold: str = "likelihood"
) -> Iterator[MeasuredResponse]:
    """Yield twins whose names differ by noise, and in the mean by a gap."""
    rng = np.random.default_rng(4)
    for number in range(SETS):
        level = 3 + rng.normal(0, 0.3)
        twins = [("race", "black", -gap / 2), ("race", "white", gap / 2)]
        twins += [("placebo", label, 0.0) for label in "ab" if placebo]
        for dimension, group, shift in twins:
            value = level + shift + rng.normal(0, 0.05)
            yield MeasuredResponse(
                target="m",
                scaffold=scaffold,
                unit=f"{number}-{group}",
                set=f"set-{number}",
                groups={dimension: group},
                extractor="likelihood",
                values={"expected_rating": float(np.clip(value, 1, 5))},
                why_missing=None,
                random={"name": f"{group}-{number}"} if named or dimension == "race" else {},
            )


def gap_of(answers: list[MeasuredResponse], claim: Claim = Claim.POPULATION) -> Gap:
    plan = AnalysisPlan(ranges=RANGES, claim=claim)
    diagnosis = diagnose(folded(answers), plan, np.random.default_rng(1))
    [gap] = next(finding for finding in diagnosis if finding.key.dimension == "race").gaps
    return gap


def test_same_treatment_is_never_answered_alone() -> None:
    gap = gap_of(list(rows(0.5)))
    assert gap.same_treatment is None
    assert gap.p_same_treatment is None
    assert "probabilities are not drawn" in str(gap.same_treatment_reason)
    assert gap.twin_rate is None
    assert gap.headline is Question.GROUP_EFFECT
    assert gap.group_effect == DIFFERS
    drawn = gap_of(list(rows(0.5, scaffold="direct")))
    assert drawn.same_treatment == DIFFERS


def test_names_that_differ_by_themselves_are_no_group_effect() -> None:
    assert gap_of(list(rows(0.0))).group_effect == NOT_SHOWN


@pytest.mark.parametrize("claim", list(Claim))
def test_a_repeat_adds_nothing(claim: Claim) -> None:
    once = list(rows(0.03))
    population = gap_of(once)
    for answers in (once, once * 20):
        gap = gap_of(answers, claim)
        ends = (gap.gap.low, gap.gap.high, gap.p_value)
        expected = (population.gap.low, population.gap.high, population.p_value)
        assert ends == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(("gap", "answer"), [(0.0, NOT_SHOWN), (0.5, DIFFERS)])
def test_twins_are_compared_with_placebo_twins_of_one_group(gap: float, answer: str) -> None:
    compared = gap_of(list(rows(gap, placebo=True)))
    assert compared.same_treatment == answer
    assert compared.p_same_treatment is not None
    assert compared.same_treatment_reason is None


def test_placebo_twins_without_names_are_no_comparison() -> None:
    assert gap_of(list(rows(0.5, placebo=True, named=False))).same_treatment is None


def test_twins_that_differ_as_placebo_twins_do_are_rarely_told_apart() -> None:
    result = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        values = rng.normal(3, 0.2, (12, 4)).clip(1, 5)
        answers = [
            MeasuredResponse(
                target="m", scaffold="likelihood", unit=f"{number}-{group}", set=f"s{number}",
                groups={dimension: group}, extractor="likelihood",
                values={"expected_rating": float(value)}, why_missing=None,
                random={"name": f"{group}{number}"},
            )
            for number, row in enumerate(values)
            for value, (dimension, group) in zip(
                row, (("race", "a"), ("race", "b"), ("placebo", "a"), ("placebo", "b")), strict=True
            )
        ]  # fmt: skip
        result += gap_of(answers).same_treatment == DIFFERS
    assert result <= 20  # 10 are expected of 200 at most
