"""Series of plots with a row for each group: intervals, and histograms of answers.

Positions of a page are in a picture of 1000 units across, which stretches to the width of the page.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median

from biaswatch.shared.analysis.monitors.strata_views import StrataView
from biaswatch.shared.contracts import Diagnosis, Estimate
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.charts import Axis, padded_axis
from biaswatch.shared.presentation.findings import (
    answers_query,
    groups_in_disparities,
    ranked_groups,
)
from biaswatch.shared.presentation.monitor_tables import stratum_name
from biaswatch.shared.requests.searches import SearchFinding

WIDTH = 1000.0
BINS = 24
MAX_LONE_VALUES = 12
"""Up to this number of different values, such as ratings, each has a bar."""
MAX_HISTOGRAMS = 12
"""Histograms on a page, whose bars take a kilobyte for each group."""
BAR_HEIGHT = 26.0


@dataclass(frozen=True)
class IntervalRow:
    """A number with its interval, as positions and as text."""

    name: str
    low: float | None
    value: float | None
    high: float | None
    ring: float | None
    """A second estimate: the shrunken mean, or the unadjusted gap."""
    text: str
    is_disparity: bool = False
    """True for a group in a disparity."""
    answers: str = ""


@dataclass(frozen=True)
class IntervalPlot:
    """Rows on one axis, with a line at a reference value."""

    rows: tuple[IntervalRow, ...]
    axis: Axis
    level: float
    """Position of the mean of the means, or of 0."""
    level_text: str

    @property
    def has_rings(self) -> bool:
        """True if any row has a second estimate."""
        return any(row.ring is not None for row in self.rows)


def clip_interval(estimate: Estimate, limits: tuple[float, float] | None) -> Estimate:
    """Return an estimate with its interval clipped to limits."""
    if limits is None or estimate.low is None or estimate.high is None:
        return estimate
    low, high = max(estimate.low, limits[0]), min(estimate.high, limits[1])
    return replace(estimate, low=low, high=high)


def means_plot(diagnosis: Diagnosis) -> IntervalPlot | None:
    """Return the means of the groups, the lowest first; None without any mean."""
    groups = ranked_groups(diagnosis.groups)
    if not groups:
        return None
    middle = sum(group.mean.value or 0.0 for group in groups) / len(groups)
    shrunken = [group.shrunken_mean or Estimate() for group in groups]
    rings = [estimate.value for estimate in shrunken if estimate.value is not None]
    axis = _axis_of((group.mean for group in groups), *rings)
    disparities = groups_in_disparities(diagnosis)
    rows = [
        _interval_row(
            axis,
            group.group,
            group.mean,
            ring.value,
            is_disparity=group.group in disparities,
            answers=answers_query(diagnosis, group.group),
        )
        for group, ring in zip(groups, shrunken, strict=True)
    ]
    return IntervalPlot(tuple(rows), axis, axis.at(middle), number(middle))


def strata_plot(view: StrataView) -> IntervalPlot:
    """Return the gap of all users, then of each stratum, with the unadjusted gap beside."""
    undefined = Estimate()
    gaps = [("all strata", view.adjusted or undefined, view.unadjusted or undefined)]
    gaps += [(stratum_name(row), row.adjusted, row.unadjusted) for row in view.strata]
    axis = _axis_of((gap for _, *both in gaps for gap in both), 0.0)
    rows = [_interval_row(axis, name, gap, other.value) for name, gap, other in gaps]
    return IntervalPlot(tuple(rows), axis, axis.at(0.0), "0")


def search_plot(findings: Sequence[SearchFinding]) -> IntervalPlot | None:
    """Return the confirmed gaps of a search's findings; None without any gap."""
    if all(finding.effect.value is None for finding in findings):
        return None
    axis = _axis_of((finding.effect for finding in findings), 0.0)
    rows = (
        _interval_row(axis, f"{finding.title}: {finding.group}", finding.effect, None)
        for finding in findings
    )
    return IntervalPlot(tuple(rows), axis, axis.at(0.0), "0")


def has_gaps(view: StrataView) -> bool:
    """Return whether any gap of a comparison differs from 0."""
    gaps = [view.adjusted, view.unadjusted]
    gaps += [gap for row in view.strata for gap in (row.adjusted, row.unadjusted)]
    return any(gap and gap.value for gap in gaps)


def _axis_of(estimates: Iterable[Estimate], *values: float) -> Axis:
    ends = (end for row in estimates for end in (row.low, row.value, row.high))
    return padded_axis([*values, *(end for end in ends if end is not None)], 0.0, WIDTH)


def _interval_row(
    axis: Axis,
    name: str,
    estimate: Estimate,
    ring: float | None,
    *,
    is_disparity: bool = False,
    answers: str = "",
) -> IntervalRow:
    """Return a number with its interval as positions and text."""
    text = number(estimate.value)
    if estimate.low is not None and estimate.high is not None:
        text += f" ({number(estimate.low)} to {number(estimate.high)})"
    values = (estimate.low, estimate.value, estimate.high, ring)
    low, value, high, ring = (None if v is None else axis.at(v) for v in values)
    return IntervalRow(name, low, value, high, ring, text, is_disparity, answers)


@dataclass(frozen=True)
class HistogramBar:
    """Answers of a group within one bin, as a rectangle."""

    x: float
    width: float
    y: float
    height: float
    title: str


@dataclass(frozen=True)
class HistogramRow:
    """Answers of one group."""

    name: str
    bars: tuple[HistogramBar, ...]
    text: str
    answers: str


@dataclass(frozen=True)
class HistogramPlot:
    """Histograms of all groups, on one axis and one scale of shares."""

    rows: tuple[HistogramRow, ...]
    low: float
    high: float
    left_out: int = 0
    """Groups that are not drawn, with medians between those of the others."""


def histogram_plot(
    diagnosis: Diagnosis, values: Mapping[str, Sequence[float]]
) -> HistogramPlot | None:
    """Return a histogram for each group, by their medians; None without any answer.

    Of more than `MAX_HISTOGRAMS` groups, half of them have the lowest medians, half the highest.
    """
    groups = {name: sample for name, sample in values.items() if sample}
    if not groups:
        return None
    edges = histogram_edges([value for sample in groups.values() for value in sample])
    counts = {name: _bin_counts(sample, edges) for name, sample in groups.items()}
    highest = max(max(row) / sum(row) for row in counts.values())
    rows = [
        HistogramRow(
            name,
            tuple(_bars(counts[name], edges, highest)),
            f"{len(groups[name])} answers, median {number(median(groups[name]))}",
            answers_query(diagnosis, name),
        )
        for name in sorted(groups, key=lambda name: (median(groups[name]), name))
    ]
    left_out = max(0, len(rows) - MAX_HISTOGRAMS)
    if left_out:
        half = MAX_HISTOGRAMS // 2
        rows = rows[:half] + rows[-half:]
    return HistogramPlot(tuple(rows), edges[0], edges[-1], left_out)


def histogram_edges(values: Iterable[float], bins: int = BINS) -> list[float]:
    """Return the edges of bins: around each value where there are few, else evenly spaced."""
    distinct = sorted(set(values))
    if len(distinct) == 1:
        return [distinct[0] - 0.5, distinct[0] + 0.5]
    low, high = distinct[0], distinct[-1]
    if len(distinct) > MAX_LONE_VALUES:
        return [low + (high - low) * n / bins for n in range(bins + 1)]
    middles = [(a + b) / 2 for a, b in pairwise(distinct)]
    return [2 * low - middles[0], *middles, 2 * high - middles[-1]]


def _bin_counts(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    """Return the counts of bins; an inner edge belongs to the bin above."""
    bins = Counter(sum(value >= edge for edge in edges[1:-1]) for value in values)
    return [bins[n] for n in range(len(edges) - 1)]


def _bars(counts: Sequence[int], edges: Sequence[float], highest: float) -> Iterator[HistogramBar]:
    """Yield a bar for each bin with answers, scaled by the highest share."""
    total, span = sum(counts), edges[-1] - edges[0]
    for count, (low, high) in zip(counts, pairwise(edges), strict=True):
        if count:
            height = BAR_HEIGHT * count / total / highest
            yield HistogramBar(
                x=round(WIDTH * (low - edges[0]) / span + 2, 1),
                width=max(1.0, round(WIDTH * (high - low) / span - 4, 1)),
                y=round(BAR_HEIGHT - height, 1),
                height=round(height, 1),
                title=f"{count} of {total} from {number(low)} to {number(high)}",
            )
