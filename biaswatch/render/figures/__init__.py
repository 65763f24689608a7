"""Figures of a run's findings, each as PNG and SVG; they need the extra `figures`."""

from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from biaswatch.local.runs import RunResults
from biaswatch.shared.errors import UsageError
from biaswatch.shared.foreign_text import shown
from biaswatch.written_files import atomic_file

FORMATS = ("png", "svg")
CAPTIONS = {
    "bias-scores": "Bias scores by category and model, each with its interval where there is room.",
    "comparisons": "The strongest comparisons, ranked by effect, with their intervals.",
    "groups": "Means of all groups, ranked, with their intervals and the shrunken means.",
    "means": "Mean of every group at every model; of yes and no, the share; declared selections.",
    "gaps": "Gaps between groups at each model; an outline marks a disparity.",
    "pairs-of-groups": "Every group minus every other; an outline marks a disparity.",
    "spreads": "How the answers of each group are spread.",
    "criteria": "Gaps by criterion, as each scaffold judged them.",
    "quality-and-consistency": "How near answers are to the expected ones, and how they vary.",
    "combinations": "Means of every combination of groups.",
    "against-anonymised": "Each group minus the twins without names.",
    "quality-without-names": "Quality of answers with names, and of their twins without names.",
    "bias-and-quality": "Total bias against quality; the tick is the median under random labels.",
}
"""Captions by file name, also for screen readers."""
DPI = 150
STYLE: Any = {"font.size": 9, "text.parse_math": False, "svg.fonttype": "none"}
"""Dollar signs in names start no formula, and words of an SVG stay searchable."""


def caption(name: str) -> str:
    """Return the caption of a figure by its file name."""
    return CAPTIONS[name]


def can_draw() -> bool:
    """Return whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def check_can_draw() -> None:
    """Raise UsageError where matplotlib is not installed."""
    if not can_draw():
        raise UsageError(
            "Pictures need matplotlib: install biaswatch with the extra `figures` (in a checkout,"
            " `make extras`)."
        )


def draw(results: RunResults, folder: Path) -> list[Path]:
    """Write every figure with content, and return the files.

    Raises
    ------
    UsageError
        matplotlib is not installed, or the folder cannot be written.
    """
    check_can_draw()
    import matplotlib as mpl

    written: list[Path] = []
    with mpl.rc_context(STYLE):
        for name, draw_figure in _figures():
            figure = draw_figure(results)
            if figure is not None:
                written += _saved(figure, folder, name)
    return written


def _figures() -> Iterator[tuple[str, Callable[[RunResults], Any]]]:
    from biaswatch.render.figures import bias_scores, distributions, dots, forest, heatmaps

    yield "bias-scores", bias_scores.bias_scores
    yield "comparisons", forest.comparisons
    yield "groups", distributions.groups
    yield "means", heatmaps.means
    yield "gaps", heatmaps.gaps
    yield "pairs-of-groups", heatmaps.pairs_of_groups
    yield "spreads", distributions.spreads
    yield "criteria", heatmaps.criteria
    yield "quality-and-consistency", dots.quality_and_consistency
    yield "combinations", dots.combinations
    yield "against-anonymised", dots.against_anonymised
    yield "quality-without-names", dots.quality_without_names
    yield "bias-and-quality", dots.bias_and_quality


def _saved(figure: Any, folder: Path, name: str) -> Iterator[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}).") from None
    for ending in FORMATS:
        path = folder / f"{name}.{ending}"
        with atomic_file(path) as part:
            figure.savefig(part, dpi=DPI, format=ending)
            if ending == "svg":  # the reader's program arranges its words
                part.write_text(shown(part.read_text(encoding="utf-8")), encoding="utf-8")
        yield path
