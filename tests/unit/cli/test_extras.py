"""What a laptop starts with is enough for the usual; the rest names the extra that brings it."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from biaswatch.cli.application import EXTRAS, missing_library

ROOT = Path(__file__).parents[3]
LIGHT = """
import sys
class Absent:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"pyarrow", "matplotlib", "apprise", "bm25s", "lxml"}:
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, Absent())
sys.argv = ["biaswatch", *sys.argv[1:]]
from biaswatch.main import main
main()
"""


def light(folder: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    """Run a command where no library of an extra is installed."""
    where = {**os.environ, "BIASWATCH_STATE_DIR": str(folder / "state")}
    command = [sys.executable, "-c", LIGHT, *words]
    return subprocess.run(command, cwd=ROOT, env=where, capture_output=True, text=True)


@pytest.mark.parametrize(
    "words",
    [
        "table 10 40 25 25",
        "diagnose examples/ratings.csv --group name --feature rating --unit prompt",
        "plan suites/hiring-demo.yaml --gap 1 --range 1:5 --config simulations=50 --repeats 1",
    ],
)
def test_usual_commands_need_no_extra(tmp_path: Path, words: str) -> None:
    ran = light(tmp_path, *words.split())
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        ("build suites/countries/plan.yaml -o built", "build"),
        ("diagnose table.parquet --group a --feature b", "tables"),
    ],
)
def test_a_command_without_its_library_names_the_extra(
    tmp_path: Path, words: str, extra: str
) -> None:
    (tmp_path / "table.parquet").write_bytes(b"PAR1")
    moved = words.replace("table.parquet", str(tmp_path / "table.parquet"))
    ran = light(tmp_path, *moved.replace("-o built", f"-o {tmp_path / 'built'}").split())
    assert ran.returncode == 2
    assert f"the extra `{extra}`" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_a_library_that_no_extra_brings_is_a_fault_and_shows_itself() -> None:
    assert missing_library("biaswatch.services.nowhere") is None
    assert missing_library(None) is None


def test_every_extra_that_is_named_is_declared_with_its_library() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for library, extra in EXTRAS.items():
        needs = " ".join(project["optional-dependencies"][extra])
        named = {"torch": "transformers", "opentelemetry": "opentelemetry-sdk"}.get(
            library, library
        )
        assert re.search(named.replace("_", "[-_]"), needs), (library, extra)
