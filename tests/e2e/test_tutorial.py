"""The tutorial: each of its commands, in its order, prints what the page says it prints."""

import os
import sys
from pathlib import Path

import pytest

from tests.e2e.pasted_page import output_matches, pasted

ROOT = Path(__file__).parents[2]


def test_every_command_of_the_tutorial_prints_what_the_page_says(tmp_path: Path) -> None:
    for name in ("suites", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    environment = {
        **os.environ,
        "BIASWATCH_STATE_DIR": str(tmp_path / "state"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    outcomes = 0
    for outcome in pasted(ROOT / "docs" / "tutorial.md", tmp_path, environment):
        outcomes += 1
        output = f"$ {outcome.step.command}\n{outcome.stdout}\n{outcome.stderr}"
        assert outcome.matches, output
    assert outcomes > 5


@pytest.mark.parametrize(
    ("expected", "same"),
    [(["a", "b"], True), (["a", "..."], True), (["...", "b"], True), (["..."], True),
     (["a"], False), (["b", "..."], False)],
)  # fmt: skip
def test_only_elided_lines_may_differ(expected: list[str], same: bool) -> None:
    assert output_matches(["a", "b "], tuple(expected)) is same
