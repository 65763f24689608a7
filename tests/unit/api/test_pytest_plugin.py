"""The plugin gives tests of others a target and an assertion whose message can be read."""

import os
import subprocess
import sys
from pathlib import Path

TESTS = """
import pandas as pd

def test_ratings(assert_no_disparity):
    frame = pd.DataFrame({"group": ["a", "b"] * 30, "rating": [1.0, 2.0, 1.1, 2.1] * 15})
    assert_no_disparity(frame, group="group", feature="rating", permutations=0)

def test_target(biaswatch_target):
    assert biaswatch_target == "simulator:biased"
"""


def run_tests(folder: Path, *words: str) -> str:
    (folder / "test_theirs.py").write_text(TESTS)
    (folder / "pytest.ini").write_text("[pytest]\n")
    root = Path(__file__).parents[3]
    result = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "biaswatch.pytest_plugin", "-rs", "-q", *words],
        cwd=folder, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(root)},
    )  # fmt: skip
    return result.stdout + result.stderr


def test_a_disparity_fails_with_a_sentence_and_a_target_comes_from_an_option(
    tmp_path: Path,
) -> None:
    output = run_tests(tmp_path, "--biaswatch-target", "simulator:biased")
    assert "1 failed, 1 passed" in output
    assert "1 of 1 comparisons are a disparity" in output
    assert "a lower than b, rating: a disparity" in output


def test_a_test_without_a_target_is_skipped_and_says_how_to_name_one(tmp_path: Path) -> None:
    output = run_tests(tmp_path, "-k", "target")
    assert "1 skipped" in output
    assert "give --biaswatch-target" in output
