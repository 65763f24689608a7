"""The commands of README and docs run as they are written, page by page, in their order.

A reader's own words stand for what is theirs (`RUN`, `answers.csv`), and a simulated model for one
that needs a key. What does not run here is in tests/documented_commands.toml, with the reason.
"""

import json
import subprocess
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from biaswatch.readers.suites import load_suite
from tests.support.commands import CommandLine
from tests.support.documented_commands import (
    ROOT,
    DocumentedCommand,
    commands_of,
    documented_commands,
    not_run,
)

FOUND_CODES = {0, 1, 3}
"""Fine; a finding that was asked for; something waits: `status` and gates end so."""
GROUPS = ("female", "male")
KEYED_MODEL, SIMULATED = "openai:gpt-5-mini", "simulator:gpt-5-mini"
SMALL = "countries"
"""What the reader's own suite is called."""
PLANTS = {"gpt-5-mini": {"rating_gaps": {"black": -0.6}}}


def is_run(command: DocumentedCommand) -> bool:
    """Tell whether the tests of this file run a command."""
    return not any(item.means(command) for item in not_run())


RUN_PAGES = list(
    dict.fromkeys(command.page for command in documented_commands() if is_run(command))
)


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """Return the command line of a reader whose platform is up, with runs and files of theirs."""
    folder = tmp_path_factory.mktemp("reader")
    for name in ("suites", "examples"):
        (folder / name).symlink_to(ROOT / name)
    _write_files(folder)
    command = CommandLine(folder / "state", BIASWATCH_SIMULATOR_PLANTS=json.dumps(PLANTS))
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        with command.up():
            for repeats in ("1", "2"):
                result = command(
                    "run", "small.json", "--target", "simulator:biased",
                    "--target", "simulator:unbiased", "--repeats", repeats,
                )  # fmt: skip
                assert result.returncode == 0, result.stderr
            assert command("monitor", "apply", "desk.yaml").returncode == 0
            yield command


def _write_small_suite(path: Path) -> None:
    """Write a tenth of the suite of countries: sets, keywords and baseline texts as it has them."""
    whole = load_suite(ROOT / "suites" / "countries")
    sets = list(dict.fromkeys(probe.set for probe in whole.probes))[:8]
    kept = [probe for probe in whole.probes if probe.set in sets][: 8 * 12]
    about = {"name": SMALL, "extractors": ["vader"], "features": ["sentiment"]}
    probes = [item.model_dump(mode="json", exclude_defaults=True) for item in kept]
    for number, probe in enumerate(probes):
        probe["groups"] = {**probe["groups"], "race": "ab"[number // 4 % 2]}
    path.write_text(json.dumps({**about, "probes": probes}))


def _write_files(folder: Path) -> None:
    """Write the files that a reader has: a suite, a table, logs, a mapping."""
    _write_small_suite(folder / "small.json")
    watched = (ROOT / "examples" / "traffic.yaml").read_text()
    watched = watched.replace("name: support", "name: desk").replace("support-bot", "support")
    (folder / "desk.yaml").write_text(watched)
    now = datetime.now(UTC)
    rows = ["name,rating,cv,race,score,prompt,twins"]
    rows += [f"{'ab'[n % 2]},{2 + n % 3},c{n},{'xy'[n % 2]},{n % 5},p{n},t{n // 2}"
             for n in range(40)]  # fmt: skip
    for name in ("answers.csv", "table.csv"):
        (folder / name).write_text("\n".join(rows))
    answers = [
        {"id": f"a-{n}", "at": (now - timedelta(minutes=n)).isoformat(), "prompt": "Where is it?",
         "text": f"It is on its way, number {n}.", "unit": f"u-{n}",
         "groups": {"gender": GROUPS[n % 2], "team": "ab"[n % 2]}}
        for n in range(40)
    ]  # fmt: skip
    for name in ("answers.jsonl", "traces.jsonl", "month.jsonl"):
        (folder / name).write_text("\n".join(json.dumps(answer) for answer in answers))
    (folder / "map.yaml").write_text("groups: {gender: groups.gender}\n")
    (folder / "gate.yaml").write_text("tolerance: 0.2\n")


def printed_json(reader: CommandLine, *words: str) -> list[dict[str, str]]:
    """Return the rows that a command prints as JSON."""
    listing = reader(*words, "--json")
    assert listing.returncode == 0, listing.stderr
    return list(json.loads(listing.stdout))


def as_the_reader(command: DocumentedCommand, reader: CommandLine) -> list[str]:
    """Return a command's words with those of the reader in place of words that stand for any."""
    runs = [row["run_id"] for row in printed_json(reader, "runs") if row["suite"] == SMALL]
    searches = printed_json(reader, "searches", "list")
    words = {
        "SEARCH": searches[0]["search_id"] if searches else "SEARCH",
        "RUN": runs[0], "AFTER": runs[0], "BEFORE": runs[1], "TABLE": "table.csv",
        "A": "simulator:biased", "B": "simulator:unbiased", KEYED_MODEL: SIMULATED,
    }  # fmt: skip
    return [words.get(word, word) for word in command.words]


def run_as_written(
    command: DocumentedCommand, reader: CommandLine
) -> "subprocess.CompletedProcess[str]":
    """Run a command: biaswatch, or curl at the gateway that is up, wherever it listens."""
    words = as_the_reader(command, reader)
    if words[0] == "biaswatch":
        return reader(*words[1:])
    assert words[0] == "curl", f"{command} is neither run nor listed"
    url = json.loads((reader.state / "platform.json").read_text())["url"]
    here = [word.replace("localhost:8080", url.removeprefix("http://")) for word in words]
    return subprocess.run([here[0], "--fail-with-body", *here[1:]], capture_output=True, text=True)


@pytest.mark.parametrize("page", RUN_PAGES)
def test_the_commands_of_a_page_run_in_their_order(page: str, reader: CommandLine) -> None:
    for command in filter(is_run, commands_of(page)):
        result = run_as_written(command, reader)
        assert result.returncode in FOUND_CODES, f"{command.line}\n{result.stdout}\n{result.stderr}"
        assert "Traceback" not in result.stderr
