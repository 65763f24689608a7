"""Makers of what a monitor leaves behind."""

from typing import Any

from biaswatch.shared.contracts import (
    Alarm,
    AlarmKind,
    AlarmState,
    ClosedBy,
    Comparison,
    Estimate,
    Evidence,
    Increment,
    Monitor,
    MonitorPlan,
    Round,
    RoundEvidence,
    Upkeep,
    Verdict,
    WatchedFeature,
    WatchedPair,
)
from biaswatch.shared.contracts.evidence_rows import round_evidence
from tests.support.records.pipeline import AT, RUN_ID, make_target


def make_plan(**fields: Any) -> MonitorPlan:
    """Make a plan that watches one number of two groups."""
    given = {
        "suite": "countries",
        "suite_hash": "a" * 32,
        "target": make_target(name="simulator:answers", provider="simulator"),
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


def make_round_evidence(*evidence: Evidence) -> RoundEvidence:
    """Make the record of a round with evidence of some comparisons."""
    some = evidence or (make_evidence(),)
    increments = [make_increment(comparison=item.comparison) for item in some]
    (result,) = round_evidence(increments, some)
    return result


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
        "verdict": Verdict.INCONCLUSIVE,
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
