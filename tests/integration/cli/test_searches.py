"""`biaswatch search` and `searches`: budgets, gates, files, and the same from Python."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
import yaml

import biaswatch as bw
from biaswatch.shared.requests.search_views import SearchStatus
from tests.support.commands import CommandLine
from tests.support.searched import small_space

PLANTS = json.dumps(
    {"unfair": {"rating_mean": 3}, "harsh": {"rating_mean": 3.4, "rating_gaps": {"female": -1.2}}}
)
MARKERS = json.dumps({"Ms": ["female"]})
TARGET = "simulator:unfair"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("searches")
    fields = small_space(2).model_dump(mode="json")
    (path / "small.yaml").write_text(yaml.safe_dump(fields, sort_keys=False))
    return path


@pytest.fixture(scope="module")
def command(folder: Path) -> Iterator[CommandLine]:
    """Return the command line of a platform that is up."""
    command_line = CommandLine(
        folder / "state", BIASWATCH_SIMULATOR_PLANTS=PLANTS, BIASWATCH_SIMULATOR_MARKERS=MARKERS
    )
    with command_line.up():
        yield command_line


def searched(command: CommandLine, folder: Path, *words: str) -> tuple[int, str, str]:
    result = command("search", TARGET, "--space", str(folder / "small.yaml"), *words)
    return result.returncode, result.stdout, result.stderr


def test_a_dry_run_asks_nothing(tmp_path: Path, folder: Path) -> None:
    offline = CommandLine(tmp_path / "state")
    code, printed, _ = searched(offline, folder, "--budget", "300", "--dry-run")
    assert (code, printed) == (0, f"{TARGET}: about 300 calls, which cost nothing.\n")


def test_a_search_is_repeated_continued_and_shown(command: CommandLine, folder: Path) -> None:
    code, printed, errors = searched(command, folder, "--budget", "40", "--json")
    assert code == 0, errors
    progress = json.loads(printed)["progress"]
    assert (progress["status"], progress["calls"], progress["missing"]) == ("ended", 40, 0)
    assert json.loads(searched(command, folder, "--budget", "40", "--json")[1]) == json.loads(
        printed
    )
    code, more, errors = searched(command, folder, "--budget", "40", "--more", "160")
    assert code == 0, errors
    assert "of 200 calls" in " ".join(more.split())
    listed = command("searches", "list").stdout
    assert f"{progress['search_id']}  ended  " in listed
    assert f"/200 calls  small on {TARGET}" in listed
    for name in (progress["search_id"][:8], "latest"):
        shown = command("searches", "show", name)
        assert shown.returncode == 0
        assert shown.stdout.splitlines()[0] == more.splitlines()[0]


@pytest.mark.parametrize("verb", ["show", "cancel"])
def test_an_unknown_search_is_a_sentence(command: CommandLine, verb: str) -> None:
    for name in ("dead0000", "desk"):
        result = command("searches", verb, name)
        assert result.returncode == 2
        assert f"No search has the id or the name {name}: `biaswatch searches" in result.stderr


def test_a_gate_passes_only_where_enough_was_measured(command: CommandLine, folder: Path) -> None:
    words = ("--budget", "20", "--seed", "3", "--fail-on", "disparity")
    code, _, errors = searched(command, folder, *words)
    assert code == 0
    assert "Gate passed" in errors
    code, _, errors = searched(command, folder, *words, "-o", str(folder / "found.yaml"))
    assert "Nothing was found" in errors
    assert not (folder / "found.yaml").exists()


def test_a_gate_on_the_gap_does_not_pass_before_fresh_twins_show_the_gap(
    command: CommandLine, folder: Path
) -> None:
    words = ("--space", str(folder / "small.yaml"), "--budget", "60")
    target = "simulator:harsh"
    result = command("search", target, *words, "--fail-on", "0.5")
    assert "confirmation sets were sent" in " ".join(result.stderr.split())
    assert (result.returncode, "Gate not passed" in result.stderr) == (3, True)
    assert command("search", target, *words, "--fail-on", "disparity").returncode == 1


def test_a_search_under_way_is_cancelled_and_one_that_has_ended_is_not(
    command: CommandLine, folder: Path
) -> None:
    searched(command, folder, "--budget", "20", "--seed", "4")
    assert "had already ended" in command("searches", "cancel", "latest").stdout
    space = small_space(2).model_dump(mode="json") | {"extractor": "missing"}
    url = json.loads((command.state / "platform.json").read_text())["url"]
    waiting = httpx2.post(f"{url}/v1/searches", json={"space": space, "target": TARGET}).json()
    cancelled = command("searches", "cancel", "latest").stdout
    assert f"The search {waiting['search_id']} is cancelled" in cancelled
    shown = command("searches", "show", "latest").stdout
    assert "No set of twins has been measured" in shown


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--budget", "0"), "--budget"),
        (("--budget", "1"), "a set of twins needs 2 calls"),
        (("--budget", "1000001"), "--budget: this must be at most 1000000"),
        (("--alpha", "2"), "--alpha"),
        (("--fail-on", "much"), "--fail-on is 'much'"),
    ],
)
def test_a_mistake_is_a_sentence(
    tmp_path: Path, folder: Path, words: tuple[str, ...], sentence: str
) -> None:
    code, _, errors = searched(CommandLine(tmp_path / "state"), folder, *words)
    assert code == 2
    assert sentence in errors
    assert "Traceback" not in errors


def test_a_search_from_python_is_the_same_search(
    command: CommandLine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched(command, folder, "--budget", "40")
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(command.state))
    view = bw.search(TARGET, folder / "small.yaml", budget=40)
    assert view.progress.status is SearchStatus.ENDED
    assert view.progress.budget >= 40
    with pytest.raises(bw.UsageError, match="names no provider"):
        bw.search("nobody", folder / "small.yaml")
