"""Every number that a command printed before the second edition is printed after it."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.integration.edition.commands import ON_TABLES, numbers_of
from tests.integration.edition.inputs import write_inputs
from tests.integration.edition.recording import path_of, run_command, run_numbers
from tests.support.commands import CommandLine

RTOL = 1e-9
"""Relative difference that another processor's linear algebra may make."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with every input file."""
    path = tmp_path_factory.mktemp("inputs")
    write_inputs(path)
    return path


@pytest.mark.parametrize("name", ON_TABLES)
def test_a_table_has_its_recorded_numbers(name: str, folder: Path) -> None:
    printed = run_command(CommandLine(folder / "state"), folder, ON_TABLES[name])
    assert differences(recorded(name), numbers_of(printed)) == []


def test_runs_have_their_recorded_numbers(folder: Path) -> None:
    biaswatch = CommandLine(folder / "state")
    changed = {
        name: differences(recorded(name), numbers)
        for name, numbers in run_numbers(biaswatch, folder)
    }
    assert {name: lines for name, lines in changed.items() if lines} == {}


def recorded(name: str) -> dict[str, Any]:
    numbers: dict[str, Any] = json.loads(path_of(name).read_text())
    return numbers


def differences(before: dict[str, Any], after: dict[str, Any]) -> list[str]:
    """Return a line for each value that is missing or differs; new values are no difference."""
    return [
        f"{path}: {value} before, {after.get(path, 'absent')} after"
        for path, value in before.items()
        if path not in after or not _same(value, after[path])
    ]


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, float) and isinstance(after, int | float):
        return after == pytest.approx(before, rel=RTOL, abs=1e-12, nan_ok=True)
    return bool(before == after)
