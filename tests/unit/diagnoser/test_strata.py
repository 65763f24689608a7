"""Strata against numpy and scipy: described with their missing answers, and never compared."""

import numpy as np
import pytest

from biaswatch.shared.analysis.findings import (
    AnalysisPlan,
    MeasuredResponse,
    describe_strata,
    diagnose,
    folded,
)
from biaswatch.shared.contracts import Claim

PLAN = AnalysisPlan(measured={"choice": ("correct",)}, features=("correct",))


def case(unit: str, level: str, value: float | None) -> MeasuredResponse:
    return MeasuredResponse(
        target="m", scaffold="direct", unit=unit, set=None, groups={}, extractor="choice",
        values={} if value is None else {"correct": value},
        why_missing="refused" if value is None else None, strata={"difficulty": level},
    )  # fmt: skip


def cases(seed: int = 1) -> list[MeasuredResponse]:
    rng = np.random.default_rng(seed)
    return [
        case(f"{level}{prompt}", level, None if rng.random() < 0.2 else float(rng.random() < share))
        for level, share in (("easy", 0.9), ("hard", 0.2))
        for prompt in range(30)
        for _ in range(4)
    ]


def test_a_stratum_has_the_mean_over_prompts_and_the_interval_of_bounded_means() -> None:
    answers = cases()
    [result] = describe_strata(folded(answers), PLAN)
    assert (result.key.feature, result.key.dimension) == ("correct", "difficulty")
    for level in result.groups:
        level_answers = [answer for answer in answers if answer.strata["difficulty"] == level.group]
        by_prompt: dict[str, list[float]] = {}
        for item in level_answers:
            if (value := item.values.get("correct")) is not None:
                by_prompt.setdefault(item.unit, []).append(value)
        means = [np.mean(values) for values in by_prompt.values()]
        weights = np.random.default_rng(1).dirichlet(np.ones(len(means) + 1), 20_000)
        drawn = np.concatenate([weights @ np.append(means, end) for end in (0, 1)])
        assert level.mean.value == pytest.approx(np.mean(means))
        limits = np.quantile(drawn, [0.025, 0.975])
        assert (level.mean.low, level.mean.high) == pytest.approx(limits, abs=0.01)
        missing = sum(not item.values for item in level_answers)
        assert (level.responses, level.missing, level.units) == (120, missing, len(means))
        assert level.missing_reasons == {"refused": missing}


def test_a_stratum_is_never_compared_however_much_its_levels_differ() -> None:
    assert diagnose(folded(cases()), PLAN, np.random.default_rng(0)) == []


def test_answers_to_fixed_prompts_have_the_interval_of_their_answers() -> None:
    bank = AnalysisPlan(measured=PLAN.measured, features=PLAN.features, claim=Claim.BANK)
    [result] = describe_strata(folded(cases()), bank)
    assert {level.mean.method for level in result.groups} == {"t over answers within prompts"}


def test_a_run_without_strata_or_with_another_feature_has_no_description() -> None:
    assert describe_strata([], PLAN) == []
    other = AnalysisPlan(measured=PLAN.measured, features=("length",))
    assert describe_strata(folded(cases()), other) == []
