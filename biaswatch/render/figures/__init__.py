"""Pictures of a run's findings, each as PNG and SVG; they need the extra `figures`."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from biaswatch.local.run_results import RunResults
from shared.errors import UsageError

FORMATS = ("png", "svg")
DPI = 150
FONT_SIZE = 9


def draw(results: RunResults, folder: Path) -> list[Path]:
    """Write every picture there is something to show in; return the files.

    Raises
    ------
    UsageError
        matplotlib is not installed, or the folder cannot be written.
    """
    try:
        import matplotlib as mpl
    except ImportError:
        raise UsageError(
            "Pictures need matplotlib: install biaswatch with the extra `figures`, or report"
            " without --figures."
        ) from None
    # Names come from suites and models: a dollar sign in them is no formula, and the words of an
    # SVG stay words, which can be searched and read aloud.
    style: Any = {"font.size": FONT_SIZE, "text.parse_math": False, "svg.fonttype": "none"}
    written: list[Path] = []
    with mpl.rc_context(style):
        for name, picture in _pictures():
            figure = picture(results)
            if figure is not None:
                written += _saved(figure, folder, name)
    return written


def _pictures() -> Iterator[tuple[str, Callable[[RunResults], Any]]]:
    from biaswatch.render.figures import dots, heatmaps

    yield "gaps", heatmaps.gaps
    yield "criteria", heatmaps.criteria
    yield "quality-and-consistency", dots.quality_and_consistency
    yield "combinations", dots.combinations
    yield "against-anonymised", dots.against_anonymised
    yield "bias-and-quality", dots.bias_and_quality


def _saved(figure: Any, folder: Path, name: str) -> Iterator[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for ending in FORMATS:
            path = folder / f"{name}.{ending}"
            figure.savefig(path, dpi=DPI)
            yield path
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}).") from None
