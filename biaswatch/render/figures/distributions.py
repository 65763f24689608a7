"""All groups of a dimension: ranked means with intervals, and the spread of their answers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biaswatch.local.runs import RunResults
from biaswatch.render.figures import (
    COLOURS,
    INK,
    PALE,
    label_rows,
    new_figure,
    shortened,
    target_names,
)
from biaswatch.render.figures.facets import draw_interval, share_axes
from biaswatch.services.gateway.runs.measurements import GroupValues
from biaswatch.shared.contracts import Diagnosis, Estimate, GroupSummary, Verdict
from biaswatch.shared.formatting import coverage, number, p_equals, visible
from biaswatch.shared.presentation.columns import GroupRow, rank_text
from biaswatch.shared.presentation.group_plots import histogram_edges

LEAST_GROUPS = 3
MOST_PANELS = 6
"""A page shows so many features and targets: those whose groups differ most clearly."""
ROW_IN, PANEL_IN = 0.24, 1.0
RAW, FOUND, SHRUNKEN = COLOURS[0], COLOURS[1], INK


def groups(results: RunResults) -> Figure | None:
    """Draw every group's raw and shrunken mean, the largest on top."""
    found = [
        each for each in results.diagnoses
        if not each.stratum
        and sum(group.mean.value is not None for group in each.groups) >= LEAST_GROUPS
    ]  # fmt: skip
    if not found:
        return None
    shown = sorted(found, key=_p_value)[:MOST_PANELS]
    heights = [PANEL_IN + ROW_IN * len(each.groups) for each in shown]
    more = (
        f" (the {len(shown)} of {len(found)} with the smallest p)"
        if len(found) > len(shown)
        else ""
    )
    figure, axes = new_figure(
        f"{results.run.suite}: all groups{more}",
        0.8 + sum(heights),
        down=len(shown),
        heights=heights,
    )
    ranges = results.provenance.ranges if results.provenance else {}
    names = dict(zip(map(id, shown), target_names(shown), strict=True))
    for axis, diagnosis in zip(axes, shown, strict=True):
        _panel(axis, diagnosis, names[id(diagnosis)], ranges.get(diagnosis.feature))
    share_axes(axes, [each.feature for each in shown])
    interval = f"mean, {coverage(shown[0].alpha)} interval of each"
    handles = [
        Line2D([], [], color=RAW, marker="o", ms=5, lw=1.4, label=interval),
        Line2D([], [], color=FOUND, marker="s", ms=5, lw=1.4, label="in a disparity"),
        Line2D([], [], color=SHRUNKEN, marker="D", ms=5, mfc="none", lw=0,
               label="shrunken towards the others, for looking"),
        Line2D([], [], color=INK, ls=":", lw=1, label="mean of the groups"),
    ]  # fmt: skip
    if not any(_is_shrunken(group) for each in shown for group in each.groups):
        del handles[2]
    if not any(map(_in_disparities, shown)):
        del handles[1]
    if any(group.rank for each in shown for group in each.groups):
        ranks = f"right: rank, with all it may be ({coverage(shown[0].alpha)}, all at once)"
        handles.append(Line2D([], [], lw=0, label=ranks))
    figure.legend(handles=handles, loc="outside lower left", ncols=3, frameon=False, fontsize=8)
    return figure


def _is_shrunken(group: GroupSummary) -> bool:
    return group.shrunken_mean is not None and group.shrunken_mean.value is not None


def _p_value(diagnosis: Diagnosis) -> float:
    found = diagnosis.overall
    return 1.0 if found is None or found.p_value is None else found.p_value


def _panel(axis: Any, diagnosis: Diagnosis, name: str, range_: tuple[float, float] | None) -> None:
    known = [group for group in diagnosis.groups if group.mean.value is not None]
    ordered = sorted(known, key=lambda group: -(group.mean.value or 0.0))
    decided = _in_disparities(diagnosis)
    for row, group in enumerate(ordered):
        found = group.group in decided
        mean = _possible(group.mean, range_)
        draw_interval(axis, row, mean, FOUND if found else RAW, "s" if found else "o")
        shrunken = group.shrunken_mean
        if shrunken and shrunken.value is not None:
            axis.plot(shrunken.value, row, "D", color=SHRUNKEN, ms=5, mfc="none", mew=1.2)
    label_rows(axis, [shortened(f"{group.group} (n={group.units})") for group in ordered])
    _ranks(axis, diagnosis, ordered)
    values = [group.mean.value or 0.0 for group in ordered]
    axis.axvline(sum(values) / len(values), color=INK, ls=":", lw=1, zorder=0)
    axis.set_xlabel(f"mean {shortened(diagnosis.feature)}; n: prompts")
    axis.set_title(visible(_title(diagnosis, name)), fontsize=9, loc="left")
    axis.grid(axis="y", color=PALE, lw=0.3)


def _in_disparities(diagnosis: Diagnosis) -> set[str]:
    """Return the groups that a disparity is about."""
    found = (gap for gap in diagnosis.gaps if gap.verdict is Verdict.DISPARITY)
    return {name for gap in found for name in (gap.a, gap.b)}


def _ranks(axis: Any, diagnosis: Diagnosis, ordered: Sequence[GroupSummary]) -> None:
    """Write the ranks that each group may have beside its row."""
    texts = [rank_text(GroupRow(diagnosis, group)) for group in ordered]
    if not any(texts):
        return
    right = axis.secondary_yaxis("right")
    right.set_yticks(range(len(texts)), texts, fontsize=8)
    right.set_ylabel("rank", fontsize=8)
    right.tick_params(axis="y", length=0)
    right.spines["right"].set_visible(False)


def _possible(mean: Estimate, range_: tuple[float, float] | None) -> Estimate:
    """Return a mean with the part of its interval that the number's range allows."""
    if range_ is None or mean.low is None or mean.high is None:
        return mean
    return replace(mean, low=max(mean.low, range_[0]), high=min(mean.high, range_[1]))


def _title(diagnosis: Diagnosis, target: str) -> str:
    name = shortened(f"{target}: {diagnosis.feature} by {diagnosis.dimension}")
    if diagnosis.overall is None or diagnosis.overall.p_value is None:
        return name
    return f"{name}; all groups together {p_equals(diagnosis.overall.p_value)}"


SPREAD_ROW_IN, SPREAD_PANEL_IN = 0.3, 0.85
FEW_BINS, MANY_BINS, SMALL = 12, 24, 60
HEIGHT = 0.85
"""How much of a row the highest bar takes."""


def spreads(results: RunResults) -> Figure | None:
    """Draw the answers of each group, for the findings that say the most."""
    found = [
        (each, values) for each in results.diagnoses
        if (values := results.values.get(each.id)) and any(values.values.values())
    ]  # fmt: skip
    if not found:
        return None
    heights = [SPREAD_PANEL_IN + SPREAD_ROW_IN * len(values.values) for _, values in found]
    figure, axes = new_figure(
        f"{results.run.suite}: how the answers are spread",
        0.4 + sum(heights),
        down=len(found),
        heights=heights,
    )
    kinds = [diagnosis.feature for diagnosis, _ in found]
    names = target_names([diagnosis for diagnosis, _ in found])
    for axis, (diagnosis, values), name in zip(axes, found, names, strict=True):
        same = [some for each, some in found if each.feature == diagnosis.feature]
        _spread_panel(axis, diagnosis, values, name, _edges(same))
    share_axes(axes, kinds)
    return figure


def _edges(drawn: Sequence[GroupValues]) -> Any:
    """Return the same bars for all panels of a number: fewer where groups are small."""
    groups = [some for each in drawn for some in each.values.values() if some]
    smallest = min(map(len, groups))
    every = sorted(value for some in groups for value in some)
    return np.array(histogram_edges(every, FEW_BINS if smallest < SMALL else MANY_BINS))


def _spread_panel(
    axis: Any, diagnosis: Diagnosis, drawn: GroupValues, target: str, edges: Any
) -> None:
    groups = {name: some for name, some in drawn.values.items() if some}
    shares = {name: np.histogram(some, edges)[0] / len(some) for name, some in groups.items()}
    most = max(float(each.max()) for each in shares.values())
    ordered = sorted(groups, key=lambda name: (-float(np.median(groups[name])), name))
    for row, name in enumerate(ordered):
        heights = HEIGHT * shares[name] / most
        middles, widths = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
        axis.bar(middles, -heights, widths * 0.92, bottom=row + 0.45, color=COLOURS[0])
        middle = float(np.median(groups[name]))
        axis.plot([middle, middle], [row + 0.45, row - 0.4], color=INK, lw=1, ls=":")
    label_rows(axis, _labels(groups, ordered))
    axis.grid(visible=False)
    of = f"; {drawn.answers:,} of {drawn.of:,} answers" if drawn.answers < drawn.of else ""
    name = shortened(f"{target}: {diagnosis.feature} by {diagnosis.dimension}")
    axis.set_title(visible(name) + of, fontsize=9, loc="left")
    axis.set_xlabel(f"{shortened(diagnosis.feature)}; dotted: median")


def _labels(groups: Mapping[str, Sequence[float]], ordered: Sequence[str]) -> list[str]:
    medians = (number(float(np.median(groups[name]))) for name in ordered)
    return [
        shortened(f"{name} (n={len(groups[name])}, median {median})")
        for name, median in zip(ordered, medians, strict=True)
    ]
