"""The numbers of a hiring audit as bars and dots, readable for two dozen models and scaffolds."""

from collections.abc import Sequence
from math import ceil
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biaswatch.local.runs import RunResults
from biaswatch.render.figures import (
    COLORS,
    INK,
    PALE,
    QUALITY,
    label_rows,
    new_figure,
    plain_targets,
    shortened,
    target_names,
)
from biaswatch.render.figures.facets import interval_facets
from biaswatch.shared.contracts import Assessment
from biaswatch.shared.formatting import coverage, number
from biaswatch.shared.presentation.names import ModelNames, scaffold_words

ROW_IN = 0.26
PANELS_ACROSS, PANEL_IN = 2, 2.5
LABEL_APART = 0.08


def quality_and_consistency(results: RunResults) -> Figure | None:
    """Draw how near answers are to the right ones, and how much they differ over repeats."""
    found = [
        each for each in results.assessments
        if {each.quality.value, each.consistency.mean_sd} != {None}
    ]  # fmt: skip
    if not found:
        return None
    figure, axes = new_figure(
        f"{results.run.suite}: quality and consistency", 1.2 + ROW_IN * len(found), across=2
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
    """Draw the mean of every combination of groups, a facet for each model and scaffold."""
    found = [each for each in results.assessments if each.cells]
    if not found:
        return None
    read = sorted({cell.answers - cell.missing for each in found for cell in each.cells})
    amount = f"{read[0]} readable" if len(read) == 1 else f"{read[0]} to {read[-1]} readable"
    return interval_facets(
        f"{results.run.suite}: every combination of groups",
        found,
        [{", ".join(c.groups.values()): c.mean for c in each.cells} for each in found],
        row_in=ROW_IN,
        axis_label=f"mean {found[0].feature}, {coverage(found[0].alpha)} interval;"
        f" {amount} answers a combination",
    )


def against_anonymised(results: RunResults) -> Figure | None:
    """Draw each group's distance to the twins that name nobody."""
    found = [each for each in results.assessments if each.deviations]
    if not found:
        return None
    return interval_facets(
        f"{results.run.suite}: identified against anonymised",
        found,
        [{f"{d.dimension} {d.group}": d.gap for d in each.deviations} for each in found],
        row_in=ROW_IN,
        axis_label=f"group minus anonymised twin in {found[0].feature}, points,"
        f" {coverage(found[0].alpha)} interval",
        zero=True,
    )


def bias_and_quality(results: RunResults) -> Figure | None:
    """Draw total bias against quality, a panel for each model, each scaffold by its name.

    All others stand behind in grey; the tick is what exchanged labels give half of the time.
    """
    found = [
        each for each in results.assessments
        if each.quality.value is not None and each.total_bias.value is not None
    ]  # fmt: skip
    if not found:
        return None
    targets = list(dict.fromkeys(each.target for each in found))
    across = min(len(targets), PANELS_ACROSS)
    down = ceil(len(targets) / across)
    figure, axes = new_figure(
        f"{results.run.suite}: total bias and quality",
        0.9 + PANEL_IN * down,
        down=down,
        across=across,
        shared=True,
    )
    names = plain_targets(found)
    axes[0].margins(x=0.08, y=0.12)
    for place, (axis, target) in enumerate(zip(axes, targets, strict=False)):
        _panel(axis, found, target)
        axis.set_title(shortened(names[target]), fontsize=9, loc="left")
        axis.tick_params(labelbottom=place + across >= len(targets))
    axes[0].set_ylim(bottom=0)
    for axis, target in zip(axes, targets, strict=False):
        if ModelNames.among(found).with_scaffold:
            _scaffold_labels(axis, [each for each in found if each.target == target])
    for axis in axes[len(targets) :]:
        axis.set_visible(False)
    figure.supxlabel(f"{QUALITY} (right is better)", fontsize=9)
    figure.supylabel("total bias, points (down is better)", fontsize=9)
    chance = Line2D([], [], color=INK, marker="_", ms=10, mew=2, ls=":", label="by chance")
    figure.legend(handles=[chance], loc="outside lower right", frameon=False, fontsize=8)
    return figure


def _panel(axis: Any, found: Sequence[Assessment], target: str) -> None:
    others = [each for each in found if each.target != target]
    axis.plot(*_places(others), "o", color=PALE, ms=4, zorder=0)
    for each in (each for each in found if each.target == target):
        x, y, chance = each.quality.value, each.total_bias.value, each.total_bias.null_median
        axis.plot(x, y, "o", color=COLORS[0], ms=6)
        if chance is not None:
            axis.plot([x, x], [chance, y], color=COLORS[0], lw=0.8, ls=":")
            axis.plot(x, chance, "_", color=COLORS[0], ms=10, mew=2)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_axisbelow(True)
    axis.grid(color=PALE, lw=0.5)


def _scaffold_labels(axis: Any, own: Sequence[Assessment]) -> None:
    """Write each scaffold's name beside the panel, at its dot's height or a little higher."""
    top, at = axis.get_ylim()[1], -LABEL_APART
    for each in sorted(own, key=lambda each: each.total_bias.value or 0.0):
        x, y = each.quality.value, each.total_bias.value
        at = max((y or 0.0) / top, at + LABEL_APART)
        axis.annotate(
            scaffold_words(each.scaffold), (x, y), xytext=(1.01, at), fontsize=7.5,
            textcoords="axes fraction", va="center",
            arrowprops={"arrowstyle": "-", "lw": 0.5, "color": COLORS[5]},
        )  # fmt: skip


def _places(found: Sequence[Assessment]) -> tuple[list[Any], list[Any]]:
    return [each.quality.value for each in found], [each.total_bias.value for each in found]


def _bars(axis: Any, values: Sequence[float | None]) -> None:
    drawn = axis.barh(
        range(len(values)), [value or 0 for value in values], color=COLORS[0], height=0.6
    )
    labels = ["undefined" if value is None else number(value) for value in values]
    axis.bar_label(drawn, labels, padding=3, fontsize=8)
    axis.margins(x=0.18)
