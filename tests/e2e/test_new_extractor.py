"""The page about adding an extractor is followed to the letter; so are examples it names."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import CommandLine, RunningCommand
from tests.support.waiting import until

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "adding-an-extractor.md").read_text()
BLOCK = re.compile(r"^```(\w+)(?: (\S+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CommandLine:
    monkeypatch.chdir(tmp_path)
    return CommandLine(tmp_path / "state", BIASWATCH_EXTRACTOR_ANNOUNCE_S="0.5")


def listed(command: CommandLine) -> dict[str, dict[str, object]]:
    result = command("extractors", "list", "--json")
    assert result.returncode == 0, result.stderr
    return {load["name"]: load for load in json.loads(result.stdout)}


def test_the_example_on_the_page_is_the_one_in_examples() -> None:
    blocks = {name: text for _, name, text in BLOCK.findall(PAGE) if name}
    assert blocks["exclaims.py"] == (ROOT / "examples" / "exclaims.py").read_text()


def test_the_page_can_be_followed_from_an_empty_folder(
    command: CommandLine, tmp_path: Path
) -> None:
    serving: list[RunningCommand] = []
    with command.up():
        try:
            for kind, name, text in BLOCK.findall(PAGE):
                if kind == "console" and name == "serve":
                    serving.append(command.start(*shlex.split(text)[1:]))
                    until(lambda: "exclaims" in listed(command) or serving[0].poll() is not None)
                elif kind == "console":
                    for line in text.splitlines():
                        result = command(*shlex.split(line)[1:])
                        assert result.returncode == 0, f"{line}\n{result.stdout}\n{result.stderr}"
                elif name:
                    (tmp_path / name).write_text(text)
            [row] = [row for name, row in listed(command).items() if name == "exclaims"]
            assert row["kind"] == "drop-in"
            assert row["version"] == "1.0.0"
            assert row["features"] == ["exclamations"]
            [run] = json.loads(command("runs", "--json").stdout)
            shown = json.loads(command("show", run["run_id"], "--json").stdout)
            assert shown["run"]["state"] == "complete"
            assert {diagnosis["feature"] for diagnosis in shown["diagnoses"]} == {"exclamations"}
        finally:
            for process in serving:
                process.terminate()
                process.communicate()


def test_back_filling_gives_an_old_run_what_a_new_extractor_reads(
    command: CommandLine, tmp_path: Path
) -> None:
    blocks = {name: text for _, name, text in BLOCK.findall(PAGE) if name}
    old = blocks["cheers.yaml"].replace("[exclaims]", "[words]")
    (tmp_path / "cheers.yaml").write_text(old)
    (tmp_path / "exclaims.py").write_text(blocks["exclaims.py"])
    with command.up():
        assert (
            command("run", "cheers.yaml", "--target", "simulator:unbiased", "--json").returncode
            == 0
        )
        early = command("admin", "backfill", "exclaims", "--since", "2026-01-01")
        assert early.returncode == 2
        assert "is not running" in early.stderr
        serving = command.start("extractors", "serve", "exclaims.py")
        try:
            until(lambda: "exclaims" in listed(command))
            result = command("admin", "backfill", "exclaims", "--since", "2026-01-01")
            assert "4 responses were sent" in result.stdout
            until(lambda: features_of_exclaims(command) == 4)
        finally:
            serving.terminate()
            serving.communicate()


def features_of_exclaims(command: CommandLine) -> int:
    import sqlite3

    with sqlite3.connect(command.state / "store.db") as connection:
        query = "SELECT count(*) FROM features WHERE extractor = 'exclaims'"
        return int(connection.execute(query).fetchone()[0])


@pytest.mark.skipif(not shutil.which("npm"), reason="there is no node here")
def test_the_node_example_conforms(command: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "node"
    shutil.copytree(ROOT / "examples" / "node", folder)
    install = ["npm", "install", "--no-audit", "--no-fund", "--prefer-offline"]
    completed = subprocess.run(install, cwd=folder, capture_output=True, text=True, check=False)
    if completed.returncode:
        pytest.skip("the libraries of the Node example cannot be installed here")
    with command.up():
        bus = command.bus()
        node = subprocess.Popen(
            ["node", "shouting.mjs"], cwd=folder, env={**os.environ, "NATS_URL": bus}
        )
        try:
            until(lambda: "shouting" in listed(command))
            result = command("extractors", "test", "shouting")
            assert result.returncode == 0, result.stdout
        finally:
            node.terminate()
            assert node.wait(30) == 0


@pytest.mark.skipif(not shutil.which("go"), reason="there is no go here")
def test_the_go_example_conforms(command: CommandLine, tmp_path: Path) -> None:
    program = tmp_path / "asking"
    build = ["go", "build", "-o", str(program), "."]
    built = subprocess.run(build, cwd=ROOT / "examples" / "go", capture_output=True, text=True)
    assert built.returncode == 0, built.stderr
    with command.up():
        serving = subprocess.Popen([program], env={**os.environ, "NATS_URL": command.bus()})
        try:
            until(lambda: "asking" in listed(command))
            result = command("extractors", "test", "asking")
            assert result.returncode == 0, result.stdout
        finally:
            serving.terminate()
            serving.wait()
