"""The example notebook runs from its first cell to its last, and shows what it promises."""

from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples").glob("*.ipynb"))


def outputs_of(notebook: Any) -> dict[str, dict[str, str]]:
    """Return what each cell shows, by the cell's id and the kind of content."""
    return {
        cell["id"]: {
            kind: str(content)
            for output in cell.get("outputs", ())
            for kind, content in output.get("data", {}).items()
        }
        for cell in notebook.cells
    }


@pytest.fixture(scope="module")
def executed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """Execute the notebook in a kernel of its own, as Jupyter does; an error in a cell fails."""
    (path,) = NOTEBOOKS
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    folder = str(tmp_path_factory.mktemp("notebook"))
    client = NotebookClient(
        notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": folder}}
    )
    client.execute()
    return outputs_of(notebook)


def test_the_diagnosis_is_shown_as_sentences_and_a_table(
    executed: dict[str, dict[str, str]],
) -> None:
    shown = executed["diagnose"]["text/html"]
    assert "Emily against Lakisha, vader.sentiment: a disparity" in shown
    assert "<table>" in shown


def test_the_figure_is_a_picture_of_some_size(executed: dict[str, dict[str, str]]) -> None:
    assert len(executed["figure"]["image/png"]) > 5_000


def test_tables_are_shown_as_frames_and_counts_as_measures(
    executed: dict[str, dict[str, str]],
) -> None:
    assert "Lakisha" in executed["comparisons"]["text/html"]
    assert "odds ratio" in executed["table"]["text/html"].lower()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: str(path.name))
def test_a_committed_notebook_holds_no_outputs(path: Path) -> None:
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    kept = [cell["id"] for cell in notebook.cells if cell.get("outputs")]
    assert kept == []
    assert not any(cell.get("execution_count") for cell in notebook.cells)
