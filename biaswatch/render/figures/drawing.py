"""Elements that all figures share: pages, labels, colors, facets, intervals."""

import re
from collections.abc import Mapping, Sequence
from io import BytesIO
from math import ceil
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from biaswatch.render.figures import STYLE
from biaswatch.shared.contracts import Estimate
from biaswatch.shared.foreign_text import on_one_line, visible
from biaswatch.shared.presentation.names import HasTarget, ModelNames, scaffold_words

INK, PALE = "#1f3b57", "#c9d3dd"
INK_ON_COLOR, DARK_SHARE = "#0d0d0d", 0.66
"""Text on a color, white from this share of the strongest on: a contrast of 4.4 or more."""
COLORS = ("#1f6f8b", "#b5482a", "#5b7f3a", "#7a4f8f", "#a8842c", "#4a4a4a", "#c06c84", "#2f4858")
"""Distinct for color-blind readers, and in print."""
MINUS = "\u2212"
PAGE_WIDTH_IN = 9.0
SCREEN_DPI = 100
MAX_LABEL_CHARS, MAX_FACET_CHARS = 60, 30
MAX_FACET_COLUMNS = 4
FACET_TITLE_IN, FACET_MARGIN_IN = 0.42, 1.0
RECORDING_HASH = re.compile(r"-[0-9a-f]{12}\.jsonl$")
"""End of the name of a kept recording."""


class ShownFigure(Figure):
    """A figure for notebooks, shown without a backend."""

    def _repr_png_(self) -> bytes:
        png = BytesIO()
        with rc_context(STYLE):
            self.savefig(png, format="png", dpi=SCREEN_DPI)
        return png.getvalue()


def new_figure(
    title: str,
    height_in: float,
    *,
    down: int = 1,
    across: int = 1,
    heights: Sequence[float] | None = None,
    shared: bool = False,
) -> tuple[Figure, Any]:
    """Return a figure of a page's width, and its axes in reading order.

    Rows are equally high without `heights`; `shared` axes have common scales.
    """
    figure = ShownFigure(figsize=(PAGE_WIDTH_IN, height_in), layout="constrained")
    figure.suptitle(visible(title), fontsize=11, x=0.01, ha="left")
    axes = figure.subplots(
        down, across, squeeze=False, height_ratios=heights, sharex=shared, sharey=shared
    )
    return figure, axes.ravel()


def shortened(label: str, max_chars: int = MAX_LABEL_CHARS) -> str:
    """Return a label on one line, cut where it is too long."""
    label = on_one_line(label)
    return label if len(label) <= max_chars else f"{label[: max_chars - 1]}…"


def label_rows(axis: Any, labels: Sequence[str]) -> None:
    """Put labels on the rows of a figure, the first on top."""
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.set_axisbelow(True)
    axis.grid(axis="x", color=PALE, lw=0.5)


def target_names(results: Sequence[HasTarget]) -> list[str]:
    """Return the name of each result's model."""
    plain, names = plain_targets(results), ModelNames.among(results)
    return [names.of(row, plain[row.target]) for row in results]


def plain_targets(results: Sequence[HasTarget]) -> dict[str, str]:
    """Return each target without the hash of a recording, unless two would be the same."""
    targets = dict.fromkeys(row.target for row in results)
    plain = {name: RECORDING_HASH.sub("", name) for name in targets}
    return plain if len(set(plain.values())) == len(targets) else {name: name for name in targets}


def facet_titles(results: Sequence[HasTarget]) -> list[str]:
    """Return the title of each facet: the target, and its scaffold where needed."""
    plain = plain_targets(results)
    titles = {name: shortened(target, MAX_FACET_CHARS) for name, target in plain.items()}
    if not ModelNames.among(results).with_scaffold:
        return [titles[row.target] for row in results]
    return [f"{titles[row.target]}\n{scaffold_words(row.scaffold)}" for row in results]


def facet_columns(results: Sequence[HasTarget]) -> int:
    """Return the facets of a row: the scaffolds of one target where they fit."""
    scaffolds = len({row.scaffold for row in results})
    is_complete = scaffolds * len({row.target for row in results}) == len(results)
    if is_complete and 1 < scaffolds <= MAX_FACET_COLUMNS:
        return scaffolds
    return min(len(results), MAX_FACET_COLUMNS)


def interval_facets(
    title: str,
    results: Sequence[HasTarget],
    series: Sequence[Mapping[str, Estimate]],
    *,
    row_in: float,
    axis_label: str,
    zero: bool = False,
) -> Figure:
    """Draw estimates with their intervals, a facet for each series, on common axes."""
    labels = list(dict.fromkeys(label for estimates in series for label in estimates))
    across = facet_columns(results)
    down = ceil(len(results) / across)
    height = FACET_MARGIN_IN + down * (row_in * len(labels) + FACET_TITLE_IN)
    figure, axes = new_figure(title, height, down=down, across=across, shared=True)
    titles = facet_titles(results)
    for n, axis in enumerate(axes):
        if n >= len(results):
            axis.set_visible(False)
            continue
        for row, label in enumerate(labels):
            draw_interval(axis, row, series[n].get(label))
        label_rows(axis, [shortened(label) for label in labels])
        if zero:
            axis.axvline(0, color=INK, lw=0.8)
        axis.set_title(titles[n], fontsize=8, loc="left")
        is_left, is_lowest = n % across == 0, n + across >= len(results)
        axis.tick_params(labelleft=is_left, labelbottom=is_lowest)
    figure.supxlabel(axis_label, fontsize=9)
    return figure


def draw_interval(
    axis: Any, row: float, estimate: Estimate | None, color: str = COLORS[0], marker: str = "o"
) -> None:
    """Draw a number with its interval, or nothing if it is undefined."""
    if estimate is None or estimate.value is None:
        return
    if estimate.low is not None and estimate.high is not None:
        ends = [estimate.low, estimate.high]
        axis.plot(ends, [row, row], color=color, lw=1.4, solid_capstyle="butt")
    axis.plot(estimate.value, row, marker, color=color, ms=4.5)


def share_axes(axes: Sequence[Any], features: Sequence[str]) -> None:
    """Set one scale for all axes of a feature."""
    for feature in set(features):
        same = [axis for axis, own in zip(axes, features, strict=True) if own == feature]
        ends = [axis.get_xlim() for axis in same]
        for axis in same:
            axis.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))
