"""Heatmaps: gaps by model, pairs of groups, criteria."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import Any

from matplotlib.figure import Figure

from biaswatch.local.runs import RunResults
from biaswatch.render.figures.drawing import (
    MINUS,
    facet_titles,
    new_figure,
    shortened,
    target_names,
)
from biaswatch.render.figures.heatmap_drawing import (
    GAP_LABEL,
    Heatmap,
    HeatmapCell,
    color_bar,
    draw_heatmap,
    gap_cell,
    largest_value,
    rounded,
    signed,
)
from biaswatch.shared.contracts import CriterionGap, Diagnosis, Gap, GroupSummary, SummaryWord
from biaswatch.shared.foreign_text import visible
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.conclusions import families_of
from biaswatch.shared.presentation.findings import comparisons
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.stats.estimate import Estimate

ROW_IN, PANEL_IN = 0.34, 0.9
CRITERIA_COLUMNS, FACET_IN = 2, 0.5
MIN_SQUARE_GROUPS, MAX_SQUARES = 4, 3
MAX_NUMBERED_GROUPS = 10
"""With more groups, a square has numbers of disparities alone."""
SQUARE_ROW_IN, SQUARE_PANEL_IN = 0.3, 1.6
MAX_COLUMNS = 6
"""With more comparisons and fewer models, comparisons become rows."""
MAX_MEANS, MAX_MEANS_PANELS = 30, 6
"""Groups of a panel of means, and panels."""
GROUP_STATISTICS: Mapping[str, Callable[[GroupSummary], Estimate | None]] = {
    "mean": lambda group: group.mean,
    "selection rate": lambda group: group.selection_rate,
}
MAX_GAPS = 21
"""With more, no label can be read; the figure of all groups replaces this one."""


def gaps(results: RunResults) -> Figure | None:
    """Draw every gap, with disparities outlined."""
    shown = [row for row in results.diagnoses if 0 < len(row.gaps) <= MAX_GAPS]
    if not shown:
        return None
    panels = []
    for feature in dict.fromkeys(row.feature for row in shown):
        rows = [row for row in shown if row.feature == feature]
        heatmap: Heatmap = {
            (name, _pair(gap)): gap_cell(
                gap.gap.value, outlined=gap.summary is SummaryWord.DISPARITY
            )
            for row, name in zip(rows, target_names(rows), strict=True)
            for gap in row.gaps
        }
        if len({column for _, column in heatmap}) > max(MAX_COLUMNS, len(rows)):
            heatmap = {(column, row): cell for (row, column), cell in heatmap.items()}
        panels.append((f"{feature}; {_readable(rows)}", heatmap))
    return _stacked(
        f"{results.run.suite}: gaps between groups (outlined: disparity at level"
        f" {shown[0].alpha:g}, Bonferroni over {families_of(shown)})",
        panels,
        color_label=GAP_LABEL,
    )


def _stacked(title: str, panels: Sequence[tuple[str, Heatmap]], *, color_label: str) -> Figure:
    """Draw heatmaps with their titles one below the other, each with colors of its own."""
    heights = [ROW_IN * len({row for row, _ in heatmap}) for _, heatmap in panels]
    height_in = 0.5 + sum(heights) + PANEL_IN * len(panels)
    figure, axes = new_figure(title, height_in, down=len(panels), heights=heights)
    for axis, (panel_title, heatmap) in zip(axes, panels, strict=True):
        image = draw_heatmap(axis, heatmap, largest_value([heatmap]))
        color_bar(figure, image, axis, label=color_label)
        axis.set_title(visible(panel_title), fontsize=9, loc="left")
    return figure


def means(results: RunResults) -> Figure | None:
    """Draw each group's mean and selection rate at each model."""
    by_title = grouped(
        (f"{row.feature} by {row.dimension}", row)
        for row in results.diagnoses
        if not row.stratum and len(row.groups) <= MAX_MEANS
    )
    several = {title: rows for title, rows in by_title.items() if len(rows) > 1}
    panels = [
        (f"{statistic} of {title}", heatmap)
        for title, rows in several.items()
        for statistic, value_of in GROUP_STATISTICS.items()
        if (heatmap := _statistics_heatmap(rows, value_of))
    ][:MAX_MEANS_PANELS]
    if not panels:
        return None
    title = f"{results.run.suite}: groups at each model (no verdicts: see the gaps)"
    return _stacked(title, panels, color_label="from the mean")


def _statistics_heatmap(
    rows: Sequence[Diagnosis], value_of: Callable[[GroupSummary], Estimate | None]
) -> Heatmap:
    """Return a statistic by group and model: its value, colored by the distance from all."""
    cells = {
        (group.group, name): estimate.value
        for row, name in zip(rows, target_names(rows), strict=True)
        for group in row.groups
        if (estimate := value_of(group)) is not None
    }
    known = [value for value in cells.values() if value is not None]
    middle = sum(known) / max(len(known), 1)
    return {
        key: HeatmapCell(None, "undefined")
        if value is None
        else HeatmapCell(value - middle, rounded(value, 2))
        for key, value in cells.items()
    }


def criteria(results: RunResults) -> Figure | None:
    """Draw the gaps of each criterion, a heatmap for each target and scaffold."""
    shown = [row for row in results.assessments if row.criteria]
    if not shown:
        return None
    heatmaps = [
        {
            (gap.criterion, _pair(gap)): gap_cell(
                gap.gap.value, outlined=gap.p_adjusted is not None and gap.p_adjusted <= row.alpha
            )
            for gap in row.criteria
        }
        for row in shown
    ]
    limit = largest_value(heatmaps)  # one scale, or a model without gaps would look like one with
    across = min(len(shown), CRITERIA_COLUMNS)
    down = ceil(len(shown) / across)
    height = ROW_IN * max(len({row for row, _ in heatmap}) for heatmap in heatmaps) + FACET_IN
    figure, axes = new_figure(
        f"{results.run.suite}: gaps by criterion (outlined: at level {shown[0].alpha:g},"
        " Holm over a field)",
        1.4 + down * height,
        down=down,
        across=across,
    )
    image: Any = None
    titles = facet_titles(shown)
    for n, axis in enumerate(axes):
        if n >= len(shown):
            axis.set_visible(False)
            continue
        image = draw_heatmap(axis, heatmaps[n], limit)
        axis.set_title(
            f"{titles[n]}; n={shown[n].answers - shown[n].missing}", fontsize=8, loc="left"
        )
        if n % across:
            axis.set_yticklabels([])
        labels = [label.get_text() for label in axis.get_xticklabels()]
        lines = [label.replace(f" {MINUS} ", f" {MINUS}\n") for label in labels]
        axis.set_xticklabels([] if n + across < len(shown) else lines, fontsize=7.5)
    color_bar(figure, image, list(axes), aspect=40, location="bottom")
    return figure


def pairs_of_groups(results: RunResults) -> Figure | None:
    """Draw every group minus every other as a square, for the strongest findings."""
    squares = [row for row in results.diagnoses if row.gaps and _is_square(row)]
    shown = sorted(squares, key=_smallest_p)[:MAX_SQUARES]
    if not shown:
        return None
    heights = [SQUARE_ROW_IN * len(row.groups) for row in shown]
    figure, axes = new_figure(
        f"{results.run.suite}: every group minus every other (outlined: disparity at level"
        f" {shown[0].alpha:g}, Bonferroni over {families_of(shown)})",
        0.5 + sum(heights) + SQUARE_PANEL_IN * len(shown),
        down=len(shown),
        heights=heights,
    )
    names = ModelNames.among(results.diagnoses)
    for axis, row in zip(axes, shown, strict=True):
        heatmap = _square(row)
        size = 8 if len(row.groups) <= MAX_NUMBERED_GROUPS else 6
        image = draw_heatmap(axis, heatmap, largest_value([heatmap]), size)
        axis.set_xticklabels(axis.get_xticklabels(), rotation=90)
        title = shortened(f"{names.of(row)}: {row.feature} by {row.dimension}")
        axis.set_title(visible(f"{title}; {_readable([row])}"), fontsize=9, loc="left")
        color_bar(figure, image, axis)
    return figure


def _is_square(diagnosis: Diagnosis) -> bool:
    """Return whether every gap of many groups is between two of them."""
    names = {group.group for group in diagnosis.groups}
    return len(names) >= MIN_SQUARE_GROUPS and all({g.a, g.b} <= names for g in diagnosis.gaps)


def _smallest_p(diagnosis: Diagnosis) -> float:
    p_values = (row.p_adjusted for row in comparisons([diagnosis]))
    return min((p for p in p_values if p is not None), default=1.0)


def _square(diagnosis: Diagnosis) -> Heatmap:
    """Return each pair twice, with opposite signs; groups are ranked by their means."""
    ranked = sorted(diagnosis.groups, key=lambda group: -(group.mean.value or 0.0))
    names = [group.group for group in ranked]
    heatmap = {(a, b): gap_cell(0.0 if a == b else None) for a in names for b in names}
    for gap in diagnosis.gaps:
        is_disparity, value = gap.summary is SummaryWord.DISPARITY, gap.gap.value
        heatmap[gap.a, gap.b] = gap_cell(value, outlined=is_disparity)
        heatmap[gap.b, gap.a] = gap_cell(None if value is None else -value, outlined=is_disparity)
    if len(names) <= MAX_NUMBERED_GROUPS:
        return heatmap
    return {pair: _short_cell(cell) for pair, cell in heatmap.items()}


def _short_cell(cell: HeatmapCell) -> HeatmapCell:
    """Return a cell of a large square, without text unless it is outlined."""
    text = "?" if cell.value is None else signed(cell.value, 1)
    return HeatmapCell(cell.value, text if cell.outlined else "", cell.outlined)


def _readable(diagnoses: Sequence[Diagnosis]) -> str:
    """Return how many answers of a group have a number, in words."""
    counts = sorted({g.responses - g.missing for row in diagnoses for g in row.groups})
    amount = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"{amount} readable answers a group"


def _pair(gap: Gap | CriterionGap) -> str:
    return f"{gap.a} {MINUS} {gap.b}"
