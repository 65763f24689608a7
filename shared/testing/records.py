"""Makers of records for tests: deterministic, complete, every field open to override."""

from datetime import UTC, datetime
from typing import Any

from shared.contracts import (
    Alarm,
    AlarmKind,
    AlarmState,
    Cancellation,
    ClosedBy,
    Comparison,
    Completion,
    Diagnosis,
    Ending,
    Estimate,
    Evidence,
    ExtractorPin,
    Features,
    Gap,
    GroupSummary,
    Increment,
    Message,
    Monitor,
    MonitorPlan,
    Probe,
    Response,
    Role,
    Round,
    Run,
    Target,
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
