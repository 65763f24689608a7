"""The tables of Local Law 144 of a run whose prompts were asked repeatedly."""

import numpy as np
import pytest

from biaswatch.render.ll144 import run_tables
from services.diagnoser.domain.findings import AnalysisPlan, MeasuredResponse, diagnose
from shared.contracts import Claim, Estimate, GroupSummary
from tests.support.records import make_diagnosis, make_progress

RUN = make_progress()
SELECTED = {"a": (7, 8, 7, 8, 7, 8), "b": (6, 6, 6, 6, 6, 5)}
"""Of ten answers to each of six prompts: rates of .75 and .583, a ratio of .78."""


def cases() -> list[MeasuredResponse]:
    return [
        MeasuredResponse(
            target="t",
            scaffold="direct",
            unit=f"{group}{prompt}",
            set=None,
            groups={"race": group},
            extractor="rating",
            values={"rating": 5.0 if repeat < selected else 1.0},
            why_missing=None,
        )
        for group, counts in SELECTED.items()
        for prompt, selected in enumerate(counts)
        for repeat in range(10)
    ]


@pytest.mark.parametrize("claim", Claim)
def test_a_rate_is_that_of_the_answers_and_not_of_whole_prompts(claim: Claim) -> None:
    plan = AnalysisPlan(selected_at_least={"rating": 4.0}, claim=claim)
    [finding] = diagnose(cases(), plan, np.random.default_rng(1))
    table = run_tables(RUN, [make_diagnosis(groups=tuple(finding.groups))])
    assert "| a | 6 | 75.0 % | 1.00 |" in table
    assert "| b | 6 | 58.3 % | 0.78 |" in table


def test_a_rate_of_1_that_arithmetic_has_raised_is_no_mistake() -> None:
    rate = Estimate(value=1 + 2**-52)
    groups = tuple(
        GroupSummary(group=n, responses=6, missing=0, units=6, mean=rate, selection_rate=rate)
        for n in "ab"
    )
    assert "| b | 6 | 100.0 % | 1.00 |" in run_tables(RUN, [make_diagnosis(groups=groups)])
