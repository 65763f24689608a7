"""Pictures of a run's findings, each as PNG and SVG; they need the extra `figures`."""

import re
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biaswatch.local.runs import RunResults
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import on_one_line, shown, visible
from biaswatch.shared.presentation.names import HasTarget, ModelNames
from biaswatch.written_files import written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = ("png", "svg")
CAPTIONS = {
    "bias-scores": "Bias scores by category and model, each with its interval where there is room.",
    "comparisons": "The comparisons that say the most, ranked by effect, with their intervals.",
    "groups": "Means of all groups, ranked, with their intervals and the shrunken means.",
    "gaps": "Gaps between groups at each model; an outline marks a disparity.",
    "pairs-of-groups": "Every group less every other; an outline marks a disparity.",
    "spreads": "How the answers of each group are spread.",
    "criteria": "Gaps by criterion, as each scaffold judged them.",
    "quality-and-consistency": "How near answers are to the expected ones, and how they vary.",
    "combinations": "Means of every combination of groups.",
    "against-anonymised": "Each group less the twins that name nobody.",
    "bias-and-quality": "Total bias against quality; the tick is what chance gives.",
}
"""What each picture shows, in words: its caption, and what is read aloud."""
DPI = 150
FONT_SIZE = 9
INK, PALE = "#1f3b57", "#c9d3dd"
WORDS, DARK = "#0d0d0d", 0.66
"""Words on a colour, white from this share of the strongest on: a contrast of 4.4 or more."""
COLORS = ("#1f6f8b", "#b5482a", "#5b7f3a", "#7a4f8f", "#a8842c", "#4a4a4a", "#c06c84", "#2f4858")
"""Apart for eyes of every kind, also in print."""
MINUS = "\u2212"
QUALITY = f"quality: 100 {MINUS} 20 x mean absolute error"
STYLE: Any = {"font.size": FONT_SIZE, "text.parse_math": False, "svg.fonttype": "none"}
"""Names come from suites and models: a dollar sign in them is no formula, and the words of an SVG
stay words, which can be searched and read aloud."""
LONGEST_LABEL = 60
RECORDING_HASH = re.compile(r"-[0-9a-f]{12}\.jsonl$")
"""What the name of a kept recording ends with."""
PAGE_WIDTH_IN = 9.0


def caption(name: str) -> str:
    """Return what a picture shows, by its file's name."""
    return CAPTIONS[name]


def can_draw() -> bool:
    """Whether the library that draws is installed."""
    return find_spec("matplotlib") is not None


def check_can_draw() -> None:
    """Raise UsageError where the library that draws is not installed."""
    if not can_draw():
        raise UsageError(
            "Pictures need matplotlib: install biaswatch with the extra `figures` (in a checkout,"
            " make extras), or report without --figures."
        )


def draw(results: RunResults, folder: Path) -> list[Path]:
    """Write every picture there is something to show in; return the files.

    Raises
    ------
    UsageError
        matplotlib is not installed, or the folder cannot be written.
    """
    check_can_draw()
    import matplotlib as mpl

    written: list[Path] = []
    with mpl.rc_context(STYLE):
        for name, picture in _pictures():
            figure = picture(results)
            if figure is not None:
                written += _saved(figure, folder, name)
    return written


def _pictures() -> Iterator[tuple[str, Callable[[RunResults], Any]]]:
    from biaswatch.render.figures import distributions, dots, forest, heatmaps

    yield "bias-scores", heatmaps.bias_scores
    yield "comparisons", forest.comparisons
    yield "groups", distributions.groups
    yield "gaps", heatmaps.gaps
    yield "pairs-of-groups", heatmaps.pairs_of_groups
    yield "spreads", distributions.spreads
    yield "criteria", heatmaps.criteria
    yield "quality-and-consistency", dots.quality_and_consistency
    yield "combinations", dots.combinations
    yield "against-anonymised", dots.against_anonymised
    yield "bias-and-quality", dots.bias_and_quality


def _saved(figure: Any, folder: Path, name: str) -> Iterator[Path]:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be written ({error.strerror}).") from None
    for ending in FORMATS:
        path = folder / f"{name}.{ending}"
        with written_whole(path) as part:
            figure.savefig(part, dpi=DPI, format=ending)
            if ending == "svg":  # whose words the reader's program arranges
                part.write_text(shown(part.read_text(encoding="utf-8")), encoding="utf-8")
        yield path


def new_figure(
    title: str,
    height_in: float,
    *,
    down: int = 1,
    across: int = 1,
    heights: Sequence[float] | None = None,
    shared: bool = False,
) -> tuple["Figure", Any]:
    """Return a figure of a page's width with its title, and its axes in the order they are read.

    Rows are equally high unless their `heights` are given. Axes that are `shared` compare.
    """
    from biaswatch.render.figures.facets import ShownFigure

    figure = ShownFigure(figsize=(PAGE_WIDTH_IN, height_in), layout="constrained")
    figure.suptitle(visible(title), fontsize=11, x=0.01, ha="left")
    axes = figure.subplots(
        down, across, squeeze=False, height_ratios=heights, sharex=shared, sharey=shared
    )
    return figure, axes.ravel()


def shortened(label: str) -> str:
    """Return a visible label, cut where it would push the picture aside."""
    label = on_one_line(label)
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"


def label_rows(axis: Any, labels: Sequence[str]) -> None:
    """Put names, short already, on the rows of a picture, the first on top."""
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.set_axisbelow(True)
    axis.grid(axis="x", color=PALE, lw=0.5)


def target_names(found: Sequence[HasTarget]) -> list[str]:
    """Return the target and scaffold of each, for people."""
    plain, names = plain_targets(found), ModelNames.among(found)
    return [names.of(each, plain[each.target]) for each in found]


def plain_targets(found: Sequence[HasTarget]) -> dict[str, str]:
    """Return what each target is called in a picture: a recording less its content's hash.

    Where two would be called the same, they keep their whole names.
    """
    targets = list(dict.fromkeys(each.target for each in found))
    plain = {name: RECORDING_HASH.sub("", name) for name in targets}
    return plain if len(set(plain.values())) == len(targets) else {name: name for name in targets}
