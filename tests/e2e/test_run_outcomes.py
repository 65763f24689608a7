"""What a run says of itself: what it found, what it could have found, where its answers are."""

import json
import re
from pathlib import Path

import pytest

from tests.support.commands import CommandLine

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SUITE = str(ROOT / "suites" / "hiring-demo.yaml")


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> CommandLine:
    return CommandLine(tmp_path_factory.mktemp("outcomes") / "state")


def test_a_run_that_finds_nothing_says_how_small_a_gap_it_could_have_found(
    command: CommandLine,
) -> None:
    result = command("run", SUITE, "--target", "simulator:unbiased")
    assert result.returncode == 0, result.stderr
    assert "How small a gap it could have found, by its own tests:" in result.stdout
    listed = command("runs", "--json")
    [run] = json.loads(listed.stdout)
    assert run["found"]["disparities"] == 0
    assert run["found"]["comparisons"] == 2
    shown = json.loads(command("show", run["run_id"], "--json").stdout)
    [findable] = shown["findable_gaps"]
    assert (findable["feature"], findable["power"]) == ("rating", 0.8)
    assert 0 < findable["gap"] < 4
    assert "biaswatch export" not in result.stdout  # it has every answer


def test_a_run_that_found_something_is_listed_with_it_and_says_no_findable_gap(
    command: CommandLine,
) -> None:
    result = command("run", SUITE, "--target", "simulator:biased", "--repeats", "5")
    assert "How small a gap" not in result.stdout
    first, *_ = command("runs").stdout.splitlines()[1:]
    assert re.search(r"  disparity: 1 of 2(,|;|  |$)", first)


def test_a_run_that_ends_without_all_its_answers_says_how_to_see_them(
    command: CommandLine, tmp_path: Path
) -> None:
    result = command(
        "run",
        SUITE,
        "--target",
        "simulator:unbiased",
        "--config",
        "new=true",
        "--token-budget",
        "200",
    )
    assert result.returncode == 3
    [line] = [line for line in result.stdout.splitlines() if "biaswatch export" in line]
    words = line.partition("biaswatch ")[2].split()
    file = tmp_path / words[-1]
    exported = command(*words[:-1], str(file))
    assert exported.returncode == 0, exported.stderr
    assert "Rating:" in file.read_text()
