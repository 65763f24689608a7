"""The condition Disparity of a BiasRun: true, false, or unknown where too little was measured."""

from typing import Any, TypeVar

import pytest
from pydantic import BaseModel

from biaswatch.services.operator.domain.runs import run_conditions, run_events, run_status
from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, GroupSummary, Verdict
from biaswatch.shared.requests.run_views import RunProgress, RunState
from tests.support.records import AT

Model = TypeVar("Model", bound=BaseModel)


def partial_model(model: type[Model], **fields: Any) -> Model:
    """Make a record of the gateway with some of its fields."""
    return model.model_construct(**fields)


def diagnosis(verdict: str, missing: int, survives: bool | None = None) -> Diagnosis:
    """Make the findings of two groups with ten answers each, some of them missing."""
    counts = {"black": missing, "white": 0}
    gap = partial_model(
        Gap,
        a="black",
        b="white",
        gap=Estimate(value=0.5, low=0.1, high=0.9),
        verdict=Verdict(verdict),
        survives_missing=survives,
    )
    groups = tuple(
        partial_model(GroupSummary, group=name, responses=10, missing=count, missing_reasons={})
        for name, count in counts.items()
    )
    return partial_model(
        Diagnosis, target="m", feature="rating", dimension="race", groups=groups, gaps=(gap,)
    )


def seen(state: str = "complete") -> RunProgress:
    return partial_model(
        RunProgress, run_id="r", state=RunState(state), stopped_by=None, probes=20, responses=20
    )


def disparity(diagnoses: list[Diagnosis], state: str = "complete") -> tuple[str, str, str]:
    """Return status, reason and message of the condition Disparity."""
    condition = run_conditions(seen(state), diagnoses)[-1]
    return condition.status.value, condition.reason, condition.message


@pytest.mark.parametrize(
    ("diagnoses", "status", "reason"),
    [
        ([diagnosis("disparity", 0)], "True", "Diagnosed"),
        ([diagnosis("disparity", 9)], "True", "Diagnosed"),
        ([diagnosis("inconclusive", 2)], "False", "Diagnosed"),
        ([diagnosis("inconclusive", 3)], "Unknown", "NotMeasured"),
        ([diagnosis("no_disparity", 10)], "Unknown", "NotMeasured"),
        ([], "Unknown", "NotMeasured"),
    ],
)
def test_with_too_few_measured_answers_the_condition_is_unknown(
    diagnoses: list[Diagnosis], status: str, reason: str
) -> None:
    assert disparity(diagnoses)[:2] == (status, reason)
    assert disparity(diagnoses, "running")[0] == "Unknown"


@pytest.mark.parametrize(
    ("state", "status"),
    [("running", "False"), ("complete", "False"), ("incomplete", "True"), ("cancelled", "True")],
)
def test_a_run_that_ends_without_success_has_failed(state: str, status: str) -> None:
    [failed] = [c for c in run_conditions(seen(state), []) if c.type == "Failed"]
    assert (failed.status.value, failed.reason) == (status, state.capitalize())
    assert failed.message == "20 of 20 questions are answered."


def test_the_message_says_what_was_not_measured_and_what_missing_answers_could_undo() -> None:
    assert disparity([diagnosis("disparity", 1, survives=False)])[2] == (
        "1 of 1 comparisons show a disparity, but the missing answers could undo 1 of them."
    )
    assert (
        "less than 80 % of the answers about a group gave a number"
        in (disparity([diagnosis("inconclusive", 10)])[2])
    )


def test_the_status_shows_a_disparity_first_and_then_what_was_not_measured() -> None:
    measured, empty = diagnosis("no_disparity", 0), diagnosis("inconclusive", 10)

    def verdict(*diagnoses: Diagnosis) -> Any:
        return run_status({}, {}, seen(), diagnoses, AT)["verdict"]

    assert verdict(measured, empty) == "not_measured"
    assert verdict(measured, empty, diagnosis("disparity", 9)) == "disparity"
    assert verdict(measured) == "no_disparity"


def test_a_run_without_measured_answers_ends_with_a_warning() -> None:
    [event] = run_events({}, seen(), run_conditions(seen(), [diagnosis("no_disparity", 10)]))
    assert event.warning
