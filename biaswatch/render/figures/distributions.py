"""All groups of a dimension: ranked means with intervals, and histograms of their answers."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biaswatch.local.runs import RunResults
from biaswatch.render.figures.drawing import (
    COLORS,
    INK,
    PALE,
    draw_interval,
    label_rows,
    new_figure,
    share_axes,
    shortened,
    target_names,
)
from biaswatch.shared.contracts import Diagnosis, GroupSummary
from biaswatch.shared.foreign_text import visible
from biaswatch.shared.formatting import coverage, number, p_equals
from biaswatch.shared.presentation.findings import groups_in_disparities, ranked_groups
from biaswatch.shared.presentation.group_columns import rank_text
from biaswatch.shared.presentation.plots import clip_interval, histogram_edges
from biaswatch.shared.requests.run_sources import GroupValues

MIN_GROUPS = 3
MAX_PANELS = 6
"""Features and models on a page: those whose groups differ most clearly."""
MEAN_ROW_IN, MEAN_PANEL_IN = 0.24, 1.0
HISTOGRAM_ROW_IN, HISTOGRAM_PANEL_IN = 0.3, 0.85
FEW_BINS, MANY_BINS, MIN_ANSWERS_OF_MANY_BINS = 12, 24, 60
BAR_HEIGHT = 0.85
"""Height of the highest bar, as a share of its row."""
RAW, FOUND, SHRUNKEN = COLORS[0], COLORS[1], INK


def groups(results: RunResults) -> Figure | None:
    """Draw every group's raw and shrunken mean, the largest on top."""
    candidates = [
        row
        for row in results.diagnoses
        if not row.stratum and len(ranked_groups(row.groups)) >= MIN_GROUPS
    ]
    if not candidates:
        return None
    shown = sorted(candidates, key=_overall_p)[:MAX_PANELS]
    heights = [MEAN_PANEL_IN + MEAN_ROW_IN * len(row.groups) for row in shown]
    title = f"{results.run.suite}: all groups"
    if len(shown) < len(candidates):
        title += f" (the {len(shown)} of {len(candidates)} with the smallest p)"
    figure, axes = new_figure(title, 0.8 + sum(heights), down=len(shown), heights=heights)
    ranges = results.provenance.ranges if results.provenance else {}
    for axis, diagnosis, name in zip(axes, shown, target_names(shown), strict=True):
        _draw_means(axis, diagnosis, name, ranges.get(diagnosis.feature))
    share_axes(axes, [row.feature for row in shown])
    handles = _legend(shown)
    figure.legend(handles=handles, loc="outside lower left", ncols=3, frameon=False, fontsize=8)
    return figure


def _overall_p(diagnosis: Diagnosis) -> float:
    test = diagnosis.overall
    return 1.0 if test is None or test.p_value is None else test.p_value


def _shrunken(group: GroupSummary) -> float | None:
    return group.shrunken_mean.value if group.shrunken_mean else None


def _legend(shown: Sequence[Diagnosis]) -> list[Line2D]:
    level = coverage(shown[0].alpha)
    groups = [group for row in shown for group in row.groups]
    label = f"mean, {level} interval of each"
    handles = [Line2D([], [], color=RAW, marker="o", ms=5, lw=1.4, label=label)]
    if any(map(groups_in_disparities, shown)):
        label = "in a disparity"
        handles.append(Line2D([], [], color=FOUND, marker="s", ms=5, lw=1.4, label=label))
    if any(_shrunken(group) is not None for group in groups):
        label = "shrunken towards the others, for looking"
        handles.append(
            Line2D([], [], color=SHRUNKEN, marker="D", ms=5, mfc="none", lw=0, label=label)
        )
    handles.append(Line2D([], [], color=INK, ls=":", lw=1, label="mean of the groups"))
    if any(group.rank for group in groups):
        label = f"right: rank, with all it may be ({level}, all at once)"
        handles.append(Line2D([], [], lw=0, label=label))
    return handles


def _draw_means(
    axis: Any, diagnosis: Diagnosis, name: str, limits: tuple[float, float] | None
) -> None:
    ordered = ranked_groups(diagnosis.groups)[::-1]
    disparities = groups_in_disparities(diagnosis)
    for row, group in enumerate(ordered):
        look = (FOUND, "s") if group.group in disparities else (RAW, "o")
        draw_interval(axis, row, clip_interval(group.mean, limits), *look)
        if (shrunken := _shrunken(group)) is not None:
            axis.plot(shrunken, row, "D", color=SHRUNKEN, ms=5, mfc="none", mew=1.2)
    label_rows(axis, [shortened(f"{group.group} (n={group.units})") for group in ordered])
    _draw_ranks(axis, ordered)
    middle = sum(group.mean.value or 0.0 for group in ordered) / len(ordered)
    axis.axvline(middle, color=INK, ls=":", lw=1, zorder=0)
    axis.set_xlabel(f"mean {shortened(diagnosis.feature)}; n: prompts")
    title = shortened(f"{name}: {diagnosis.feature} by {diagnosis.dimension}")
    if diagnosis.overall and diagnosis.overall.p_value is not None:
        title += f"; all groups together {p_equals(diagnosis.overall.p_value)}"
    axis.set_title(visible(title), fontsize=9, loc="left")
    axis.grid(axis="y", color=PALE, lw=0.3)


def _draw_ranks(axis: Any, ordered: Sequence[GroupSummary]) -> None:
    """Write the possible ranks of each group beside its row."""
    ranks = list(map(rank_text, ordered))
    if any(ranks):
        right = axis.secondary_yaxis("right")
        right.set_yticks(range(len(ranks)), ranks, fontsize=8)
        right.set_ylabel("rank", fontsize=8)
        right.tick_params(axis="y", length=0)
        right.spines["right"].set_visible(False)


def spreads(results: RunResults) -> Figure | None:
    """Draw a histogram of each group's answers, for the strongest findings."""
    shown = [
        (row, values)
        for row in results.diagnoses
        if (values := results.values.get(row.id)) and any(values.values.values())
    ]
    if not shown:
        return None
    heights = [HISTOGRAM_PANEL_IN + HISTOGRAM_ROW_IN * len(values.values) for _, values in shown]
    title = f"{results.run.suite}: how the answers are spread"
    figure, axes = new_figure(title, 0.4 + sum(heights), down=len(shown), heights=heights)
    names = target_names([row for row, _ in shown])
    for axis, (diagnosis, values), name in zip(axes, shown, names, strict=True):
        same = [other for row, other in shown if row.feature == diagnosis.feature]
        _draw_histograms(axis, values, _common_edges(same))
        of = f"; {values.answers:,} of {values.of:,} answers" if values.answers < values.of else ""
        title = shortened(f"{name}: {diagnosis.feature} by {diagnosis.dimension}")
        axis.set_title(visible(title) + of, fontsize=9, loc="left")
        axis.set_xlabel(f"{shortened(diagnosis.feature)}; dotted: median")
    share_axes(axes, [row.feature for row, _ in shown])
    return figure


def _common_edges(values: Sequence[GroupValues]) -> Any:
    """Return the same bins for all panels of a feature, fewer where groups are small."""
    samples = [sample for row in values for sample in row.values.values() if sample]
    has_many = min(map(len, samples)) >= MIN_ANSWERS_OF_MANY_BINS
    pooled = (value for sample in samples for value in sample)
    return np.array(histogram_edges(pooled, MANY_BINS if has_many else FEW_BINS))


def _draw_histograms(axis: Any, values: GroupValues, edges: Any) -> None:
    samples = {name: sample for name, sample in values.values.items() if sample}
    shares = {name: np.histogram(s, edges)[0] / len(s) for name, s in samples.items()}
    medians = {name: float(np.median(sample)) for name, sample in samples.items()}
    highest = max(float(share.max()) for share in shares.values())
    ordered = sorted(samples, key=lambda name: (-medians[name], name))
    middles, widths = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
    for row, name in enumerate(ordered):
        heights = BAR_HEIGHT * shares[name] / highest
        axis.bar(middles, -heights, widths * 0.92, bottom=row + 0.45, color=COLORS[0])
        middle = medians[name]
        axis.plot([middle, middle], [row + 0.45, row - 0.4], color=INK, lw=1, ls=":")
    labels = (
        f"{name} (n={len(samples[name])}, median {number(medians[name])})" for name in ordered
    )
    label_rows(axis, list(map(shortened, labels)))
    axis.grid(visible=False)
