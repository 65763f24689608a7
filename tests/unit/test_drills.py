"""A drill passes only if it checked something and every number is 0."""

import json
from pathlib import Path

import pytest

from drills.outcome import Outcome, Row, State, exit_code, over_limits, state_of
from drills.table import cells, write_files


@pytest.mark.parametrize(
    ("outcome", "state"),
    [
        (Outcome(checked=5), State.PASSED),
        (Outcome(), State.FAILED),
        (Outcome(checked=5, lost=1), State.FAILED),
        (Outcome(checked=5, twice=1), State.FAILED),
        (Outcome(checked=5, exits=1), State.FAILED),
        (Outcome(checked=5, faults=("It is wrong.",)), State.FAILED),
    ],
)
def test_a_drill_passes_if_it_checked_something_and_all_numbers_are_0(
    outcome: Outcome, state: State
) -> None:
    assert state_of(outcome) is state


def test_what_was_not_run_has_no_numbers_and_is_no_pass(tmp_path: Path) -> None:
    passed = Row("kills", State.PASSED, 3.0, Outcome(checked=5), {"gateway": 90.4})
    not_run = Row("disk", State.NOT_RUN, 0.1, Outcome(note="not run: no mount command"))
    failed = Row("clock", State.FAILED, 1.0, Outcome(checked=5, lost=2))
    assert [exit_code(rows) for rows in ([passed], [passed, not_run], [not_run, failed])] == [
        0,
        3,
        1,
    ]
    assert cells(passed)[1:] == ("passed", "5", "0", "0", "0", "0", "90 MiB (gateway)", "3")
    assert set(cells(not_run)[2:-1]) == {"-"}
    write_files([passed, not_run], tmp_path)
    written = json.loads((tmp_path / "drills.json").read_text())
    assert [row["state"] for row in written] == ["passed", "not run"]
    assert "not run: no mount command" in (tmp_path / "drills.csv").read_text()


def test_a_service_above_its_limit_in_the_chart_is_a_fault() -> None:
    peaks = {"gateway": 600.0, "planner": 100.0}
    [sentence] = over_limits(peaks, {"gateway": 512, "planner": 384, "oracle": 384})
    assert sentence == "The gateway took 600 MiB; the chart allows 512 MiB."
