"""Recorded numbers: `python -m tests.integration.edition.recording` writes them again."""

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.integration.edition.commands import ON_RUNS, ON_TABLES, numbers_of
from tests.integration.edition.inputs import write_inputs
from tests.support.commands import CommandLine

ROOT = Path(__file__).parents[3]
RECORDED = Path(__file__).with_name("recorded")
PRINTS_JSON = ("ll144", "report")
"""Verbs with a `--format` in place of `--json`."""


def path_of(name: str) -> Path:
    """Return the file with a command's recorded numbers."""
    return RECORDED / f"{name.replace(',', '').replace(' ', '_')}.json"


def run_command(biaswatch: CommandLine, folder: Path, words: tuple[str, ...]) -> str:
    """Run a command on the inputs in `folder` and return the JSON that it prints."""
    located = [_located(word, folder) for word in words]
    json_option = () if words[0] in PRINTS_JSON else ("--json",)
    completed = biaswatch(*located, *json_option)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def _located(word: str, folder: Path) -> str:
    if word.endswith((".csv", ".jsonl")):
        return str(folder / word)
    return str(ROOT / word) if word.endswith(".yaml") else word


def run_numbers(biaswatch: CommandLine, folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the numbers of the commands that need runs, in their order."""
    run_ids: dict[str, str] = {}
    for name, words in ON_RUNS.items():
        printed = run_command(biaswatch, folder, tuple(word.format(**run_ids) for word in words))
        if words[0] == "run":
            run_ids[words[3].partition(":")[2]] = json.loads(printed)["run"]["run_id"]
        yield name, numbers_of(printed)


def _record() -> None:
    RECORDED.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_inputs(folder)
        biaswatch = CommandLine(folder / "state")
        for label, words in ON_TABLES.items():
            _write(label, numbers_of(run_command(biaswatch, folder, words)))
        for label, numbers in run_numbers(biaswatch, folder):
            _write(label, numbers)


def _write(name: str, numbers: dict[str, Any]) -> None:
    path_of(name).write_text(json.dumps(numbers, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    _record()
