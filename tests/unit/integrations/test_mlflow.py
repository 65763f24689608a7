"""What a run and a monitor become in MLflow; tests/peers/test_mlflow.py asks a real server."""

import pytest

from biaswatch.integrations.formats import ExportRequest
from biaswatch.integrations.mlflow import export, metric_key, monitor_as_run, run_as_run
from biaswatch.integrations.sources import ReportedRun, WatchedMonitor
from biaswatch.local.runs import RunResults
from biaswatch.shared.contracts import Estimate, Gap, Verdict
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.monitor_views import MonitorStatus, MonitorView, histories_of
from tests.support.records import AT, make_alarm, make_diagnosis, make_evidence, make_progress


def reported(*gaps: Gap, **progress: object) -> ReportedRun:
    results = RunResults(make_progress(**progress), [make_diagnosis(gaps=gaps)])
    return ReportedRun(results, [])


def test_an_undefined_gap_is_not_logged_as_a_number() -> None:
    known = Gap(a="France", b="Peru", gap=Estimate(value=1.0), verdict=Verdict.DISPARITY)
    unknown = Gap(a="France", b="Chad", gap=Estimate(reason="no units"), verdict="inconclusive")
    logged = run_as_run(reported(known, unknown))
    gaps = {metric.key: metric.value for metric in logged.metrics if metric.key.endswith("/gap")}
    [(key, value)] = gaps.items()
    assert "France - Peru" in key
    assert value == 1.0
    counts = {metric.key: metric.value for metric in logged.metrics}
    assert (counts["comparisons"], counts["disparity"], counts["no_disparity"]) == (2, 1, 0)


@pytest.mark.parametrize(
    ("state", "status"),
    [
        ("complete", "FINISHED"),
        ("incomplete", "FAILED"),
        ("cancelled", "KILLED"),
        ("running", "RUNNING"),
    ],
)
def test_a_run_that_is_not_complete_is_not_finished(state: str, status: str) -> None:
    logged = run_as_run(reported(state=state))
    assert logged.status == status
    note = logged.tags["mlflow.note.content"]
    assert ("The run is" in note) == (state != "complete")


def test_names_that_mlflow_would_make_equal_stay_apart() -> None:
    assert metric_key("a/b: c - d/gap") == "a/b: c - d/gap"
    keys = {metric_key(name) for name in ("a+b/gap", "a*b/gap", "x/../gap", "x" * 300, "x" * 301)}
    assert len(keys) == 5
    assert all(len(key) <= 250 and ".." not in key.split("/") for key in keys)


def test_the_description_of_a_run_holds_names_as_text() -> None:
    gap = Gap(a="<b>", b="Peru", gap=Estimate(value=1.0), verdict=Verdict.DISPARITY)
    assert "<b>" not in run_as_run(reported(gap)).tags["mlflow.note.content"]


def test_rounds_of_a_monitor_are_steps_of_one_run() -> None:
    evidence = [make_evidence(round=number, at=AT) for number in (1, 2)]
    status = MonitorStatus(
        name="coasts", monitor_id="b" * 32, state="active", suite="countries",
        target="replay:answers", claim="population", rounds=2, comparisons=1, alarms=1,
        verdicts={"inconclusive": 1}, alpha=0.05, since=AT,
    )  # fmt: skip
    view = MonitorView(status=status, evidence=[], alarms=[make_alarm(words="A gap of 0.5.")])
    logged = monitor_as_run(WatchedMonitor(view, histories_of(evidence)))
    gaps = [(m.step, m.value) for m in logged.metrics if m.key.endswith("/gap")]
    assert gaps == [(1, 0.5), (2, 0.5)]
    assert logged.status == "RUNNING"
    note = logged.tags["mlflow.note.content"]
    assert "1 inconclusive" in note
    assert "raised, round 3: A gap of 0.5." in note


async def test_a_place_that_is_no_server_is_refused_before_anything_is_read() -> None:
    def connect() -> None:
        raise AssertionError("nothing is read")

    request = ExportRequest("latest", "runs.db", None, connect)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="tracking server"):
        await export(request)
