"""The tool that builds images passes its options to the engine; no engine is needed."""

import os
import py_compile
import re
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


def test_an_archive_has_no_time_but_that_of_the_commit(tmp_path: Path) -> None:
    command = _build(tmp_path, "planner", "--oci", str(tmp_path / "archives"))
    committed = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    assert command[:2] == ["buildx", "build"]
    assert f"SOURCE_DATE_EPOCH={committed}" in command
    output = command[command.index("--output") + 1]
    assert {"type=oci", "rewrite-timestamp=true"} <= set(output.split(","))
    assert {"--provenance=false", "--sbom=false"} <= set(command)


def test_two_installations_are_equal_byte_by_byte(tmp_path: Path) -> None:
    """Compile a package as the image does, at two times."""
    setting = re.search(r"PYC_INVALIDATION_MODE=(\w+)", (ROOT / "Dockerfile").read_text())
    assert setting
    compiled = []
    for age_s in (0, 1000):
        source = tmp_path / "module.py"
        source.write_text("x = 1\n")
        os.utime(source, (10**9 + age_s, 10**9 + age_s))
        mode = py_compile.PycInvalidationMode[setting[1]]
        path = py_compile.compile(str(source), invalidation_mode=mode)
        compiled.append(Path(str(path)).read_bytes())
    assert compiled[0] == compiled[1]


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
