"""All groups of a dimension as dots: raw and shrunken means, sorted, with their ranks."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biaswatch.local.run_results import RunResults
from biaswatch.render.columns import GroupRow, rank_text
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
from biaswatch.shared.contracts import Diagnosis, Estimate, GroupSummary, Verdict
from biaswatch.shared.formatting import coverage, p_equals
from biaswatch.shared.shown_text import visible

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
    ends = {"low": max(mean.low, range_[0]), "high": min(mean.high, range_[1])}
    return mean.model_copy(update=ends)


def _title(diagnosis: Diagnosis, target: str) -> str:
    name = shortened(f"{target}: {diagnosis.feature} by {diagnosis.dimension}")
    if diagnosis.overall is None or diagnosis.overall.p_value is None:
        return name
    return f"{name}; all groups together {p_equals(diagnosis.overall.p_value)}"
