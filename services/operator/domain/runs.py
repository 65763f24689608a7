"""A BiasRun: what it asks for once, and what is told of it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from services.operator.domain.conditions import (
    READY,
    ResourceCondition,
    ResourceEvent,
    Status,
    Truth,
    merged,
)
from services.operator.domain.gateway_replies import SeenDiagnosis, SeenRun
from services.operator.domain.suites import suite_hash_of
from shared.contracts import Verdict
from shared.formatting import by_evidence, interval

COMPLETE, DISPARITY = "Complete", "Disparity"
ENDED = {"complete", "incomplete", "cancelled"}


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
    ended, complete = seen.stand in ENDED, seen.stand == "complete"
    verdicts = [gap.verdict for each in found for gap in each.gaps]
    disparities = verdicts.count(Verdict.DISPARITY)
    answered = f"{seen.responses} of {seen.probes} questions are answered."
    known = Truth.of(disparities > 0) if ended else Truth.UNKNOWN
    words = f"{disparities} of {len(verdicts)} comparisons show a disparity." if ended else ""
    return [
        ResourceCondition(READY, Truth.TRUE, "Accepted", "The gateway has taken it."),
        ResourceCondition(COMPLETE, Truth.of(complete), seen.stand.capitalize(),
                          f"{answered} {seen.stopped_by or ''}".strip()),
        ResourceCondition(DISPARITY, known, "Diagnosed" if ended else "NotDiagnosed", words),
    ]  # fmt: skip


def run_events(status: Status, seen: SeenRun, conditions: Iterable[ResourceCondition]) -> list[
    ResourceEvent
]:  # fmt: skip
    """Return an event where a run has ended since it was last looked at."""
    if seen.stand not in ENDED or status.get("state") == seen.stand:
        return []
    told = {each.type: each for each in conditions}
    words = f"{told[COMPLETE].message} {told[DISPARITY].message}"
    warning = told[DISPARITY].status is Truth.TRUE or seen.stand != "complete"
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
    first, gap = min(
        gaps, key=lambda pair: by_evidence(pair[1].verdict, pair[1].p_adjusted, pair[1].gap.value)
    )
    shown = gap.gap
    return said | {
        "verdict": gap.verdict.value,
        "gap": interval(shown.value, shown.low, shown.high, shown.reason),
        "comparison": f"{first.target}: {first.feature}, {gap.a} less {gap.b}",
    }
