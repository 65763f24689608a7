"""Numbers of a hiring audit as bars and dots, for up to two dozen models and scaffolds."""

from collections.abc import Sequence
from math import ceil
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biaswatch.local.runs import RunResults
from biaswatch.render.figures.drawing import (
    COLORS,
    INK,
    MINUS,
    PALE,
    interval_facets,
    label_rows,
    new_figure,
    plain_targets,
    shortened,
    target_names,
)
from biaswatch.shared.contracts import Assessment
from biaswatch.shared.formatting import coverage, number
from biaswatch.shared.presentation.names import ModelNames, scaffold_words
from biaswatch.shared.stats.studies.hiring import quality_of_error

QUALITY = f"quality: 100 {MINUS} 20 x mean absolute error"
SIDES = {"identified": ("with names", "o"), "anonymised": ("without", "s")}
"""Label and marker of each side of a comparison with anonymised twins."""
ROW_IN = 0.26
PANEL_COLUMNS, PANEL_IN = 2, 2.5
LEAST_QUALITY_SPAN = 20.0
"""One point of mean error; a shorter axis would exaggerate small differences."""
LABEL_DISTANCE = 0.08
"""Least distance of two labels, as a share of the axis."""


def quality_and_consistency(results: RunResults) -> Figure | None:
    """Draw the quality of answers, and their spread over repeats."""
    shown = [
        row for row in results.assessments if {row.quality.value, row.consistency.mean_sd} != {None}
    ]
    if not shown:
        return None
    title = f"{results.run.suite}: quality and consistency"
    figure, axes = new_figure(title, 1.2 + ROW_IN * len(shown), across=2)
    _draw_bars(axes[0], QUALITY, [row.quality.value for row in shown])
    spreads = [row.consistency.mean_sd for row in shown]
    _draw_bars(axes[1], "sd over repeats, points", spreads)
    labels = [
        f"{shortened(name)} (n={row.answers - row.missing})"
        for name, row in zip(target_names(shown), shown, strict=True)
    ]
    label_rows(axes[0], labels)
    label_rows(axes[1], [""] * len(shown))
    return figure


def combinations(results: RunResults) -> Figure | None:
    """Draw the mean of every combination of groups."""
    shown = [row for row in results.assessments if row.cells]
    if not shown:
        return None
    counts = sorted({cell.answers - cell.missing for row in shown for cell in row.cells})
    amount = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return interval_facets(
        f"{results.run.suite}: every combination of groups",
        shown,
        [{", ".join(cell.groups.values()): cell.mean for cell in row.cells} for row in shown],
        row_in=ROW_IN,
        axis_label=f"mean {shown[0].feature}, {coverage(shown[0].alpha)} interval;"
        f" {amount} readable answers a combination",
    )


def quality_without_names(results: RunResults) -> Figure | None:
    """Draw the quality of the answers with names, and of their anonymised twins."""
    shown = [row for row in results.assessments if row.quality.against_anonymised]
    if not shown:
        return None
    title = f"{results.run.suite}: quality with names and without"
    figure, [axis] = new_figure(title, 1.2 + ROW_IN * len(shown))
    errors = [row.quality.against_anonymised for row in shown]
    sides = [
        [quality_of_error(getattr(error, side)) for error in errors if error] for side in SIDES
    ]
    for n, (identified, anonymised) in enumerate(zip(*sides, strict=True)):
        axis.plot([identified, anonymised], [n, n], color=PALE, lw=2, zorder=0)
    for (label, marker), values in zip(SIDES.values(), sides, strict=True):
        axis.plot(values, range(len(values)), marker, color=COLORS[0], ms=6, label=label)
    axis.set_xlim(*_quality_range([value for side in sides for value in side]))
    axis.set_xlabel(QUALITY)
    label_rows(axis, [shortened(name) for name in target_names(shown)])
    figure.legend(loc="outside lower right", frameon=False, fontsize=8)
    return figure


def against_anonymised(results: RunResults) -> Figure | None:
    """Draw each group's distance to the twins without names."""
    shown = [row for row in results.assessments if row.deviations]
    if not shown:
        return None
    return interval_facets(
        f"{results.run.suite}: identified against anonymised",
        shown,
        [{f"{d.dimension} {d.group}": d.gap for d in row.deviations} for row in shown],
        row_in=ROW_IN,
        axis_label=f"group minus anonymised twin in {shown[0].feature}, points,"
        f" {coverage(shown[0].alpha)} interval",
        zero=True,
    )


def bias_and_quality(results: RunResults) -> Figure | None:
    """Draw total bias against quality, a panel for each model, other models in grey."""
    shown = [
        row
        for row in results.assessments
        if row.quality.value is not None and row.total_bias.value is not None
    ]
    if not shown:
        return None
    targets = list(dict.fromkeys(row.target for row in shown))
    across = min(len(targets), PANEL_COLUMNS)
    down = ceil(len(targets) / across)
    title, height = f"{results.run.suite}: total bias and quality", 0.9 + PANEL_IN * down
    figure, axes = new_figure(title, height, down=down, across=across, shared=True)
    names = plain_targets(shown)
    axes[0].margins(y=0.12)
    axes[0].set_xlim(*_quality_range([row.quality.value or 0.0 for row in shown]))
    for n, (axis, target) in enumerate(zip(axes, targets, strict=False)):
        _draw_panel(axis, shown, target)
        axis.set_title(shortened(names[target]), fontsize=9, loc="left")
        axis.tick_params(labelbottom=n + across >= len(targets))
    axes[0].set_ylim(bottom=0)
    if ModelNames.among(shown).with_scaffold:
        for axis, target in zip(axes, targets, strict=False):
            _draw_scaffolds(axis, [row for row in shown if row.target == target])
    for axis in axes[len(targets) :]:
        axis.set_visible(False)
    figure.supxlabel(f"{QUALITY} (right is better)", fontsize=9)
    figure.supylabel("total bias, points (down is better)", fontsize=9)
    chance = Line2D([], [], color=INK, marker="_", ms=10, mew=2, ls=":", label="by chance")
    figure.legend(handles=[chance], loc="outside lower right", frameon=False, fontsize=8)
    return figure


def _quality_range(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis of quality, far enough apart for honest distances."""
    middle = (min(values) + max(values)) / 2
    half = max(LEAST_QUALITY_SPAN, 1.2 * (max(values) - min(values))) / 2
    return middle - half, middle + half


def _draw_panel(axis: Any, rows: Sequence[Assessment], target: str) -> None:
    other_models = [row for row in rows if row.target != target]
    qualities = [row.quality.value for row in other_models]
    biases = [row.total_bias.value for row in other_models]
    axis.plot(qualities, biases, "o", color=PALE, ms=4, zorder=0)
    for row in (row for row in rows if row.target == target):
        x, y, chance = row.quality.value, row.total_bias.value, row.total_bias.null_median
        axis.plot(x, y, "o", color=COLORS[0], ms=6)
        if chance is not None:
            axis.plot([x, x], [chance, y], color=COLORS[0], lw=0.8, ls=":")
            axis.plot(x, chance, "_", color=COLORS[0], ms=10, mew=2)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_axisbelow(True)
    axis.grid(color=PALE, lw=0.5)


def _draw_scaffolds(axis: Any, rows: Sequence[Assessment]) -> None:
    """Write each scaffold's name beside the panel, near the height of its dot."""
    top, at = axis.get_ylim()[1], -LABEL_DISTANCE
    for row in sorted(rows, key=lambda row: row.total_bias.value or 0.0):
        x, y = row.quality.value, row.total_bias.value
        at = max((y or 0.0) / top, at + LABEL_DISTANCE)
        axis.annotate(
            scaffold_words(row.scaffold),
            (x, y),
            xytext=(1.01, at),
            fontsize=7.5,
            textcoords="axes fraction",
            va="center",
            arrowprops={"arrowstyle": "-", "lw": 0.5, "color": COLORS[5]},
        )


def _draw_bars(axis: Any, label: str, values: Sequence[float | None]) -> None:
    lengths = [value or 0 for value in values]
    bars = axis.barh(range(len(values)), lengths, color=COLORS[0], height=0.6)
    texts = ["undefined" if value is None else number(value) for value in values]
    axis.bar_label(bars, texts, padding=3, fontsize=8)
    axis.margins(x=0.18)
    axis.set_xlabel(label)
