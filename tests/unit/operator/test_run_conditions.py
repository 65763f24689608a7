"""The condition Disparity of a BiasRun: true, false, or unknown where too little was measured."""

from typing import Any

import pytest

from biaswatch.services.operator.domain.gateway_replies import SeenDiagnosis, SeenRun
from biaswatch.services.operator.domain.runs import run_conditions, run_events, run_status
from tests.support.records import AT


def diagnosis(verdict: str, missing: int, survives: bool | None = None) -> SeenDiagnosis:
    """Make the findings of two groups with ten answers each, some of them missing."""
    group = {"responses": 10, "missing_reasons": {}}
    gap = {"value": 0.5, "low": 0.1, "high": 0.9}
    record = {
        "target": "m", "feature": "rating", "dimension": "race",
        "groups": [
            {**group, "group": "black", "missing": missing},
            {**group, "group": "white", "missing": 0},
        ],
        "gaps": [
            {"a": "black", "b": "white", "gap": gap, "verdict": verdict,
             "survives_missing": survives}
        ],
    }  # fmt: skip
    return SeenDiagnosis.model_validate(record)


def seen(state: str = "complete") -> SeenRun:
    return SeenRun(run_id="r", stand=state, probes=20, responses=20)


def disparity(diagnoses: list[SeenDiagnosis], state: str = "complete") -> tuple[str, str, str]:
    """Return status, reason and message of the condition Disparity."""
    condition = run_conditions(seen(state), diagnoses)[-1]
    return condition.status.value, condition.reason, condition.message


@pytest.mark.parametrize(
    ("diagnoses", "status", "reason"),
    [
        ([diagnosis("disparity", 0)], "True", "Diagnosed"),
        ([diagnosis("disparity", 9)], "True", "Diagnosed"),
        ([diagnosis("not_enough_evidence", 2)], "False", "Diagnosed"),
        ([diagnosis("not_enough_evidence", 3)], "Unknown", "NotMeasured"),
        ([diagnosis("no_disparity", 10)], "Unknown", "NotMeasured"),
        ([], "Unknown", "NotMeasured"),
    ],
)
def test_with_too_few_measured_answers_the_condition_is_unknown(
    diagnoses: list[SeenDiagnosis], status: str, reason: str
) -> None:
    assert disparity(diagnoses)[:2] == (status, reason)
    assert disparity(diagnoses, "running")[0] == "Unknown"


def test_the_message_says_what_was_not_measured_and_what_missing_answers_could_undo() -> None:
    assert disparity([diagnosis("disparity", 1, survives=False)])[2] == (
        "1 of 1 comparisons show a disparity, but the missing answers could undo 1 of them."
    )
    assert (
        "less than 80 % of the answers about a group gave a number"
        in (disparity([diagnosis("not_enough_evidence", 10)])[2])
    )


def test_the_status_shows_a_disparity_first_and_then_what_was_not_measured() -> None:
    measured, empty = diagnosis("no_disparity", 0), diagnosis("not_enough_evidence", 10)

    def verdict(*diagnoses: SeenDiagnosis) -> Any:
        return run_status({}, {}, seen(), diagnoses, AT)["verdict"]

    assert verdict(measured, empty) == "not_measured"
    assert verdict(measured, empty, diagnosis("disparity", 9)) == "disparity"
    assert verdict(measured) == "no_disparity"


def test_a_run_without_measured_answers_ends_with_a_warning() -> None:
    [event] = run_events({}, seen(), run_conditions(seen(), [diagnosis("no_disparity", 10)]))
    assert event.warning
