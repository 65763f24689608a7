"""`up --demo`: a monitor that alarms, said in words, and the ways to its page and its answers."""

import json

import httpx2
import pytest

from biaswatch.cli.up import CADENCE_S, alarm_lines, ended_lines
from biaswatch.shared.contracts import Claim
from biaswatch.shared.requests.monitor_views import MonitorStatus, MonitorView
from tests.support.commands import CommandLine
from tests.support.records import AT, make_alarm
from tests.support.waiting import until

MOST_ROUNDS = 60 // CADENCE_S
"""So many begin within a minute."""


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return CommandLine(tmp_path_factory.mktemp("demo") / "state")


def test_a_monitor_alarms_within_the_rounds_of_a_minute_and_says_where_to_look(
    command: CommandLine,
) -> None:
    with command.up("--demo") as running:
        url = json.loads((command.state / "platform.json").read_text())["url"]
        until(lambda: "to end it" in running.printed())
        text = running.printed()
        page = httpx2.get(f"{url}/monitors/demo/alarms")
        result = command("monitor", "show", "demo", "--alarms")
    assert f"  its page   {url}/monitors/demo\n" in text
    number = int(text.partition("Alarm in round ")[2].partition(",")[0])
    assert number <= MOST_ROUNDS
    words = text.partition("Alarm in round ")[2].splitlines()[1].strip()
    assert "black" in words
    assert f"{url}/monitors/demo/alarms" in text
    assert page.status_code == 200
    assert "Rating:" in page.text
    assert result.returncode == 0, result.stderr
    assert "applicant-" in result.stdout


def test_an_alarm_without_words_says_its_reason() -> None:
    lines = list(
        alarm_lines(make_alarm(words="", reason="the evidence is enough"), 1.2, "http://x")
    )
    assert lines[0].endswith("after 1 s:")
    assert lines[1].strip() == "the evidence is enough"


def test_a_monitor_that_found_nothing_says_why_it_ended() -> None:
    stand = MonitorStatus(
        name="demo", monitor_id="m", state="ended", ended="all rounds are done", suite="s",
        target="t", claim=Claim.BANK, rounds=60, comparisons=2, alarms=0, alpha=0.05,
        since=AT,
    )  # fmt: skip
    [line] = ended_lines(MonitorView(status=stand, evidence=[], alarms=[]))
    assert "after 60 rounds without an alarm (all rounds are done)" in line
