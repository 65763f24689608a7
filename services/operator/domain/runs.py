"""A BiasRun: what it asks for once, and what is told of it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from biaswatch.services.operator.domain.conditions import (
    READY,
    ResourceCondition,
    ResourceEvent,
    Status,
    Truth,
    merged,
)
from biaswatch.services.operator.domain.gateway_replies import SeenDiagnosis, SeenGap, SeenRun
from biaswatch.services.operator.domain.suites import suite_hash_of
from biaswatch.shared.contracts import LEAST_MEASURED_SHARE, Verdict
from biaswatch.shared.formatting import NOTHING_COMPARED, by_evidence, interval

COMPLETE, DISPARITY = "Complete", "Disparity"
ENDED = {"complete", "incomplete", "cancelled"}
NOT_MEASURED = "not_measured"
"""The verdict in the status of a run that shows no disparity and has too few measured answers."""


def wanted_run(
    meta: Mapping[str, Any], spec: Mapping[str, Any], suites: Mapping[str, str]
) -> dict[str, Any]:
    """Return the request of the run that a resource asks for; `suites` has hashes by BiasSuite.

    Raises
    ------
    SuiteNotReadyError
        Its suite is not there yet.
    """
    body = {key: value for key, value in spec.items() if key != "suite"}
    return body | {"suite_hash": suite_hash_of(spec, suites, str(meta.get("namespace")))}


def under_way(status: Status) -> str | None:
    """Return the id of a run that has begun and has not ended."""
    return status.get("run") if status.get("state") not in ENDED else None


def run_conditions(seen: SeenRun, found: Iterable[SeenDiagnosis]) -> list[ResourceCondition]:
    """Return whether a run is complete, and whether it found a disparity."""
    complete = seen.stand == "complete"
    answered = f"{seen.responses} of {seen.probes} questions are answered."
    return [
        ResourceCondition(READY, Truth.TRUE, "Accepted", "The gateway has taken it."),
        ResourceCondition(COMPLETE, Truth.of(complete), seen.stand.capitalize(),
                          f"{answered} {seen.stopped_by or ''}".strip()),
        _disparity(list(found)) if seen.stand in ENDED
        else ResourceCondition(DISPARITY, Truth.UNKNOWN, "NotDiagnosed"),
    ]  # fmt: skip


def _disparity(diagnoses: list[SeenDiagnosis]) -> ResourceCondition:
    """Return whether an ended run found a disparity; Unknown where too little was measured."""
    pairs = [(diagnosis, gap) for diagnosis in diagnoses for gap in diagnosis.gaps]
    disparities = [gap for _, gap in pairs if gap.verdict is Verdict.DISPARITY]
    undone = sum(gap.survives_missing is False for gap in disparities)
    lacking = sum(not diagnosis.is_measured(gap) for diagnosis, gap in pairs)
    words = f"{len(disparities)} of {len(pairs)} comparisons show a disparity"
    words += f", but the missing answers could undo {undone} of them." if undone else "."
    if lacking:
        share = f"{100 * LEAST_MEASURED_SHARE:g} %"
        words += f" Of {lacking}, less than {share} of the answers about a group gave a number."
    if disparities:
        return ResourceCondition(DISPARITY, Truth.TRUE, "Diagnosed", words)
    if not pairs:
        return ResourceCondition(DISPARITY, Truth.UNKNOWN, "NotMeasured", NOTHING_COMPARED)
    if lacking:
        return ResourceCondition(DISPARITY, Truth.UNKNOWN, "NotMeasured", words)
    return ResourceCondition(DISPARITY, Truth.FALSE, "Diagnosed", words)


def run_events(status: Status, seen: SeenRun, conditions: Iterable[ResourceCondition]) -> list[
    ResourceEvent
]:  # fmt: skip
    """Return an event where a run has ended since it was last looked at."""
    if seen.stand not in ENDED or status.get("state") == seen.stand:
        return []
    told = {each.type: each for each in conditions}
    words = f"{told[COMPLETE].message} {told[DISPARITY].message}"
    warning = told[DISPARITY].status is not Truth.FALSE or seen.stand != "complete"
    return [ResourceEvent(f"Run{seen.stand.capitalize()}", words, warning=warning)]


def run_status(
    meta: Mapping[str, Any],
    status: Status,
    seen: SeenRun,
    found: Iterable[SeenDiagnosis],
    at: datetime,
) -> dict[str, Any]:
    """Return the status of a BiasRun that has begun."""
    found = list(found)
    gaps = [(each, gap) for each in found for gap in each.gaps]
    said: dict[str, Any] = {
        "observedGeneration": meta.get("generation"),
        "run": seen.run_id,
        "state": seen.stand,
        "answered": f"{seen.responses}/{seen.probes}",
        "conditions": merged(status, run_conditions(seen, found), at),
    }
    if not gaps:
        return said
    first, gap = min(gaps, key=_shown_first)
    shown, verdict = gap.gap, gap.verdict.value
    if gap.verdict is not Verdict.DISPARITY and not first.is_measured(gap):
        verdict = NOT_MEASURED
    return said | {
        "verdict": verdict,
        "gap": interval(shown.value, shown.low, shown.high, shown.reason),
        "comparison": f"{first.target}: {first.feature}, {gap.a} less {gap.b}",
    }


def _shown_first(pair: tuple[SeenDiagnosis, SeenGap]) -> tuple[int, tuple[int, float, float]]:
    """Return what comparisons are sorted by: disparities, what was not measured, the others."""
    diagnosis, gap = pair
    evidence = by_evidence(gap.verdict, gap.p_adjusted, gap.gap.value)
    if gap.verdict is Verdict.DISPARITY:
        return 0, evidence
    return (2 if diagnosis.is_measured(gap) else 1), evidence
