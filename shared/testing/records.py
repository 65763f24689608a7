"""Makers of records for tests: deterministic, complete, every field open to override."""

from datetime import UTC, datetime
from typing import Any

from shared.contracts import (
    Alarm,
    AlarmKind,
    AlarmState,
    Assessment,
    Brief,
    Cancellation,
    Check,
    ClosedBy,
    Comparison,
    Completion,
    Consistency,
    Diagnosis,
    DimensionScore,
    Ending,
    Estimate,
    Evaluation,
    Evidence,
    ExtractorPin,
    Fault,
    Features,
    Finding,
    Gap,
    GroupSummary,
    Increment,
    Judgement,
    Measure,
    Message,
    Monitor,
    MonitorPlan,
    PairAnswers,
    PairVerdict,
    Probe,
    Quality,
    Response,
    Role,
    Round,
    Run,
    Subject,
    Target,
    TotalBias,
    Upkeep,
    Usage,
    Verdict,
    WatchedFeature,
    WatchedPair,
)

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
RUN_ID = "0" * 32


def make_target(**fields: Any) -> Target:
    """Make a target that is asked through recorded answers."""
    return Target(**{"name": "replay:answers", "provider": "replay", "model": "answers", **fields})


def make_run(**fields: Any) -> Run:
    """Make a small run."""
    given = {
        "at": AT,
        "suite": "countries",
        "suite_hash": "a" * 32,
        "targets": (make_target(),),
        "extractors": (ExtractorPin(name="words", version="1"),),
    }
    return Run(**{**given, **fields})


def make_probe(number: int = 0, **fields: Any) -> Probe:
    """Make the probe with this number; another number makes another id."""
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "key": f"probe-{number}",
        "target": make_target(),
        "messages": (Message(role=Role.USER, content=f"Question {number}: how is the coast?"),),
        "groups": {"concept": "France" if number % 2 else "Peru"},
        "set_id": f"set-{number // 2}",
        "unit_id": f"prompt-{number}",
        "baseline": f"The coast of {number} is long.",
    }
    return Probe(**{**given, **fields})


def make_response(number: int = 0, **fields: Any) -> Response:
    """Make the answer to the probe with this number."""
    given = {
        "at": AT,
        "probe": make_probe(number),
        "ending": Ending.ANSWERED,
        "text": f"Answer {number}: it is long and quiet.",
        "model": "answers-1",
        "finish_reason": "stop",
        "usage": Usage(prompt_tokens=12, completion_tokens=9, latency_s=0.25),
    }
    return Response(**{**given, **fields})


def make_features(number: int = 0, **fields: Any) -> Features:
    """Make one extractor's measurement of the response with this number."""
    response = make_response(number)
    given = {
        "at": AT,
        "run_id": response.probe.run_id,
        "probe_id": response.probe.id,
        "response_id": response.id,
        "unit_id": response.probe.unit_id,
        "extractor": "words",
        "extractor_version": "1",
        "values": {"words": 7.0, "per_sentence": None},
        "baseline": {"words": 6.0, "per_sentence": 6.0},
    }
    return Features(**{**given, **fields})


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
        "gaps": (Gap(a="France", b="Peru", gap=Estimate(value=1.0), verdict=Verdict.NOT_ENOUGH),),
    }
    return Diagnosis(**{**given, **fields})


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


def make_cancellation(**fields: Any) -> Cancellation:
    """Make the end of a run before its time."""
    return Cancellation(**{"at": AT, "run_id": RUN_ID, "moment_ms": 1_767_323_045_000, **fields})


def make_completion(**fields: Any) -> Completion:
    """Make the end of a run's waiting for its responses."""
    given = {
        "at": AT,
        "run_id": RUN_ID,
        "stage": "responses",
        "closed_by": ClosedBy.ARRIVAL,
        "expected": 2,
        "arrived": 2,
    }
    return Completion(**{**given, **fields})


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


def make_plan(**fields: Any) -> MonitorPlan:
    """Make a plan that watches one number of two groups."""
    given = {
        "suite": "countries",
        "suite_hash": "a" * 32,
        "target": make_target(),
        "features": (WatchedFeature(extractor="words", feature="words", high=100.0),),
        "comparisons": (WatchedPair(dimension="concept", a="France", b="Peru"),),
    }
    return MonitorPlan(**{**given, **fields})


def make_monitor(**fields: Any) -> Monitor:
    """Make a monitor that asks every hour."""
    given = {
        "at": AT,
        "purpose": "monitor",
        "name": "coasts",
        "moment_ms": 1_767_323_045_000,
        "plan": make_plan(),
        "upkeep": Upkeep(cadence_s=3600),
        "since": AT,
    }
    return Monitor(**{**given, **fields})


def make_round(**fields: Any) -> Round:
    """Make the first round of a monitor, closed."""
    given = {
        "at": AT,
        "purpose": "monitor",
        "monitor_id": "b" * 32,
        "monitor": "coasts",
        "round": 0,
        "run_id": RUN_ID,
        "closed_by": ClosedBy.ARRIVAL,
        "expected": 2,
        "arrived": 2,
    }
    return Round(**{**given, **fields})


def make_increment(**fields: Any) -> Increment:
    """Make what a round adds to one comparison."""
    return Increment(
        **{**_of_comparison(), "counts": {"counts": (0, 1, 2), "absent": (1,)}, **fields}
    )


def make_evidence(**fields: Any) -> Evidence:
    """Make what one round allows to say of one comparison."""
    given = {
        "rounds": 1,
        "counts": {"counts": (0, 1, 2), "absent": (1,)},
        "units": 3,
        "missing": 1,
        "gap": Estimate(value=0.5, low=-1.0, high=1.0),
        "log_e": 0.1,
        "log_supremum": 0.1,
        "bound": 4.4,
        "verdict": Verdict.NOT_ENOUGH,
        "reason": "the log evidence is 0.10 of the 4.40 needed",
    }
    return Evidence(**{**_of_comparison(), **given, **fields})


def make_alarm(**fields: Any) -> Alarm:
    """Make an alarm that is raised."""
    given = {
        "at": AT,
        "purpose": "monitor",
        "monitor_id": "b" * 32,
        "monitor": "coasts",
        "epoch": 0,
        "round": 3,
        "run_id": RUN_ID,
        "comparison_key": "words.words:concept:France-Peru",
        "what": AlarmKind.DISPARITY,
        "state": AlarmState.RAISED,
        "reason": "the evidence is enough",
        "gap": Estimate(value=0.5, low=0.2, high=0.8),
        "log_evidence": 5.0,
    }
    return Alarm(**{**given, **fields})


def _of_comparison() -> dict[str, Any]:
    plan = make_plan()
    return {
        "at": AT,
        "purpose": "monitor",
        "monitor_id": "b" * 32,
        "run_id": RUN_ID,
        "epoch": 0,
        "round": 0,
        "comparison": Comparison(watched=plan.features[0], pair=plan.comparisons[0]),
    }
