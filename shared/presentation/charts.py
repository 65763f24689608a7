"""Charts of a monitor over time: axes, lines, bands, ticks, and the same as numbers."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import groupby
from math import ceil, floor, log10

from pydantic import BaseModel

from biaswatch.shared.contracts import Estimate
from biaswatch.shared.formatting import interval, number
from biaswatch.shared.requests.monitor_views import History, HistoryPoint

MAX_TICKS = 5
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MARGIN = 0.06
"""Of the values shown: so that no line lies on the frame."""
ROUNDING = 1e-9
WIDTH, HEIGHT = 480, 210
LEFT, RIGHT, TOP, BOTTOM = 60, 12, 10, 34
MAX_TIME_LABELS = 4
MOST_POINTS = 100
"""Of a longer history, points beside the line would hide it; its numbers are in the file."""
MINUTE_S, HOUR_S, DAY_S = 60, 3600, 86400
TIME_STEPS_S = (
    *(60, 120, 300, 600, 900, 1800, HOUR_S, 2 * HOUR_S, 3 * HOUR_S, 6 * HOUR_S, 12 * HOUR_S),
    *(DAY_S, 2 * DAY_S, 7 * DAY_S, 14 * DAY_S, 30 * DAY_S, 90 * DAY_S, 365 * DAY_S),
)
LONE_BAND_HALF_WIDTH = 3
"""Of a single round."""


@dataclass(frozen=True)
class Axis:
    """Values along one direction of the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the position of a value; what lies outside is drawn at the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def padded_axis(values: Sequence[float], start: float, end: float) -> Axis:
    """Return an axis that holds all values, padded at both ends."""
    low, high = min(values), max(values)
    pad = (high - low) * MARGIN or 1.0
    return Axis(low - pad, high + pad, start, end)


def ticks(low: float, high: float, most: int = MAX_TICKS) -> list[float]:
    """Return round numbers between two ends, at most `most`."""
    raw = (high - low) / most
    power = 10.0 ** floor(log10(raw))
    step = min(step * power for step in STEPS if step * power >= raw * (1 - ROUNDING))
    first, last = ceil(low / step - ROUNDING), floor(high / step + ROUNDING)
    return [round(n * step, 12) + 0.0 for n in range(first, last + 1)]


@dataclass(frozen=True)
class Tick:
    """A labelled position on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class ChartBound:
    """What an alarm needed over a stretch of rounds: a horizontal line from one x to another."""

    start: float
    end: float
    at: float


@dataclass(frozen=True)
class ChartPoint:
    """One round on a line, with its numbers for whoever points at it."""

    x: float
    y: float
    said: str


@dataclass(frozen=True)
class Chart:
    """Everything the template needs to draw a chart."""

    title: str
    lines: list[str]
    """Polylines as points of SVG."""
    x_ticks: list[Tick]
    y_ticks: list[Tick]
    levels: list[Tick]
    """Horizontal lines with their meaning."""
    epoch_starts: list[float]
    points: list[ChartPoint] = field(default_factory=list)
    bounds: list[ChartBound] = field(default_factory=list)
    bands: list[str] = field(default_factory=list)
    """Polygons around the lines."""
    tolerance: tuple[float, float] | None = None
    """Top and bottom of what lies within the tolerance."""
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
    epochs = _epochs(points)
    return Chart(
        title=f"Gap over time, with its confidence sequence: {title}",
        lines=[line for epoch in epochs for line in _gap_lines(epoch, x, y)],
        x_ticks=time_ticks(x),
        y_ticks=_value_ticks(y),
        levels=[Tick(y.at(0.0), "")],
        points=[
            ChartPoint(x.at(_time_s(point)), y.at(gap.value), _said(point, _gap_words(gap)))
            for point in points[-MOST_POINTS:]
            for gap in [point.gap]
            if gap.value is not None
        ],
        epoch_starts=[x.at(_time_s(epoch[0])) for epoch in epochs[1:]],
        bands=[_band(epoch, x, y) for epoch in epochs],
        tolerance=(y.at(tolerance), y.at(-tolerance)) if tolerance else None,
    )


def evidence_chart(history: History, title: str) -> Chart:
    """Draw the log evidence for a disparity and the bound at which it alarms in each round."""
    points = history.moments
    x, y = _x_axis(points), evidence_axis(history)
    epochs = _epochs(points)
    return Chart(
        title=f"Evidence of a disparity over time: {title}",
        lines=[
            _line([(_time_s(point), point.log_e) for point in test], x, y)
            for epoch in epochs
            for test in _tests(epoch)
        ],
        x_ticks=time_ticks(x),
        y_ticks=_value_ticks(y),
        levels=[Tick(y.at(0.0), "")],
        bounds=_bounds(points, x, y),
        points=[
            ChartPoint(
                x.at(_time_s(each)),
                y.at(each.log_e),
                _said(each, f"{number(each.log_e)} of {number(each.bound)} needed"),
            )
            for each in points[-MOST_POINTS:]
        ],
        epoch_starts=[x.at(_time_s(epoch[0])) for epoch in epochs[1:]],
    )


def gap_axis(history: History) -> Axis:
    """Return the axis of gaps, which shows what lies within the tolerance too."""
    end = history.tolerance
    return _y_axis([*_values_to_show(history.moments), end, -end, 0.0])


def evidence_axis(history: History) -> Axis:
    """Return the axis of the log evidence, which shows the bounds of alarms too."""
    points = history.moments
    return _y_axis([*(end for point in points for end in (point.log_e, point.bound)), 0.0])


def _bounds(points: Sequence[HistoryPoint], x: Axis, y: Axis) -> list[ChartBound]:
    """Return a line for each stretch of one bound, which later epochs and alarms raise."""
    stretches = [list(stretch) for _, stretch in groupby(points, key=lambda point: point.bound)]
    changes = [x.at(_time_s(stretch[0])) for stretch in stretches[1:]]
    ends = zip([LEFT, *changes], [*changes, WIDTH - RIGHT], strict=True)
    return [
        ChartBound(start, end, y.at(stretch[0].bound))
        for (start, end), stretch in zip(ends, stretches, strict=True)
    ]


def _values_to_show(points: Sequence[HistoryPoint]) -> list[float]:
    """Return every gap, and the intervals of the later half.

    The first intervals are so wide that nothing else would be seen; they are cut off.
    """
    gaps = [point.gap for point in points]
    later = gaps[len(gaps) // 2 :]
    shown = [*(gap.value for gap in gaps), *(end for gap in later for end in (gap.low, gap.high))]
    return [value for value in shown if value is not None]


def _y_axis(values: Sequence[float]) -> Axis:
    return padded_axis(values, HEIGHT - BOTTOM, TOP)


def _x_axis(points: Sequence[HistoryPoint]) -> Axis:
    first, last = _time_s(points[0]), _time_s(points[-1])
    pad = 0.0 if last > first else MINUTE_S
    return Axis(first - pad, last + pad, LEFT, WIDTH - RIGHT)


def _epochs(points: Iterable[HistoryPoint]) -> list[list[HistoryPoint]]:
    return [list(epoch) for _, epoch in groupby(points, key=lambda point: point.epoch)]


def _tests(epoch: Iterable[HistoryPoint]) -> list[list[HistoryPoint]]:
    return [list(test) for _, test in groupby(epoch, key=lambda point: point.test)]


def _gap_lines(epoch: Sequence[HistoryPoint], x: Axis, y: Axis) -> Iterator[str]:
    """Return a line for each stretch of rounds with a gap; none crosses an undefined gap."""
    gaps = ((_time_s(point), point.gap.value) for point in epoch)
    for defined, stretch in groupby(gaps, key=lambda gap: gap[1] is not None):
        if defined:
            yield _line([(at, value) for at, value in stretch if value is not None], x, y)


def _line(points: Iterable[tuple[float, float]], x: Axis, y: Axis) -> str:
    return " ".join(f"{x.at(at)},{y.at(value)}" for at, value in points)


def _band(epoch: Sequence[HistoryPoint], x: Axis, y: Axis) -> str:
    """Return a polygon along the upper ends and back; an open end is the edge of the picture."""
    highs = [(_time_s(p), y.high if p.gap.high is None else p.gap.high) for p in epoch]
    lows = [(_time_s(p), y.low if p.gap.low is None else p.gap.low) for p in epoch]
    if len(epoch) > 1:
        return _line([*highs, *reversed(lows)], x, y)
    at, high, low = x.at(_time_s(epoch[0])), y.at(highs[0][1]), y.at(lows[0][1])
    left, right = at - LONE_BAND_HALF_WIDTH, at + LONE_BAND_HALF_WIDTH
    return f"{left},{high} {right},{high} {right},{low} {left},{low}"


def time_ticks(x: Axis) -> list[Tick]:
    """Return round moments of an axis of seconds, in UTC; days where it is long."""
    fits = [step for step in TIME_STEPS_S if (x.high - x.low) / step <= MAX_TIME_LABELS]
    step_s = fits[0] if fits else TIME_STEPS_S[-1]
    first = ceil(x.low / step_s) * step_s
    moments = range(int(first), int(x.high) + 1, step_s)
    written = "%d %b" if step_s >= DAY_S else "%H:%M"
    if step_s < DAY_S < x.high - x.low:
        written = "%d %b %H:%M"
    return [
        Tick(x.at(each), datetime.fromtimestamp(each, UTC).strftime(written)) for each in moments
    ]


def _time_s(point: HistoryPoint) -> float:
    return point.at.timestamp()


def _gap_words(gap: Estimate) -> str:
    return f"gap {interval(gap.value, gap.low, gap.high, gap.reason)}"


def _said(point: HistoryPoint, value: str) -> str:
    return f"{point.at:%Y-%m-%d %H:%M}, round {point.round}: {value}"


def _value_ticks(y: Axis) -> list[Tick]:
    return [Tick(y.at(n), f"{n:g}") for n in ticks(y.low, y.high)]


class ChartColumns(BaseModel):
    """One comparison over time; every list has one value a round, null where there is none."""

    comparison: str
    title: str
    tolerance: float
    range: tuple[float, float]
    """Of the gap, as the page's own picture shows it."""
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
    bound: list[float]


def chart_columns(history: History, title: str) -> ChartColumns:
    """Return the numbers of one comparison's charts."""
    gap, evidence = gap_axis(history), evidence_axis(history)

    def each(of: Callable[[HistoryPoint], float | int | None]) -> list[float | int | None]:
        return [of(point) for point in history.moments]

    return ChartColumns.model_validate(
        {
            "comparison": history.comparison,
            "title": title,
            "tolerance": history.tolerance,
            "range": (gap.low, gap.high),
            "evidence_range": (evidence.low, evidence.high),
            "at": each(lambda point: point.at.timestamp()),
            "gap": each(lambda point: point.gap.value),
            "low": each(lambda point: point.gap.low),
            "high": each(lambda point: point.gap.high),
            **{
                name: [getattr(point, name) for point in history.moments]
                for name in ("round", "epoch", "test", "units", "log_e", "bound")
            },
        }
    )


def in_time(
    histories: Iterable[History], ends: Mapping[int, datetime], since: datetime | None
) -> list[History]:
    """Return histories since a moment; a round of traffic has the moment at which it ended.

    A history that would have fewer than two rounds stays whole.
    """
    found = []
    for history in histories:
        moments = [
            point.model_copy(update={"at": ends.get(point.round, point.at)})
            for point in history.moments
        ]
        recent = [point for point in moments if since is None or point.at >= since]
        shown = recent if len(recent) > 1 else moments
        found.append(history.model_copy(update={"moments": shown}))
    return found


RANGES = {"day": timedelta(days=1), "week": timedelta(days=7), "month": timedelta(days=30)}
"""Of the charts; anything else is all there is."""
