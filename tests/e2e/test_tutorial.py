"""The tutorial: each of its commands, in its order, prints what the page says it prints."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "tutorial.md"
ELIDED = "..."
"""A line of the page that stands for any lines."""
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PATIENCE_S = 300


def steps() -> list[tuple[str, list[str]]]:
    """Return the commands of the page, each with the lines it is said to print."""
    found: list[tuple[str, list[str]]] = []
    for block in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line.removeprefix("$ "), []))
            else:
                found[-1][1].append(line.rstrip())
    return found


def printed_as_said(printed: list[str], said: list[str]) -> bool:
    """Tell whether lines are those of the page, where `...` stands for any."""
    pattern = "".join(r"(?:.*\n)*" if each == ELIDED else re.escape(each) + r"\n" for each in said)
    return re.fullmatch(pattern, "".join(f"{line.rstrip()}\n" for line in printed)) is not None


def test_every_command_of_the_tutorial_prints_what_the_page_says(tmp_path: Path) -> None:
    for name in ("suites", "examples"):
        (tmp_path / name).symlink_to(ROOT / name)
    where = {
        **os.environ,
        "BIASWATCH_STATE_DIR": str(tmp_path / "state"),
        "COLUMNS": "80",
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    assert len(steps()) > 5
    for command, said in steps():
        ended = subprocess.run(
            ["bash", "-c", command], cwd=tmp_path, env=where, timeout=PATIENCE_S,
            capture_output=True, text=True,
        )  # fmt: skip
        printed = ended.stdout.splitlines()
        assert printed_as_said(printed, said), f"$ {command}\n{ended.stdout}\n{ended.stderr}"


@pytest.mark.parametrize(
    ("said", "same"),
    [(["a", "b"], True), (["a", "..."], True), (["...", "b"], True), (["..."], True),
     (["a"], False), (["b", "..."], False)],
)  # fmt: skip
def test_only_what_is_left_out_may_differ(said: list[str], same: bool) -> None:
    assert printed_as_said(["a", "b "], said) is same
