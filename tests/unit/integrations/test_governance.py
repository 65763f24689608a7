"""Bias profiles keep what people wrote; events of lineage never call a run complete that is not."""

import json
from pathlib import Path

import pytest

from biaswatch.integrations.bias_profile import (
    as_markdown,
    profile_of_monitor,
    profile_of_run,
    with_decisions,
    written_by_people,
)
from biaswatch.integrations.croissant import metadata_of
from biaswatch.integrations.openlineage import run_events
from biaswatch.integrations.sources import ReportedRun, WatchedMonitor
from biaswatch.local.runs import RunResults
from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Estimate, Gap, Verdict
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.monitor_views import MonitorStatus, MonitorView
from tests.support.records import AT, make_alarm, make_diagnosis, make_progress, make_provenance


def results(gap: float | None = 1.0, **progress: object) -> RunResults:
    estimate = Estimate(value=gap) if gap is not None else Estimate(reason="no units")
    gaps = (Gap(a="<France>", b="Peru", gap=estimate, verdict=Verdict.INCONCLUSIVE),)
    return RunResults(
        make_progress(**progress), [make_diagnosis(gaps=gaps)], provenance=make_provenance()
    )


def test_a_profile_names_groups_results_and_that_the_owner_is_not_named() -> None:
    profile = profile_of_run(ReportedRun(results(), []))
    assert profile.groups == {"concept": ["France", "Peru"]}
    [row] = profile.results
    assert (row.result, row.gap.value, row.treatment) == ("inconclusive", 1.0, None)
    page = as_markdown(profile)
    assert "Owner: not named yet" in page
    assert "does not show that groups are treated alike" in page
    assert "<France>" not in page


def test_what_people_wrote_is_kept_when_the_profile_is_exported_again(tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    first = profile_of_run(ReportedRun(results(), []))
    edited = json.loads(first.model_dump_json())
    edited["owner"] = "Ada"
    edited["results"][0]["treatment"] = "A person reviews each case."
    path.write_text(json.dumps(edited))
    again = with_decisions(profile_of_run(ReportedRun(results(2.0), [])), written_by_people(path))
    assert again.owner == "Ada"
    [row] = again.results
    assert (row.gap.value, row.treatment) == (2.0, "A person reviews each case.")


def test_another_file_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "package.json"
    path.write_text('{"name": "app"}')
    with pytest.raises(UsageError, match="is not a bias profile"):
        written_by_people(path)
    assert written_by_people(tmp_path / "absent.json") is None


def test_the_profile_of_a_monitor_names_its_alarms() -> None:
    status = MonitorStatus(
        name="coasts", monitor_id="b" * 32, state="active", suite=None, target="traffic:desk",
        claim="population", rounds=2, comparisons=0, alarms=1, alpha=0.05, since=AT,
    )  # fmt: skip
    view = MonitorView(status=status, evidence=[], alarms=[make_alarm(words="A gap of 0.5.")])
    profile = profile_of_monitor(WatchedMonitor(view, []))
    assert profile.warnings == ["Alarm raised: A gap of 0.5."]
    assert profile.purpose == "Live traffic."


@pytest.mark.parametrize(
    ("state", "kinds"),
    [
        ("running", ["START"]),
        ("complete", ["START", "COMPLETE"]),
        ("incomplete", ["START", "FAIL"]),
        ("cancelled", ["START", "ABORT"]),
    ],
)
def test_events_end_as_the_run_ended(state: str, kinds: list[str]) -> None:
    events = run_events(results(state=state))
    assert [event["eventType"] for event in events] == kinds
    if len(events) == 2:
        facet = events[1]["run"]["facets"]["biaswatch_findings"]
        assert facet["verdicts"] == {"inconclusive": 1}
        assert [row["name"].rsplit("/")[-1] for row in events[1]["outputs"]] == [
            "answers",
            "findings",
        ]


def test_croissant_describes_every_column_and_the_hash_of_the_file() -> None:
    suite = load_suite(Path("hiring-demo"))
    described = metadata_of(suite, b"questions")
    names = [field["name"] for field in described["recordSet"][0]["field"]]
    assert names == ["key", "question", "expected", "set", "unit", "groups"]
    assert len(described["distribution"][0]["sha256"]) == 64
    assert suite.hash in described["version"]
