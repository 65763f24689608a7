"""The tool that builds images tells the engine what was asked for; an engine is not needed."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.manifests import ROOT

ENGINE = '#!/bin/sh\necho "$@" >>"$(dirname "$0")/asked.txt"\n'


@pytest.mark.parametrize(
    ("words", "tag", "told"),
    [
        ([], "biaswatch-planner:dev", set()),
        (["--extras", "parquet"], "biaswatch-planner:dev-parquet", {"EXTRAS=parquet"}),
        (
            ["--torch", "cuda", "--extras", "parquet", "--version", "0.2.0"],
            "biaswatch-planner:0.2.0-cuda-parquet",
            {"TORCH=cuda", "EXTRAS=parquet"},
        ),
        (["--base", "python:3.12"], "biaswatch-planner:dev", {"BASE=python:3.12"}),
    ],
)
def test_an_image_is_built_and_named_by_what_was_asked_for(
    words: list[str], tag: str, told: set[str], tmp_path: Path
) -> None:
    asked = _build(tmp_path, "planner", *words)
    assert asked[asked.index("--tag") + 1] == tag
    given = {value for word, value in pairwise(asked) if word == "--build-arg"}
    chosen = {each for each in given if each.startswith(("BASE=", "TORCH", "EXTRAS="))}
    assert chosen == told
    assert "SERVICE=planner" in given


def _build(folder: Path, *words: str) -> list[str]:
    """Return what the engine was asked while one image was built."""
    engine = folder / "docker"
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    subprocess.run(
        [sys.executable, "-m", "tools.images", "--no-sizes", *words],
        cwd=ROOT,
        check=True,
        capture_output=True,
        env={**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"},
    )
    [line] = (folder / "asked.txt").read_text().splitlines()
    return line.split()
