"""A BiasRun: its request, its conditions and its status."""

from collections.abc import Iterable, Mapping, Sequence
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
from biaswatch.services.operator.domain.suites import suite_hash_of
from biaswatch.shared.contracts import LEAST_MEASURED_SHARE, Diagnosis, Gap, SummaryWord
from biaswatch.shared.formatting import NOTHING_COMPARED, by_evidence
from biaswatch.shared.presentation.questions import GROUP_EFFECT, TWINS, question_note
from biaswatch.shared.presentation.tables import estimate_text
from biaswatch.shared.requests.run_views import RunProgress, RunState

COMPLETE, FAILED, DISPARITY = "Complete", "Failed", "Disparity"
UNSUCCESSFUL = {RunState.INCOMPLETE, RunState.CANCELLED}
ENDED = {RunState.COMPLETE, *UNSUCCESSFUL}
NOT_MEASURED = "not_measured"
"""Verdict in the status of a run without a disparity and with too few measured answers."""


def run_request(
    meta: Mapping[str, Any], spec: Mapping[str, Any], suites: Mapping[str, str]
) -> dict[str, Any]:
    """Return the request for the run of a resource; `suites` has hashes by BiasSuite.

    Raises
    ------
    SuiteNotReadyError
        Its suite does not exist yet.
    """
    body = {key: value for key, value in spec.items() if key != "suite"}
    return body | {"suite_hash": suite_hash_of(spec, suites, str(meta.get("namespace")))}


def running_id(status: Status) -> str | None:
    """Return the id of a run that has begun and has not ended."""
    return status.get("run") if status.get("state") not in ENDED else None


def run_conditions(
    progress: RunProgress, diagnoses: Sequence[Diagnosis]
) -> list[ResourceCondition]:
    """Return whether a run is accepted, complete or failed, and found a disparity."""
    state = progress.state
    answered = f"{progress.responses} of {progress.probes} questions are answered."
    message = f"{answered} {progress.stopped_by or ''}".strip()
    disparity = ResourceCondition(DISPARITY, Truth.UNKNOWN, "NotDiagnosed")
    return [
        ResourceCondition(READY, Truth.TRUE, "Accepted", "The gateway has taken it."),
        ResourceCondition(
            COMPLETE, Truth.of(state is RunState.COMPLETE), state.capitalize(), message
        ),
        ResourceCondition(FAILED, Truth.of(state in UNSUCCESSFUL), state.capitalize(), message),
        _disparity(diagnoses) if state in ENDED else disparity,
    ]


def _disparity(diagnoses: Sequence[Diagnosis]) -> ResourceCondition:
    """Return whether an ended run found a disparity; Unknown if too little was measured."""
    pairs = [(diagnosis, gap) for diagnosis in diagnoses for gap in diagnosis.gaps]
    disparities = [gap for _, gap in pairs if gap.summary is SummaryWord.DISPARITY]
    uncertain = sum(gap.survives_missing is False for gap in disparities)
    unmeasured = sum(not _is_measured(diagnosis, gap) for diagnosis, gap in pairs)
    message = f"{len(disparities)} of {len(pairs)} comparisons show a disparity"
    message += f", but the missing answers could undo {uncertain} of them." if uncertain else "."
    if unmeasured:
        share = f"{100 * LEAST_MEASURED_SHARE:g} %"
        message += (
            f" In {unmeasured}, less than {share} of the answers about a group gave a number."
        )
    if disparities:
        return ResourceCondition(DISPARITY, Truth.TRUE, "Diagnosed", message)
    if not pairs:
        return ResourceCondition(DISPARITY, Truth.UNKNOWN, "NotMeasured", NOTHING_COMPARED)
    if unmeasured:
        return ResourceCondition(DISPARITY, Truth.UNKNOWN, "NotMeasured", message)
    return ResourceCondition(DISPARITY, Truth.FALSE, "Diagnosed", message)


def _is_measured(diagnosis: Diagnosis, gap: Gap) -> bool:
    """Return whether enough answers about both groups of a gap gave a number."""
    sides = diagnosis.compared_groups.sides(gap.a, gap.b)
    return all(side.is_enough(LEAST_MEASURED_SHARE) for side in sides)


def run_events(
    status: Status, progress: RunProgress, conditions: Iterable[ResourceCondition]
) -> list[ResourceEvent]:
    """Return an event if a run has ended since its last reconciliation."""
    state = progress.state
    if state not in ENDED or status.get("state") == state:
        return []
    by_type = {condition.type: condition for condition in conditions}
    message = f"{by_type[COMPLETE].message} {by_type[DISPARITY].message}"
    warning = by_type[DISPARITY].status is not Truth.FALSE or state is not RunState.COMPLETE
    return [ResourceEvent(f"Run{state.capitalize()}", message, warning=warning)]


def run_status(
    meta: Mapping[str, Any],
    status: Status,
    progress: RunProgress,
    diagnoses: Sequence[Diagnosis],
    at: datetime,
) -> dict[str, Any]:
    """Return the status of a BiasRun that has begun."""
    fields: dict[str, Any] = {
        "observedGeneration": meta.get("generation"),
        "run": progress.run_id,
        "state": progress.state.value,
        "answered": f"{progress.responses}/{progress.probes}",
        "conditions": merged(status, run_conditions(progress, diagnoses), at),
    }
    pairs = [(diagnosis, gap) for diagnosis in diagnoses for gap in diagnosis.gaps]
    if not pairs:
        return fields
    diagnosis, gap = min(pairs, key=_rank)
    verdict = gap.summary.value
    if gap.summary is not SummaryWord.DISPARITY and not _is_measured(diagnosis, gap):
        verdict = NOT_MEASURED
    answers = {
        "sameTreatment": TWINS.text(gap, question_note(TWINS, gap)),
        "groupEffect": GROUP_EFFECT.text(gap, question_note(GROUP_EFFECT, gap)),
        "about": gap.scope or None,
    }
    fields |= {name: answer for name, answer in answers.items() if answer is not None}
    return fields | {
        "verdict": verdict,
        "gap": estimate_text(gap.summary_gap),
        "comparison": f"{diagnosis.target}: {diagnosis.feature}, {gap.a} minus {gap.b}",
    }


def _rank(pair: tuple[Diagnosis, Gap]) -> tuple[int, tuple[int, float, float]]:
    """Return a sort key: disparities, then unmeasured comparisons, then the others."""
    diagnosis, gap = pair
    evidence = by_evidence(gap.summary, gap.p_summary, gap.gap.value)
    if gap.summary is SummaryWord.DISPARITY:
        return 0, evidence
    return (2 if _is_measured(diagnosis, gap) else 1), evidence
