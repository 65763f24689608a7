"""The examples in the docstrings of the statistics run, and print what they say."""

import doctest
from importlib import import_module
from pathlib import Path

import pytest

STATS = Path(__file__).parents[3] / "shared" / "stats"
MODULES = [
    ".".join(("biaswatch", "shared", "stats", *path.relative_to(STATS).with_suffix("").parts))
    for path in sorted(STATS.rglob("*.py"))
    if ">>> " in path.read_text()
]


@pytest.mark.parametrize("module", MODULES)
def test_the_examples_of_a_module_run(module: str) -> None:
    result = doctest.testmod(import_module(module))
    assert result.attempted
    assert not result.failed
