"""The tutorial: each of its commands, in its order, prints what the page says it prints."""

import os
import sys
from pathlib import Path

import pytest

from tools.first_hour.pasted_page import pasted, printed_as_said

ROOT = Path(__file__).parents[2]


def test_every_command_of_the_tutorial_prints_what_the_page_says(tmp_path: Path) -> None:
    for name in ("suites", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    where = {
        **os.environ,
        "BIASWATCH_STATE_DIR": str(tmp_path / "state"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    outcomes = 0
    for outcome in pasted(ROOT / "docs" / "tutorial.md", tmp_path, where):
        outcomes += 1
        said = f"$ {outcome.step.command}\n{outcome.printed}\n{outcome.complaints}"
        assert outcome.as_said, said
    assert outcomes > 5


@pytest.mark.parametrize(
    ("said", "same"),
    [(["a", "b"], True), (["a", "..."], True), (["...", "b"], True), (["..."], True),
     (["a"], False), (["b", "..."], False)],
)  # fmt: skip
def test_only_what_is_left_out_may_differ(said: list[str], same: bool) -> None:
    assert printed_as_said(["a", "b "], tuple(said)) is same
