"""The example notebooks run from the first cell to the last, and hold what a run shows."""

import shutil
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted((EXAMPLES / "notebooks").glob("*.ipynb"))
MOST_BYTES = 100_000
SHOWN = {
    "table": ("diagnose", "Emily higher than Lakisha, rating: a disparity"),
    "traces": ("diagnose", "men lower than women, refusal.refused: a disparity"),
    "model": ("run", "black lower than white, rating: a disparity"),
    "monitor": ("shown", "alarm"),
}
"""A cell of each notebook, and what it shows."""


def read(path: Path) -> Any:
    """Return a notebook."""
    return nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]


def outputs_of(notebook: Any) -> dict[str, str]:
    """Return what each cell shows, by the cell's id."""
    return {
        cell["id"]: " ".join(
            str(output.get("text") or output.get("data")) for output in cell.outputs
        )
        for cell in notebook.cells
        if cell.get("outputs")
    }


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_notebook_runs_and_shows_its_finding(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    (tmp_path / "suites").symlink_to(EXAMPLES.parent / "suites")
    monkeypatch.setenv("BIASWATCH_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", str(Path(sys.executable).parent), prepend=":")
    notebook = read(path)
    folder = {"metadata": {"path": str(tmp_path / "examples" / "notebooks")}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=folder).execute()
    cell, words = SHOWN[path.stem]
    assert words in outputs_of(notebook)[cell]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.stem))
def test_a_committed_notebook_holds_its_outputs(path: Path) -> None:
    cell, words = SHOWN[path.stem]
    assert words in outputs_of(read(path))[cell]
    assert path.stat().st_size < MOST_BYTES
