"""The tool that builds images passes its options to the engine; no engine is needed."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.manifests import ROOT

ENGINE = '#!/bin/sh\necho "$@" >>"$(dirname "$0")/command.txt"\n'


@pytest.mark.parametrize(
    ("words", "tag", "arguments"),
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
def test_an_image_is_built_and_tagged_by_the_options(
    words: list[str], tag: str, arguments: set[str], tmp_path: Path
) -> None:
    command = _build(tmp_path, "planner", *words)
    assert command[command.index("--tag") + 1] == tag
    passed = {value for word, value in pairwise(command) if word == "--build-arg"}
    assert {v for v in passed if v.startswith(("BASE=", "TORCH", "EXTRAS="))} == arguments
    assert "SERVICE=planner" in passed


def _build(folder: Path, *words: str) -> list[str]:
    """Return the command of the engine that builds one image."""
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
    [line] = (folder / "command.txt").read_text().splitlines()
    return line.split()
