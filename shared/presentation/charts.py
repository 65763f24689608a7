"""Charts of a monitor over time: axes, lines, bands, ticks, and the same as numbers."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import groupby
from math import ceil, floor, log10

from pydantic import BaseModel

from biaswatch.shared.contracts import Estimate
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.tables import estimate_text
from biaswatch.shared.requests.monitor_views import History, HistoryPoint

MAX_TICKS, MAX_TIME_TICKS = 5, 4
TICK_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
PADDING = 0.06
"""Share of the values' range that an axis adds at each end."""
ROUNDING = 1e-9
WIDTH, HEIGHT = 480, 210
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 10, 34
MAX_POINTS = 100
"""Rounds with a point to hover over; more would hide the line."""
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
TIME_STEPS_S = (
    *(60, 120, 300, 600, 900, 1800, HOUR_S, 2 * HOUR_S, 3 * HOUR_S, 6 * HOUR_S, 12 * HOUR_S),
    *(DAY_S, 2 * DAY_S, 7 * DAY_S, 14 * DAY_S, 30 * DAY_S, 90 * DAY_S, 365 * DAY_S),
)
LONE_BAND_HALF_WIDTH = 3
"""Half width of the band of a single round."""


@dataclass(frozen=True)
class Axis:
    """Map from values to positions."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the position of a value, at the edge if it lies outside."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def padded_axis(values: Sequence[float], start: float, end: float) -> Axis:
    """Return an axis that holds all values, padded at both ends."""
    low, high = min(values), max(values)
    padding = (high - low) * PADDING or 1.0
    return Axis(low - padding, high + padding, start, end)


def ticks(low: float, high: float, max_ticks: int = MAX_TICKS) -> list[float]:
    """Return round numbers between two ends."""
    spacing = (high - low) / max_ticks
    power = 10.0 ** floor(log10(spacing))
    step = min(step * power for step in TICK_STEPS if step * power >= spacing * (1 - ROUNDING))
    first, last = ceil(low / step - ROUNDING), floor(high / step + ROUNDING)
    return [round(n * step, 12) + 0.0 for n in range(first, last + 1)]


@dataclass(frozen=True)
class Tick:
    """A labelled position on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class AlarmBound:
    """Evidence needed for an alarm over a stretch of rounds: a horizontal line."""

    start: float
    end: float
    at: float


@dataclass(frozen=True)
class ChartPoint:
    """One round on a line, with its numbers in words."""

    x: float
    y: float
    title: str


@dataclass(frozen=True)
class Chart:
    """Positions of everything in a chart."""

    title: str
    lines: list[str]
    """Polylines as points of SVG."""
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    levels: list[Tick]
    """Horizontal reference lines."""
    epoch_starts: list[float]
    points: list[ChartPoint]
    bounds: list[AlarmBound] = field(default_factory=list)
    group_effect_lines: list[str] = field(default_factory=list)
    """Polylines of the evidence of a group effect."""
    bands: list[str] = field(default_factory=list)
    """Polygons around the lines."""
    tolerance: tuple[float, float] | None = None
    """Top and bottom of the area within the tolerance."""
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def gap_chart(history: History, title: str) -> Chart:
    """Draw the gap with its confidence sequence, and the tolerance."""
    points, tolerance = history.moments, history.tolerance
    x, y = _x_axis(points), gap_axis(history)
    epochs = _stretches(points, lambda point: point.epoch)
    lines = [
        [(_time_s(point), point.gap.value or 0.0) for point in stretch]
        for epoch in epochs
        for stretch in _stretches(epoch, lambda point: point.gap.value is not None)
        if stretch[0].gap.value is not None
    ]
    return Chart(
        title=f"Gap over time, with its confidence sequence: {title}",
        lines=[_line(line, x, y) for line in lines],
        x_ticks=time_ticks(x),
        y_ticks=_value_ticks(y),
        levels=[Tick(y.at(0.0), "")],
        epoch_starts=[x.at(_time_s(epoch[0])) for epoch in epochs[1:]],
        points=[
            _point(point, x, y.at(point.gap.value), f"gap {estimate_text(point.gap)}")
            for point in points[-MAX_POINTS:]
            if point.gap.value is not None
        ],
        bands=[_band(epoch, x, y) for epoch in epochs],
        tolerance=(y.at(tolerance), y.at(-tolerance)) if tolerance else None,
    )


def evidence_chart(history: History, title: str) -> Chart:
    """Draw the log evidence of disparity and group effect, and the bound."""
    points = history.moments
    x, y = _x_axis(points), evidence_axis(history)
    epochs = _stretches(points, lambda point: point.epoch)
    tests = [test for epoch in epochs for test in _stretches(epoch, lambda point: point.test)]
    bounds = _stretches(points, lambda point: point.bound)
    edges = [LEFT, *(x.at(_time_s(stretch[0])) for stretch in bounds[1:]), WIDTH - RIGHT]
    return Chart(
        title=f"Evidence of a disparity over time: {title}",
        lines=[_line([(_time_s(point), point.log_e) for point in test], x, y) for test in tests],
        group_effect_lines=[
            _line([(_time_s(p), e) for p in test if (e := p.log_e_effect) is not None], x, y)
            for test in tests
        ],
        x_ticks=time_ticks(x),
        y_ticks=_value_ticks(y),
        levels=[Tick(y.at(0.0), "")],
        epoch_starts=[x.at(_time_s(epoch[0])) for epoch in epochs[1:]],
        points=[
            _point(
                point,
                x,
                y.at(point.log_e),
                f"{number(point.log_e)} of {number(point.bound)} needed",
            )
            for point in points[-MAX_POINTS:]
        ],
        bounds=[
            AlarmBound(start, end, y.at(stretch[0].bound))
            for start, end, stretch in zip(edges, edges[1:], bounds, strict=False)
        ],
    )


def gap_axis(history: History) -> Axis:
    """Return the axis of a comparison's gaps."""
    gaps = [point.gap for point in history.moments]
    return _y_axis(gap_axis_values(gaps, history.tolerance))


def gap_axis_values(gaps: Sequence[Estimate], tolerance: float) -> list[float]:
    """Return the values on an axis: all gaps, the tolerance, intervals of the later half.

    The first intervals are wide and would hide everything else; they are cut off at the edge.
    """
    ends = (end for gap in gaps[len(gaps) // 2 :] for end in (gap.low, gap.high))
    values = [*(gap.value for gap in gaps), *ends]
    return [*(value for value in values if value is not None), tolerance, -tolerance, 0.0]


def evidence_axis(history: History) -> Axis:
    """Return the axis of the log evidence and the bounds for alarms."""
    points = history.moments
    ends = [end for p in points for end in (p.log_e, p.log_e_effect, p.bound) if end is not None]
    return _y_axis([*ends, 0.0])


def time_ticks(x: Axis) -> list[Tick]:
    """Return round moments of an axis of seconds, in UTC; days where it is long."""
    length_s = x.high - x.low
    fitting = [step for step in TIME_STEPS_S if length_s / step <= MAX_TIME_TICKS]
    step_s = fitting[0] if fitting else TIME_STEPS_S[-1]
    pattern = "%d %b" if step_s >= DAY_S else "%H:%M"
    if step_s < DAY_S < length_s:
        pattern = "%d %b %H:%M"
    first = ceil(x.low / step_s) * step_s
    moments = range(int(first), int(x.high) + 1, step_s)
    return [Tick(x.at(s), datetime.fromtimestamp(s, UTC).strftime(pattern)) for s in moments]


def _y_axis(values: Sequence[float]) -> Axis:
    return padded_axis(values, HEIGHT - BOTTOM, TOP)


def _x_axis(points: Sequence[HistoryPoint]) -> Axis:
    first, last = _time_s(points[0]), _time_s(points[-1])
    padding = 0.0 if last > first else MINUTE_S
    return Axis(first - padding, last + padding, LEFT, WIDTH - RIGHT)


def _stretches(
    points: Iterable[HistoryPoint], key: Callable[[HistoryPoint], object]
) -> list[list[HistoryPoint]]:
    """Return consecutive rounds that share a property."""
    return [list(stretch) for _, stretch in groupby(points, key=key)]


def _line(points: Iterable[tuple[float, float]], x: Axis, y: Axis) -> str:
    return " ".join(f"{x.at(at)},{y.at(value)}" for at, value in points)


def _band(epoch: Sequence[HistoryPoint], x: Axis, y: Axis) -> str:
    """Return a polygon between the ends of the intervals; open ends reach the edge."""
    highs = [(_time_s(p), y.high if p.gap.high is None else p.gap.high) for p in epoch]
    lows = [(_time_s(p), y.low if p.gap.low is None else p.gap.low) for p in epoch]
    if len(epoch) > 1:
        return _line([*highs, *reversed(lows)], x, y)
    at, high, low = x.at(_time_s(epoch[0])), y.at(highs[0][1]), y.at(lows[0][1])
    left, right = at - LONE_BAND_HALF_WIDTH, at + LONE_BAND_HALF_WIDTH
    return f"{left},{high} {right},{high} {right},{low} {left},{low}"


def _point(point: HistoryPoint, x: Axis, y: float, numbers: str) -> ChartPoint:
    title = f"{point.at:%Y-%m-%d %H:%M}, round {point.round}: {numbers}"
    return ChartPoint(x.at(_time_s(point)), y, title)


def _time_s(point: HistoryPoint) -> float:
    return point.at.timestamp()


def _value_ticks(y: Axis) -> list[Tick]:
    return [Tick(y.at(n), f"{n:g}") for n in ticks(y.low, y.high)]


class ChartColumns(BaseModel):
    """One comparison over time for the script of the page, a value per round."""

    comparison: str
    title: str
    tolerance: float
    range: tuple[float, float]
    """Ends of the axis of gaps."""
    evidence_range: tuple[float, float]
    at: list[float]
    """Seconds since 1970."""
    round: list[int]
    epoch: list[int]
    test: list[int | None]
    units: list[int]
    gap: list[float | None]
    low: list[float | None]
    high: list[float | None]
    log_e: list[float]
    log_e_effect: list[float | None]
    bound: list[float]


def chart_columns(history: History, title: str) -> ChartColumns:
    """Return the numbers of one comparison's charts."""
    gap, evidence = gap_axis(history), evidence_axis(history)
    points = history.moments
    return ChartColumns(
        comparison=history.comparison,
        title=title,
        tolerance=history.tolerance,
        range=(gap.low, gap.high),
        evidence_range=(evidence.low, evidence.high),
        at=[_time_s(point) for point in points],
        round=[point.round for point in points],
        epoch=[point.epoch for point in points],
        test=[point.test for point in points],
        units=[point.units for point in points],
        gap=[point.gap.value for point in points],
        low=[point.gap.low for point in points],
        high=[point.gap.high for point in points],
        log_e=[point.log_e for point in points],
        log_e_effect=[point.log_e_effect for point in points],
        bound=[point.bound for point in points],
    )
