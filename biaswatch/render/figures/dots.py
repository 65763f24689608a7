"""Numbers as bars and dots: quality, consistency, combinations of groups, deviations."""

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biaswatch.local.run_results import RunResults
from biaswatch.render.figures import (
    COLOURS,
    INK,
    MARKERS,
    PALE,
    QUALITY,
    label_rows,
    new_figure,
    shortened,
    target_names,
)
from shared.contracts import Estimate
from shared.formatting import coverage, number

ROW_IN = 0.34
SPREAD = 0.7
"""How much of a row's height its several dots take."""


def quality_and_consistency(results: RunResults) -> Figure | None:
    """Draw how near answers are to the right ones, and how much they differ over repeats."""
    found = [
        each for each in results.assessments
        if {each.quality.value, each.consistency.mean_sd} != {None}
    ]  # fmt: skip
    if not found:
        return None
    figure, axes = new_figure(
        f"{results.run.suite}: quality and consistency", 1.5 + ROW_IN * len(found), across=2
    )
    parts = (
        (QUALITY, [e.quality.value for e in found]),
        ("sd over repeats, points",
         [e.consistency.mean_sd for e in found]),
    )  # fmt: skip
    for axis, (title, values) in zip(axes, parts, strict=True):
        _bars(axis, values)
        axis.set_xlabel(title)
    labels = [
        f"{shortened(name)} (n={each.answers - each.missing})"
        for name, each in zip(target_names(found), found, strict=True)
    ]
    label_rows(axes[0], labels)
    label_rows(axes[1], [""] * len(found))
    return figure


def combinations(results: RunResults) -> Figure | None:
    """Draw the mean of every combination of groups."""
    found = [each for each in results.assessments if each.cells]
    if not found:
        return None
    series = {
        name: {", ".join(c.groups.values()): c.mean for c in each.cells}
        for name, each in zip(target_names(found), found, strict=True)
    }
    answers = found[0].cells[0].answers
    return _intervals(
        series,
        f"{results.run.suite}: every combination of groups",
        f"mean {found[0].feature}, points, {coverage(found[0].alpha)} interval;"
        f" {answers} answers a combination",
    )


def against_anonymised(results: RunResults) -> Figure | None:
    """Draw each group's distance to the twins that name nobody."""
    found = [each for each in results.assessments if each.deviations]
    if not found:
        return None
    series = {
        name: {f"{d.dimension} {d.group}": d.gap for d in each.deviations}
        for name, each in zip(target_names(found), found, strict=True)
    }
    figure = _intervals(
        series,
        f"{results.run.suite}: identified against anonymised",
        f"group minus anonymised twin in {found[0].feature}, points,"
        f" {coverage(found[0].alpha)} interval",
    )
    figure.axes[0].axvline(0, color=INK, lw=1)
    return figure


def bias_and_quality(results: RunResults) -> Figure | None:
    """Draw total bias against quality; the tick is what exchanged labels give half of the time."""
    found = [
        each for each in results.assessments
        if each.quality.value is not None and each.total_bias.value is not None
    ]  # fmt: skip
    if not found:
        return None
    figure, (axis,) = new_figure(f"{results.run.suite}: total bias and quality", 4.8)
    for place, (each, name) in enumerate(zip(found, target_names(found), strict=True)):
        colour, marker = _look(place)
        bias = each.total_bias
        x, y, chance = each.quality.value, bias.value, bias.null_median
        axis.plot(x, y, marker, color=colour, ms=8, label=shortened(name))
        if chance is not None:
            axis.plot([x, x], [chance, y], color=colour, lw=0.8, ls=":")
            axis.plot(x, chance, "_", color=colour, ms=12, mew=2)
    axis.set_xlabel(f"{QUALITY} (right is better)")
    axis.set_ylabel("total bias, points (down is better)")
    axis.set_ylim(bottom=0)
    axis.margins(x=0.15)
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(color=PALE, lw=0.5)
    handles, _ = axis.get_legend_handles_labels()
    chance_mark = Line2D([], [], color=INK, marker="_", ms=12, mew=2, ls=":", label="by chance")
    _legend(figure, [*handles, chance_mark])
    return figure


def _intervals(series: Mapping[str, Mapping[str, Estimate]], title: str, unit: str) -> Figure:
    """Draw one row a group, and in it one dot with its interval for each series."""
    labels = list(dict.fromkeys(label for found in series.values() for label in found))
    height = 1.6 + len(labels) * max(ROW_IN, 0.13 * len(series)) + 0.2 * len(series)
    figure, (axis,) = new_figure(title, height)
    step = SPREAD / max(len(series), 1)
    handles = []
    for place, (name, found) in enumerate(series.items()):
        colour, marker = _look(place)
        for row, label in enumerate(labels):
            y = row + (place - (len(series) - 1) / 2) * step
            if (estimate := found.get(label)) is None or estimate.value is None:
                continue
            if estimate.low is not None and estimate.high is not None:
                bounds = [estimate.low, estimate.high]
                axis.plot(bounds, [y, y], color=colour, lw=1.4, solid_capstyle="butt")
            axis.plot(estimate.value, y, marker, color=colour, ms=5)
        handles.append(Line2D([], [], color=colour, marker=marker, ms=5, label=shortened(name)))
    label_rows(axis, [shortened(label) for label in labels])
    axis.set_xlabel(unit)
    _legend(figure, handles)
    return figure


def _bars(axis: Any, values: Sequence[float | None]) -> None:
    drawn = axis.barh(
        range(len(values)), [value or 0 for value in values], color=COLOURS[0], height=0.6
    )
    labels = ["undefined" if value is None else number(value) for value in values]
    axis.bar_label(drawn, labels, padding=3, fontsize=8)
    axis.margins(x=0.18)


def _look(place: int) -> tuple[str, str]:
    return COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]


def _legend(figure: Figure, handles: Sequence[Any]) -> None:
    figure.legend(
        handles=handles, loc="outside lower left", ncols=2, frameon=False, fontsize=8,
        title="target, scaffold", alignment="left", title_fontsize=8,
    )  # fmt: skip
