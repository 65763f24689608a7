"""Lists of runs and monitors fit a terminal of 80 columns and leave nothing out."""

import pytest
from typer.testing import CliRunner

from biaswatch.cli import monitors, runs
from biaswatch.cli.application import app
from biaswatch.shared.contracts import Claim
from biaswatch.shared.requests.monitor_views import MonitorStatus
from biaswatch.shared.requests.run_views import RunVerdicts
from tests.support.records import AT, make_progress

FOUND = RunVerdicts(comparisons=6, disparities=0, undecided=6, undetected={"rating": 0.97})
STATUS = MonitorStatus(
    name="hiring-of-engineers", monitor_id="0" * 32, state="active",
    suite="hiring-demo-with-a-long-name", target="openai:a-model-with-a-long-name",
    claim=Claim.BANK, rounds=12, comparisons=1, alarms=0, alpha=0.05, since=AT,
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "listed", "end"),
    [
        (["runs"], make_progress(found=FOUND), "could remain undetected"),
        (["monitor", "list"], STATUS, "0 alarms"),
    ],
)
def test_a_list_fits_80_columns_and_cuts_nothing(
    monkeypatch: pytest.MonkeyPatch, words: list[str], listed: object, end: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for module in (runs, monitors):
        monkeypatch.setattr(module, "ask", lambda *_, **__: [listed])
    printed = CliRunner().invoke(app, words).stdout
    assert max(map(len, printed.splitlines())) <= 80
    assert end in " ".join(printed.split())
