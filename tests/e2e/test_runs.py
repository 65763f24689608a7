"""Runs as people live with them: stopped, cancelled, killed, taken up again, forgotten."""

import json
import os
import signal
import sqlite3
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from biaswatch.shared.contracts import Response, Run
from biaswatch.shared.store import Store, migrate
from tests.support.commands import CommandLine
from tests.support.processes import children
from tests.support.waiting import until

pytestmark = pytest.mark.slow

PROBES = 30
SLOW = {"slow": {"faults": {"latency_s": 1.2}}}
SLOWER = {"slow": {"faults": {"latency_s": 4}}}
QUICK: dict[str, dict[str, object]] = {"slow": {}}


@pytest.fixture
def command(tmp_path: Path) -> CommandLine:
    return CommandLine(
        tmp_path / "state",
        BIASWATCH_GENERATOR_SLOTS="2",
        BIASWATCH_ACK_WAIT_S="3",
        BIASWATCH_SIMULATOR_PLANTS=json.dumps(SLOW),
    )


@pytest.fixture
def suite(tmp_path: Path) -> str:
    probes = [
        {
            "key": f"p{n}",
            "set": f"s{n // 2}",
            "groups": {"concept": "Peru" if n % 2 else "France"},
            "prompt": f"Question {n}: how is the coast?",
        }
        for n in range(PROBES)
    ]
    path = tmp_path / "suite.json"
    path.write_text(
        json.dumps(
            {"name": "coasts", "extractors": ["vader"], "features": ["sentiment"], "probes": probes}
        )
    )
    return str(path)


@pytest.fixture
def store(command: CommandLine) -> Iterator[Store]:
    url = f"sqlite:///{command.state / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        yield store


def run(command: CommandLine, suite: str, *words: str) -> tuple[int, dict[str, object]]:
    result = command("run", suite, "--target", "simulator:slow", "--json", *words)
    assert "Traceback" not in result.stderr, result.stderr
    return result.returncode, json.loads(result.stdout)["run"]


def has_more_than(store: Store, answered: int) -> bool:
    return store.records.count(Response) > answered


def answered_at(store: Store) -> dict[str, str]:
    return {item.probe.key: item.at.isoformat() for item in store.records.all(Response)}


def test_ctrl_c_leaves_a_run_that_the_same_command_ends_without_asking_again(
    command: CommandLine, suite: str, store: Store
) -> None:
    command.set(BIASWATCH_SIMULATOR_PLANTS=json.dumps(SLOWER))  # a minute to stop it in
    first = command.start("run", suite, "--target", "simulator:slow", "--json")
    until(lambda: store.records.count(Response) >= 2)
    first.send_signal(signal.SIGINT)
    _, complaint = first.communicate()
    assert first.returncode == 3
    assert "The same command again goes on where this one stopped." in complaint
    assert "Traceback" not in complaint
    before = answered_at(store)
    assert 2 <= len(before) < PROBES
    command.set(BIASWATCH_SIMULATOR_PLANTS=json.dumps(QUICK))
    code, outcome = run(command, suite)
    assert (code, outcome["state"], outcome["responses"]) == (0, "complete", PROBES)
    assert before.items() <= answered_at(store).items()
    assert len(json.loads(command("runs", "--json").stdout)) == 1


def test_a_cancelled_run_stops_asking_keeps_what_it_has_and_can_be_taken_up_again(
    command: CommandLine, suite: str, store: Store
) -> None:
    command.set(BIASWATCH_SIMULATOR_PLANTS=json.dumps(SLOWER))  # a minute to cancel it in
    with command.up():
        going = command.start("run", suite, "--target", "simulator:slow", "--json")
        until(lambda: store.records.count(Response) >= 2)
        [asked] = store.records.all(Run)
        assert command("stop", asked.id).returncode == 0
        output, _ = going.communicate()
        assert going.returncode == 3
        outcome = json.loads(output)
        assert outcome["run"]["state"] == "cancelled"
        missing = [g["missing_reasons"] for d in outcome["diagnoses"] for g in d["groups"]]
        assert all("did not arrive before the run closed" in reasons for reasons in missing)
        assert len(answered_at(store)) < PROBES
    command.set(BIASWATCH_SIMULATOR_PLANTS=json.dumps(QUICK))
    code, outcome = run(command, suite)
    assert (code, outcome["state"], outcome["responses"]) == (0, "complete", PROBES)
    assert outcome["opening"] == 1


def test_the_same_plan_is_the_same_run_unless_a_new_one_is_asked_for(
    command: CommandLine, suite: str
) -> None:
    command.set(BIASWATCH_SIMULATOR_PLANTS=json.dumps(QUICK))
    with command.up():
        first = run(command, suite)[1]["run_id"]
        assert run(command, suite)[1]["run_id"] == first
        assert run(command, suite, "--config", "new=true")[1]["run_id"] != first


def test_a_platform_killed_outright_gives_its_directory_back(
    command: CommandLine, suite: str, store: Store
) -> None:
    with command.up() as platform:
        going = command.start("run", suite, "--target", "simulator:slow", "--json")
        until(lambda: store.records.count(Response) >= 2)
        platform.kill()
        going.communicate()
        assert going.returncode != 0
    command.set(BIASWATCH_SIMULATOR_PLANTS=json.dumps(QUICK))
    code, outcome = run(command, suite)
    assert (code, outcome["responses"]) == (0, PROBES)


def test_each_service_can_be_a_process_and_may_be_killed(
    command: CommandLine, suite: str, store: Store
) -> None:
    with command.up("--processes") as platform:
        going = command.start("run", suite, "--target", "simulator:slow", "--json")
        until(lambda: store.records.count(Response) >= 2)
        until(lambda: children(platform.pid, "biaswatch.services.extractor.app"))
        for pid in children(platform.pid, "biaswatch.services.extractor.app"):
            os.kill(pid, signal.SIGKILL)
        output, complaint = going.communicate()
        assert going.returncode == 0, complaint
        assert json.loads(output)["run"]["responses"] == PROBES


@pytest.mark.parametrize("words", [(), pytest.param(("--processes",), marks=pytest.mark.slow)])
def test_a_run_goes_on_when_the_bus_dies(
    command: CommandLine, suite: str, store: Store, words: tuple[str, ...]
) -> None:
    with command.up(*words) as platform:
        going = command.start("run", suite, "--target", "simulator:slow", "--json")
        until(lambda: store.records.count(Response) >= 2)
        [bus] = children(platform.pid, "nats-server")
        os.kill(bus, signal.SIGKILL)
        until(lambda: set(children(platform.pid, "nats-server")) - {bus})
        output, complaint = going.communicate()
        assert going.returncode == 0, complaint
        assert json.loads(output)["run"]["responses"] == PROBES


def test_a_command_that_follows_a_run_outlives_the_gateway(
    command: CommandLine, suite: str, store: Store
) -> None:
    with command.up("--processes") as platform:
        going = command.start("run", suite, "--target", "simulator:slow", "--json")
        for _ in range(2):
            answered = store.records.count(Response)
            until(partial(has_more_than, store, answered))
            until(lambda: children(platform.pid, "biaswatch.services.gateway.app"))
            for pid in children(platform.pid, "biaswatch.services.gateway.app"):
                os.kill(pid, signal.SIGKILL)
        output, complaint = going.communicate()
        assert going.returncode == 0, complaint
        assert json.loads(output)["run"]["responses"] == PROBES


def test_purging_a_run_leaves_its_numbers_and_none_of_its_words(
    command: CommandLine, suite: str
) -> None:
    command.set(BIASWATCH_SIMULATOR_PLANTS=json.dumps(QUICK))
    with command.up():
        before = run(command, suite)[1]
        run_id = str(before["run_id"])
        result = command("admin", "purge", "--run", run_id, "--yes", "--json")
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["messages"] == {"RESPONSES": PROBES}
        again = json.loads(command("show", run_id, "--json").stdout)
        assert again["run"]["responses"] == PROBES
        assert again["diagnoses"]
    with sqlite3.connect(command.state / "store.db") as database:
        dump = "\n".join(database.iterdump())
    assert dump.count("Question 7: how is the coast?") == 1  # the suite's own


def test_a_purged_unit_is_in_no_suite_any_more_and_is_not_asked_again(
    command: CommandLine, suite: str
) -> None:
    command.set(BIASWATCH_SIMULATOR_PLANTS=json.dumps(QUICK))
    with command.up():
        run_id = str(run(command, suite)[1]["run_id"])
        result = command("admin", "purge", "--unit", "p7", "--yes")
        assert result.returncode == 0, result.stderr
        assert "and 1 prompts from its suites" in result.stdout
        assert "files outside" in result.stdout
        again = json.loads(command("show", run_id, "--json").stdout)
        assert again["run"]["responses"] == PROBES
        refused = command("run", suite, "--target", "simulator:slow", "--config", "new=true")
        assert refused.returncode == 2
        assert "The texts of the unit p7 were purged" in refused.stderr
    with sqlite3.connect(command.state / "store.db") as database:
        dump = "\n".join(database.iterdump())
    assert "Question 7: how is the coast?" not in dump


def test_a_gateway_that_refuses_the_token_says_so_and_starts_nothing(
    command: CommandLine, suite: str, store: Store
) -> None:
    command.set(BIASWATCH_GATEWAY_RUN_TOKEN="right")
    with command.up():
        for token in ("wrong", ""):
            result = command("run", suite, "--target", "simulator:slow", "--token", token)
            assert result.returncode == 2
            assert "The gateway refuses the token. Set BIASWATCH_TOKEN" in result.stderr
            assert "right" not in result.stderr + result.stdout
    assert store.records.count(Run) == 0


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["admin", "purge"], "one of --run, --before, --unit and --pending"),
        (
            ["admin", "purge", "--run", "0" * 32, "--unit", "u"],
            "one of --run, --before, --unit and --pending",
        ),
        (
            ["admin", "purge", "--before", "yesterday", "--yes"],
            "cannot be read. Write it as 2026-01-31",
        ),
        (["admin", "purge", "--run", "0" * 32, "--yes"], "There is no run 000"),
        (["show", "0" * 32], "There is no run 000"),
        (["stop", "0" * 32], "There is no run 000"),
        (["runs", "--server", "http://127.0.0.1:99999"], "is not the address of a gateway"),
        (["runs", "--server", "localhost:8080"], "is not the address of a gateway"),
        (["runs", "--server", "ftp://x"], "is not the address of a gateway"),
        (["up", "--port", "65536"], "--port"),
        (["admin", "provision", "--replicas", "-1"], "--replicas"),
    ],
)
def test_a_slip_of_these_verbs_is_one_sentence(
    command: CommandLine, store: Store, words: list[str], sentence: str
) -> None:
    result = command(*words)
    assert result.returncode == 2
    assert sentence in result.stderr
    assert "Traceback" not in result.stderr


def test_a_run_whose_key_is_missing_can_be_cancelled_and_the_platform_starts_again(
    tmp_path: Path,
) -> None:
    command = CommandLine(tmp_path / "state").without("_API_KEY")
    probe = "{key: a, groups: {race: x}, prompt: Rate it}"
    text = f"name: small\nextractors: [words]\nprobes: [{probe}]\n"
    (tmp_path / "suite.yaml").write_text(text)
    with command.up():
        result = command("run", str(tmp_path / "suite.yaml"), "--target", "openai:gpt-5-mini")
        assert result.returncode in {2, 3}  # the platform ends, and lets go of who follows the run
        assert "Traceback" not in result.stderr
    [run] = json.loads(command("runs", "--json").stdout)
    cancelled = command("stop", run["run_id"])
    assert cancelled.returncode == 0, cancelled.stderr
    with command.up():
        assert command("runs").returncode == 0
