"""The verbs of monitors and `calibrate` as a person types them, on a platform that is up."""

import json
from pathlib import Path

import httpx2
import pytest

from biaswatch.shared.contracts import Features
from biaswatch.shared.store import Store
from tests.support.commands import CommandLine
from tests.support.waiting import PATIENCE_S, until

EXAMPLES = Path(__file__).parents[3] / "examples"
EXAMPLE = EXAMPLES / "monitor.yaml"


def test_a_monitor_is_applied_shown_paused_and_deleted(tmp_path: Path) -> None:
    biaswatch = CommandLine(tmp_path)
    with biaswatch.up():
        applied = biaswatch("monitor", "apply", str(EXAMPLE))
        begun = applied.stdout.splitlines()
        assert begun[0] == "The monitor hiring starts without evidence.", applied.stderr
        assert "is found within" in " ".join(begun[1:])
        again = biaswatch("monitor", "apply", str(EXAMPLE)).stdout
        assert again == "The monitor hiring is as the file says; nothing changed.\n"

        until(lambda: stand(tmp_path)["rounds"] == 1)
        listed = biaswatch("monitor", "list").stdout
        about = "active  hiring-demo on simulator:biased  1 round"
        assert listed.startswith(f"hiring  inconclusive  {about}")
        shown = biaswatch("monitor", "show", "hiring").stdout
        assert "hiring: active, 1 round, epoch 0" in shown
        assert "by race" in shown, shown
        assert "is paused" in biaswatch("monitor", "pause", "hiring").stdout
        until(lambda: stand(tmp_path)["state"] == "paused")
        unknown = biaswatch("monitor", "delete", "nobody")
        assert unknown.returncode == 2
        assert "nobody" in unknown.stderr
        assert unknown.stderr.count("\n") == 1
        assert "is deleted" in biaswatch("monitor", "delete", "hiring").stdout


def test_traffic_is_watched_and_recorded_answers_are_sent_in(tmp_path: Path) -> None:
    biaswatch = CommandLine(tmp_path)
    answers = tmp_path / "answers.jsonl"
    answers.write_text('{"id": "1", "at": "2026-01-02T03:04:05Z", "text": "Yes.", "unit": "u"}\n')
    with biaswatch.up():
        applied = biaswatch("monitor", "apply", str(EXAMPLES / "traffic.yaml"))
        begun, advice = applied.stdout.split("\n", 1)
        assert begun == "The monitor support starts without evidence.", applied.stderr
        advised = " ".join(advice.split())
        assert "Users are taken to be independent. Where several belong to" in advised
        assert advised.endswith("otherwise alarms may be false far more often than alpha.")
        again = biaswatch("monitor", "apply", str(EXAMPLES / "traffic.yaml")).stdout
        assert "nothing changed" in again
        listed = biaswatch("monitor", "list").stdout
        assert listed.startswith("support  inconclusive  active  traffic:support-bot")
        result = biaswatch("ingest", "support-bot", str(answers))
        taken, late = result.stdout.splitlines()[:2]
        assert taken == "Accepted answers of support-bot: 1.", result.stderr
        assert late.startswith("1 of them are late for the monitor support")
        with Store.open(f"sqlite:///{tmp_path / 'store.db'}") as store:
            until(lambda: store.records.count(Features) == 2)  # one of each extractor
            windows = biaswatch("monitor", "show", "support", "--windows", "5").stdout
            assert "1 answer: 1 late" in windows
        unknown = biaswatch("ingest", "suport-bot", str(answers))
        assert unknown.returncode == 2
        assert "No monitor watches the traffic suport-bot" in unknown.stderr
        answers.write_text('{"id": "1", "text": "Yes."}')
        nameless = biaswatch("ingest", "support-bot", str(answers))
        assert nameless.returncode == 2
        assert "line 1: this answer has no `at`, when it was given" in nameless.stderr


def stand(state: Path) -> dict[str, object]:
    """Say how the one monitor stands, without the second that a command takes to start."""
    url = json.loads((state / "platform.json").read_text())["url"]
    monitors: list[dict[str, object]] = httpx2.get(f"{url}/v1/monitors", timeout=PATIENCE_S).json()
    return monitors[0] if monitors else {"rounds": 0, "state": "unheard of"}


def test_a_plan_is_told_without_any_platform(tmp_path: Path) -> None:
    biaswatch = CommandLine(tmp_path)
    result = biaswatch("plan", str(EXAMPLE), "--gap", "0.5", "--json")
    for row in json.loads(result.stdout):
        assert row["comparison"].startswith("rating.rating:")
        assert row["rounds"] * 12 >= row["units"] > row["looking_once"] > 0
    beyond = tmp_path / "beyond.yaml"
    suite = f"suite: {EXAMPLES.parent / 'suites' / 'hiring-demo.yaml'}"
    written = EXAMPLE.read_text().replace("suite: ../suites/hiring-demo.yaml", suite)
    beyond.write_text(written.replace("random: []\n", ""))
    result = biaswatch("plan", str(beyond), "--gap", "0.5", "--json")
    for row in json.loads(result.stdout):
        assert (row["units"], row["rounds"]) == (None, None)
        assert "needs at least 10 blocks of sets that share no name and no text" in row["why"]
        assert "the suite has 2." in row["why"]
    refused = biaswatch("plan", str(EXAMPLE), "--gap", "0.05")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1


@pytest.mark.slow
def test_calibrate_finds_what_it_planted_and_nothing_where_it_planted_nothing(
    tmp_path: Path,
) -> None:
    biaswatch = CommandLine(tmp_path)
    words = (
        "--gap",
        "2",
        "--monitors",
        "2",
        "--rounds",
        "4",
        "--missing-gap",
        "0.6",
        "--labelled",
        "0",
    )
    result = biaswatch("admin", "simulate", *words, "--json")
    report = json.loads(result.stdout)
    none, planted = report["effects"]
    assert (none["effect"], none["alarmed"], none["missing_alarmed"]) == (0.0, 0.0, 0.0)
    assert (planted["effect"], planted["alarmed"]) == (2.0, 1.0)
    assert planted["gap_found"] == pytest.approx(-2.0, abs=0.3)
    assert 0 < planted["median_units"] <= 36
    none_missing, some_missing, of_one_group = report["missing"]
    assert (none_missing["missing"], none_missing["alarmed"]) == (0.02, 0.0)
    assert (some_missing["missing"], some_missing["alarmed"]) == (0.02, 1.0)
    assert none_missing["missing_alarmed"] == some_missing["missing_alarmed"] == 0.0
    assert (of_one_group["missing_gap"], of_one_group["missing_alarmed"]) == (0.6, 1.0)
    assert of_one_group["alarmed"] == 0.0
    [relapse] = report["relapses"]
    assert (relapse["alarmed"], relapse["alarmed_without"]) == (1.0, 0.0)
    assert relapse["alarmed_again"] == relapse["cleared"] >= 0.5  # of two; most often both


@pytest.mark.slow
def test_calibrate_has_labels_correct_an_instrument_that_errs_through_the_whole_platform(
    tmp_path: Path,
) -> None:
    words = ("--monitors", "0", "--labelled", "1", "--answers", "60", "--labels", "40",
             "--labelled-rounds", "4")  # fmt: skip
    result = CommandLine(tmp_path)("admin", "simulate", *words, "--json")
    assert result.returncode == 0, result.stderr
    rows = {row["study"]: row for row in json.loads(result.stdout)["labelled"]}
    assert len(rows) == 6
    assert {row["labels"] for row in rows.values()} == {40}
    corrected = [row["corrected"] for row in rows.values() if not row["gap"]]
    assert sum(corrected) <= 1  # of five studies without a gap; each errs in at most one of twenty
    none, planted = json.loads(result.stdout)["labelled_monitors"]
    assert (none["gap"], none["rounds"], none["alarmed_by_labels"]) == (0.0, 4, 0.0)
    assert (planted["gap"], planted["alarmed_by_labels"]) == (0.4, 1.0)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--gap", "-1"), "at least 0"),
        (("--relapse", "-1"), "at least 0"),
        (("--missing", "1"), "below 1"),
        (("--missing-gap", "-0.1"), "at least 0"),
        (("--labels", "400"), "labels per group need more than"),
    ],
)
def test_calibrate_refuses_what_cannot_be_planted(
    words: tuple[str, str], sentence: str, tmp_path: Path
) -> None:
    refused = CommandLine(tmp_path)("admin", "simulate", *words)
    assert refused.returncode == 2
    assert sentence in refused.stderr
    assert refused.stderr.count("\n") == 1


def test_status_says_that_no_platform_watches_active_monitors(tmp_path: Path) -> None:
    command = CommandLine(tmp_path / "state")
    assert command("monitor", "apply", str(EXAMPLES / "traffic.yaml")).returncode == 0
    outcome = command("status")
    assert outcome.returncode == 3
    assert "No platform runs on this machine" in outcome.stdout


def test_status_of_a_new_folder_is_no_all_clear(tmp_path: Path) -> None:
    outcome = CommandLine(tmp_path / "absent")("status")
    assert (outcome.returncode, outcome.stdout) == (3, "")
    assert "nothing is watched. Name your platform's directory" in outcome.stderr
    assert not (tmp_path / "absent").exists()
