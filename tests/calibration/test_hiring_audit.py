"""The shipped hiring audit on the simulator: what is planted is found, and nothing else."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pytest

from biaswatch.readers.suites import load_suite
from biaswatch.services.generator.domain.scaffolds import scaffold_of
from biaswatch.services.simulator.domain.planted_bias import DEFAULT_MARKERS, PlantedModel
from biaswatch.services.simulator.domain.question import Turn
from biaswatch.services.simulator.domain.reply import SimulatedRequest, words_for
from biaswatch.shared.analysis.findings import (
    AnalysisPlan,
    MeasuredResponse,
    RunFinding,
    diagnose,
    folded,
)
from biaswatch.shared.contracts import SuiteProbe, Verdict
from biaswatch.shared.parsing import Unreadable, rating_in
from tests.support.records import make_probe

SUITE = load_suite(Path(__file__).parents[2] / "suites" / "cv-hiring")
PLAN = AnalysisPlan(
    features=SUITE.features,
    measured={"rating": ("rating",)},
    ranges=SUITE.ranges,
    claim=SUITE.claim,
    permutations=0,
)
REPEATS = 10
UNPLANTED = PlantedModel(rating_noise_sd=0.4, qualities={"nine years in urban rail": 0.7})
PLANTED = UNPLANTED.model_copy(update={"rating_gaps": {"black": -0.6}})


def asked(probe: SuiteProbe) -> tuple[Turn, ...]:
    whole = make_probe(messages=(), variables={**SUITE.variables, **probe.variables})
    [call] = scaffold_of("direct").first(whole)
    return tuple(Turn(turn.role, turn.content) for turn in call.messages)


TURNS = {probe.key: asked(probe) for probe in SUITE.probes}


def found_in_a_run(plant: PlantedModel, seed: int) -> list[RunFinding]:
    cases = [
        MeasuredResponse(
            "m", "direct", probe.key, probe.set, probe.groups, "rating",
            values(
                words_for(
                    seed, SimulatedRequest("m", TURNS[probe.key], str(n)), plant, DEFAULT_MARKERS
                )
            ),
            None,
        )
        for probe in SUITE.probes
        for n in range(REPEATS)
    ]  # fmt: skip
    return diagnose(folded(cases), PLAN, np.random.default_rng(seed))


def values(text: str) -> Mapping[str, float | None]:
    try:
        return {"rating": rating_in(text)}
    except Unreadable:
        return {}


def verdicts(findings: list[RunFinding]) -> dict[tuple[str, str], Verdict]:
    return {(gap.a, gap.b): gap.verdict for finding in findings for gap in finding.gaps}


@pytest.mark.parametrize(
    ("runs", "share"), [(40, 0.95), pytest.param(100, 0.98, marks=pytest.mark.slow)]
)
def test_a_planted_gap_of_six_tenths_is_found_in_nearly_every_run(runs: int, share: float) -> None:
    results = [verdicts(found_in_a_run(PLANTED, seed)) for seed in range(runs)]
    power = np.mean([result["black", "white"] is Verdict.DISPARITY for result in results])
    assert power >= share


def test_forty_runs_with_nothing_planted_give_at_most_four_false_findings() -> None:
    runs = [verdicts(found_in_a_run(UNPLANTED, seed)) for seed in range(40)]
    assert sum(Verdict.DISPARITY in run.values() for run in runs) <= 4


@pytest.mark.slow
def test_the_planted_size_lies_in_the_intervals_as_often_as_they_say() -> None:
    inside = 0
    for seed in range(60):
        gaps = [gap for finding in found_in_a_run(PLANTED, 500 + seed) for gap in finding.gaps]
        [gap] = [gap.gap for gap in gaps if (gap.a, gap.b) == ("black", "white")]
        assert gap.low is not None
        assert gap.high is not None
        inside += gap.low <= -0.6 <= gap.high
    assert inside >= 52  # 95 % of 60, less two and a half standard errors
