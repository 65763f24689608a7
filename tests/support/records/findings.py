"""Makers of what is concluded: diagnoses, assessments, verdicts, interpretations."""

from typing import Any

from biaswatch.shared.contracts import (
    Assessment,
    Brief,
    Check,
    Consistency,
    Diagnosis,
    DimensionScore,
    Estimate,
    Evaluation,
    Fault,
    Finding,
    Gap,
    GroupSummary,
    Judgement,
    Measure,
    PairAnswers,
    PairVerdict,
    Quality,
    Subject,
    TotalBias,
    Verdict,
)
from biaswatch.shared.requests.run_sources import AnsweringModel, RunInstrument, RunProvenance
from biaswatch.shared.requests.run_views import RunProgress
from tests.support.records.pipeline import AT, RUN_ID, make_completion, make_target


def make_diagnosis(**fields: Any) -> Diagnosis:
    """Make the statistics of one feature over two groups."""
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "completion_id": make_completion().id,
        "target": "replay:answers",
        "scaffold": "direct",
        "extractor": "words",
        "feature": "words",
        "dimension": "concept",
        "alpha": 0.05,
        "tolerance": 0.0,
        "family": 1,
        "claim": "these prompts",
        "groups": (
            GroupSummary(group="France", responses=2, missing=0, units=2, mean=Estimate(value=7.0)),
            GroupSummary(group="Peru", responses=2, missing=1, units=1, mean=Estimate(value=6.0)),
        ),
        "gaps": (Gap(a="France", b="Peru", gap=Estimate(value=1.0), verdict=Verdict.INCONCLUSIVE),),
    }
    return Diagnosis(**{**given, **fields})


def make_progress(**fields: Any) -> RunProgress:
    """Make the progress of a run that is complete."""
    given = {
        "run_id": RUN_ID,
        "suite": "countries",
        "targets": ["replay:answers"],
        "at": AT,
        "state": "complete",
        "opening": 0,
        "probes": 5,
        "responses": 5,
        "features": 5,
        "features_expected": 5,
        "diagnoses": 1,
    }
    return RunProgress(**{**given, **fields})


def make_provenance(**fields: Any) -> RunProvenance:
    """Make where a run's numbers come from."""
    given = {
        "suite": "countries",
        "suite_hash": "0" * 32,
        "about": "Questions about countries.",
        "claim": "these prompts",
        "questions": 5,
        "repeats": 1,
        "scaffolds": ["direct"],
        "models": [
            AnsweringModel(
                target="replay:answers", versions=["gpt-5-mini-2026-01-01 (fp_1)"],
                parameters="temperature 0", system_prompt=None,
            )
        ],
        "judges": [],
        "instruments": [RunInstrument(name="words", version="1", instrument="word counts")],
        "ranges": {},
        "seed": "7",
        "judging_seed": None,
        "begun": AT,
        "concluded": AT,
        "tokens": 1234,
        "cost": None,
        "software": "0.1.0",
    }  # fmt: skip
    return RunProvenance(**{**given, **fields})


def make_assessment(**fields: Any) -> Assessment:
    """Make what else is seen of one feature."""
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "completion_id": make_completion().id,
        "target": "replay:answers",
        "scaffold": "direct",
        "extractor": "words",
        "feature": "words",
        "alpha": 0.05,
        "answers": 4,
        "missing": 1,
        "total_bias": TotalBias(value=1.0, null_median=0.5, p_value=0.4),
        "quality": Quality(reason="the suite names no right answers that are numbers"),
        "consistency": Consistency(mean_sd=0.0, one_answer=1.0, prompts=1, left_out=1),
    }
    return Assessment(**{**given, **fields})


def make_verdict(**fields: Any) -> PairVerdict:
    """Make the judgement of a pair by one judge, with one flag raised."""
    judge = make_target()
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "pair_id": "b" * 32,
        "judges": (judge.lane,),
        "target": judge.name,
        "scaffold": "reason_and_choose",
        "set_id": "set-1",
        "facts": {"category": "Age", "condition": "ambig"},
        "answers": PairAnswers.MIXED,
        "chosen": ("A", "B"),
        "repeated": (False, False),
        "checks": (
            Check(name="a_to_b", judge=judge.name, said="no"),
            Check(name="guess_a", judge=judge.name, said="C", expected="C"),
            Check(name="guess_b", judge=judge.name, expected="D", reason="no choice"),
        ),
        "flags": {
            "flag_1": Finding(value=True, verdicts=1),
            "flag_3": Finding(value=False, verdicts=1),
            "flag_4": Finding(reason="no verdict: no choice"),
        },
        "explanations": {"flag_1": "The reasoning speaks of something else."},
    }
    return PairVerdict(**{**given, **fields})


def make_subject(**fields: Any) -> Subject:
    """Make the statistics of a small table of two groups."""
    given = {
        "outcome": "admission",
        "value": "admitted",
        "groups": ("men", "women"),
        "counts": (30, 70, 20, 80),
        "cases": 200,
        "measures": (
            Measure(
                name="odds_ratio", label="Odds Ratio", value=1.714, low=0.896, high=3.281,
                no_difference=1.0,
            ),
            Measure(
                name="relative_risk", label="Relative Risk", value=1.5, low=0.917, high=2.454,
                no_difference=1.0,
            ),
            Measure(name="chi_square", label="Chi-Square Test", value=2.6667, p_value=0.1025),
        ),
    }  # fmt: skip
    return Subject(**{**given, **fields})


def make_brief(**fields: Any) -> Brief:
    """Make an interpretation that is wanted."""
    given = {
        "at": AT,
        "purpose": "judge",
        "subject": make_subject(),
        "writer": make_target(),
        "judges": (make_target(),),
    }
    return Brief(**{**given, **fields})


def make_evaluation(**fields: Any) -> Evaluation:
    """Make what came of that brief."""
    given = {
        "at": AT,
        "purpose": "judge",
        "brief_id": make_brief().id,
        "writer": "replay:answers",
        "report": "#### Executive Summary\nAdmission of men and women was compared.",
        "faults": (Fault(kind="heading", where="Findings", sentence="The heading is missing."),),
        "judgements": (
            Judgement(key="p_value-chi_square/1/0", dimension="p_value", judge="j", score=0.75),
        ),
        "dimensions": (DimensionScore(dimension="p_value", mean=0.75, scored=1, asked=1),),
        "mean": 0.75,
        "mean_of": 1,
        "reasoning": {"p_value-chi_square/1/0": "It is read rightly."},
    }
    return Evaluation(**{**given, **fields})
