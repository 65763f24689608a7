"""Groups drawn one below the other: ranked means with intervals, and the spread of their answers.

Each row has its own small picture of 1000 units across that stretches to the width there is, beside
words and numbers that stay as large as the reader has set them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from biaswatch.shared.contracts import Diagnosis, Estimate, GroupSummary, Verdict
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.charts import Axis, padded_axis
from biaswatch.shared.presentation.run_summary import answers_query

ACROSS = 1000.0
BINS = 24
FEW_VALUES = 12
"""So many different values, such as ratings, have a bar each."""
BAR_HEIGHT = 26.0


@dataclass(frozen=True)
class ForestRow:
    """One group's mean with its interval."""

    name: str
    low: float | None
    value: float | None
    high: float | None
    shrunken: float | None
    """The mean drawn towards those of all groups."""
    text: str
    found: bool
    """Whether a comparison of it is a disparity."""
    answers: str


@dataclass(frozen=True)
class ForestPlot:
    """The groups of one finding, the lowest mean first, on one axis."""

    rows: tuple[ForestRow, ...]
    middle: float
    """Where the mean of the groups' means lies."""
    middle_text: str
    low: float
    high: float
    low_text: str
    high_text: str
    shrunken: bool


def forest_of(diagnosis: Diagnosis) -> ForestPlot | None:
    """Return the groups' means, ranked; None where no group has one."""
    known = [each for each in diagnosis.groups if each.mean.value is not None]
    if not known:
        return None
    ranked = sorted(known, key=lambda each: (each.mean.value or 0.0, each.group))
    middle = sum(each.mean.value or 0.0 for each in ranked) / len(ranked)
    axis = padded_axis([v for each in ranked for v in _values(each)], 0.0, ACROSS)
    decided = {
        name
        for gap in diagnosis.gaps
        if gap.verdict is Verdict.DISPARITY
        for name in (gap.a, gap.b)
    }
    rows = [_forest_row(diagnosis, each, axis, found=each.group in decided) for each in ranked]
    return ForestPlot(
        rows=tuple(rows),
        middle=axis.at(middle),
        middle_text=number(middle),
        low=axis.low,
        high=axis.high,
        low_text=number(axis.low),
        high_text=number(axis.high),
        shrunken=any(row.shrunken is not None for row in rows),
    )


def _forest_row(diagnosis: Diagnosis, group: GroupSummary, axis: Axis, *, found: bool) -> ForestRow:
    def at(value: float | None) -> float | None:
        return None if value is None else axis.at(value)

    mean, shrunken = group.mean, group.shrunken_mean
    return ForestRow(
        name=group.group,
        low=at(mean.low),
        value=at(mean.value),
        high=at(mean.high),
        shrunken=at(shrunken.value) if shrunken else None,
        text=_text(mean),
        found=found,
        answers=answers_query(diagnosis, group.group),
    )


def _values(group: GroupSummary) -> list[float]:
    shrunken = group.shrunken_mean.value if group.shrunken_mean else None
    found = (group.mean.low, group.mean.value, group.mean.high, shrunken)
    return [value for value in found if value is not None]


def _text(mean: Estimate) -> str:
    if mean.low is None or mean.high is None:
        return number(mean.value)
    return f"{number(mean.value)} ({number(mean.low)} to {number(mean.high)})"


@dataclass(frozen=True)
class SpreadBar:
    """How many answers of a group lie in one interval."""

    x: float
    width: float
    y: float
    height: float
    said: str


@dataclass(frozen=True)
class SpreadRow:
    """The answers of one group."""

    name: str
    bars: tuple[SpreadBar, ...]
    text: str
    answers: str


@dataclass(frozen=True)
class SpreadPlot:
    """How the answers of every group are spread, on one axis and one scale of shares."""

    rows: tuple[SpreadRow, ...]
    low: float
    high: float
    low_text: str
    high_text: str


def spreads_of(diagnosis: Diagnosis, values: Mapping[str, Sequence[float]]) -> SpreadPlot | None:
    """Return the histograms of some answers by group, in the order of the groups' medians."""
    every = sorted(value for some in values.values() for value in some)
    if not every:
        return None
    edges = histogram_edges(every)
    counts = {name: _counts(some, edges) for name, some in values.items() if some}
    most = max(max(each) / sum(each) for each in counts.values())
    ordered = sorted(counts, key=lambda name: (_median(values[name]), name))
    return SpreadPlot(
        rows=tuple(
            SpreadRow(
                name,
                tuple(_bars(counts[name], edges, most)),
                f"{len(values[name])} answers, median {number(_median(values[name]))}",
                answers_query(diagnosis, name),
            )
            for name in ordered
        ),
        low=edges[0],
        high=edges[-1],
        low_text=number(edges[0]),
        high_text=number(edges[-1]),
    )


def histogram_edges(every: Sequence[float], bins: int = BINS) -> list[float]:
    """Return the edges of bars of sorted values: around each where there are few, else evenly."""
    different = sorted(set(every))
    if len(different) == 1:
        return [different[0] - 0.5, different[0] + 0.5]
    if len(different) <= FEW_VALUES:
        between = [(a + b) / 2 for a, b in pairwise(different)]
        first = different[0] - (between[0] - different[0])
        return [first, *between, different[-1] + (different[-1] - between[-1])]
    low, high = every[0], every[-1]
    return [low + (high - low) * n / bins for n in range(bins + 1)]


def _counts(values: Sequence[float], edges: Sequence[float]) -> list[int]:
    counts = [0] * (len(edges) - 1)
    for value in values:
        inside = sum(value >= edge for edge in edges[1:-1])
        counts[inside] += 1
    return counts


def _bars(counts: Sequence[int], edges: Sequence[float], most: float) -> list[SpreadBar]:
    total, span = sum(counts), edges[-1] - edges[0]
    found = []
    for n, count in enumerate(counts):
        if not count:
            continue
        low, high = edges[n], edges[n + 1]
        height = BAR_HEIGHT * count / total / most
        x, width = ACROSS * (low - edges[0]) / span, ACROSS * (high - low) / span
        said = f"{count} of {total} from {number(low)} to {number(high)}"
        at, top = round(x + 2, 1), round(BAR_HEIGHT - height, 1)
        found.append(SpreadBar(at, max(1.0, round(width - 4, 1)), top, round(height, 1), said))
    return found


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
