"""Gaps by turn and by context: planted ones are found, placebo twins have none."""

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from biaswatch.shared.analysis.findings import AnalysisPlan, MeasuredResponse, diagnose, folded
from biaswatch.shared.analysis.findings.run_findings import RunFinding
from biaswatch.shared.contracts.derived_features import over_conversation
from biaswatch.shared.presentation import interactions
from tests.support.records import make_diagnosis

RANGES = {"rating": (1.0, 5.0)}
SETS, TURNS, CONTEXTS = 40, 5, ("career", "culture", "plain")
Planted = Callable[[int, str], float]
"""The gap of the second group in a turn and a context."""


def answers(
    rng: np.random.Generator, planted: Planted, turns: int = TURNS, contexts: tuple[str, ...] = ()
) -> list[MeasuredResponse]:
    """Return ratings of a study: two groups in each set, with names and texts as random factors."""
    responses = []
    for number in range(SETS):
        level = rng.normal(3, 0.5)
        for context in contexts or ("",):
            shift = rng.normal(0, 0.3)
            for group, name in (("a", f"a{number % 10}"), ("b", f"b{number % 10}")):
                values = {
                    turn: {"rating": rated(rng, level + shift + gap(group, planted, turn, context))}
                    for turn in range(1, turns + 1)
                }
                responses.append(
                    MeasuredResponse(
                        target="model", scaffold="conversation", unit=f"{number}-{group}-{context}",
                        set=f"{number}", groups={"race": group}, extractor="rating",
                        values=measured(values),
                        why_missing=None, strata={"context": context} if context else {},
                        random={"name": name, "text": f"{number}"},
                    )
                )  # fmt: skip
    return responses


def gap(group: str, planted: Planted, turn: int, context: str) -> float:
    return planted(turn, context) if group == "b" else 0.0


def measured(values: Mapping[int, Mapping[str, float]]) -> Mapping[str, float | None]:
    if len(values) == 1:
        return values[1]
    return over_conversation(("rating",), values, len(values))


def rated(rng: np.random.Generator, mean: float) -> float:
    return float(np.clip(np.floor(mean + rng.normal(0, 0.4) + rng.random()), 1, 5))


def findings_of(responses: list[MeasuredResponse], **plan: object) -> Mapping[str, RunFinding]:
    analysis = AnalysisPlan(ranges=RANGES, features=("rating",), permutations=0, **plan)  # type: ignore[arg-type]
    findings = diagnose(folded(responses), analysis, np.random.default_rng(1))
    return {finding.key.feature: finding for finding in findings}


def verdict(finding: RunFinding) -> str:
    [result] = finding.gaps
    return str(result.verdict)


def test_a_gap_that_begins_at_a_turn_is_found_there_and_in_the_drift() -> None:
    responses = answers(np.random.default_rng(3), lambda turn, _: -1.0 if turn >= 4 else 0.0)
    by_feature = findings_of(responses)
    assert list(by_feature) == [
        "rating", "rating@1", "rating@2", "rating@3", "rating@4", "rating@5", "rating@drift",
    ]  # fmt: skip
    disparate = {name for name, finding in by_feature.items() if verdict(finding) == "disparity"}
    assert {"rating@4", "rating@5", "rating@drift"} <= disparate
    assert not disparate & {"rating@1", "rating@2", "rating@3"}
    assert {finding.family for finding in by_feature.values()} == {7}


def test_a_gap_in_one_context_is_found_there_and_the_effect_differs() -> None:
    planted: Planted = lambda _, context: -0.9 if context == "culture" else 0.0  # noqa: E731
    responses = answers(np.random.default_rng(4), planted, turns=1, contexts=CONTEXTS)
    by_feature = findings_of(responses, gaps_by=("context",))
    assert list(by_feature) == ["rating", "rating@career", "rating@culture", "rating@plain"]
    assert verdict(by_feature["rating@culture"]) == "disparity"
    assert verdict(by_feature["rating@career"]) != "disparity"
    assert {finding.family for finding in by_feature.values()} == {4}
    [test] = by_feature["rating"].interactions
    assert test.dimensions == "race x context"
    assert test.p_adjusted is not None
    assert test.p_adjusted < 0.001


def test_a_dimension_whose_name_looks_crossed_keeps_its_interaction() -> None:
    responses = [
        replace(response, groups={"age x income": response.groups["race"]})
        for response in answers(
            np.random.default_rng(4), lambda *_: 0.0, turns=1, contexts=CONTEXTS
        )
    ]
    [test] = findings_of(responses, gaps_by=("context",))["rating"].interactions
    assert test.dimensions == "age x income x context"
    diagnosis = make_diagnosis(feature="rating", dimension="age x income", interactions=(test,))
    [sentence] = interactions.tested_interactions(diagnosis)
    assert "the gap of age x income differs with context" in sentence


def test_drift_and_contexts_have_the_range_that_follows_from_the_declared_one() -> None:
    responses = answers(np.random.default_rng(5), lambda *_: 0.0, contexts=("plain", "long"))
    by_feature = findings_of(responses, gaps_by=("context",))
    assert len(by_feature) == 7 * 3
    drift = by_feature["rating@drift@long"].gaps[0].gap
    assert drift.low is not None
    assert drift.high is not None
    assert -8 <= drift.low < drift.high <= 8


@pytest.mark.parametrize(
    ("turns", "contexts", "gaps_by"), [(TURNS, (), ()), (1, CONTEXTS, ("context",))]
)
def test_placebo_twins_show_no_gap_by_turn_or_context(
    turns: int, contexts: tuple[str, ...], gaps_by: tuple[str, ...]
) -> None:
    rng, studies = np.random.default_rng(6), 30
    false: Counter[str] = Counter()
    for _ in range(studies):
        by_feature = findings_of(answers(rng, lambda *_: 0.0, turns, contexts), gaps_by=gaps_by)
        false["gap"] += any(verdict(finding) == "disparity" for finding in by_feature.values())
        tests = [test for finding in by_feature.values() for test in finding.interactions]
        false["differs"] += any((test.p_adjusted or 1) < 0.05 for test in tests)
    assert max(false.values()) <= 5  # 30 studies at level 0.05: more than 5 have probability 0.003
