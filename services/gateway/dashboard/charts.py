"""Small charts: where lines, bands, ticks and intervals lie in the units of the picture."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil, floor, log10

from services.gateway.monitors.views import History, HistoryPoint
from shared.contracts import Estimate

MAX_TICKS = 5
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MARGIN = 0.06
"""Of the values shown: so that no line lies on the frame."""
ROUNDING = 1e-9
WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 10, 30
MAX_ROUND_LABELS = 8
LONE_BAND_HALF_WIDTH = 3
"""Half the width of the band of a single round."""


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
    step = next(step * power for step in STEPS if step * power >= raw * (1 - ROUNDING))
    first, last = ceil(low / step - ROUNDING), floor(high / step + ROUNDING)
    return [round(n * step, 12) + 0.0 for n in range(first, last + 1)]


@dataclass(frozen=True)
class Tick:
    """A labelled position on an axis."""

    at: float
    label: str


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


def gap_chart(history: History) -> Chart:
    """Draw the gap with its confidence sequence, and the tolerance."""
    points, tolerance = history.moments, history.tolerance
    x, y = _x_axis(points), _y_axis([*_values_to_show(points), tolerance, -tolerance, 0.0])
    epochs = _epochs(points)
    return Chart(
        title=f"Gap of {history.comparison} by round, with its confidence sequence",
        lines=[line for epoch in epochs for line in _gap_lines(epoch, x, y)],
        x_ticks=_round_ticks(x),
        y_ticks=_value_ticks(y),
        levels=[Tick(y.at(0.0), "")],
        epoch_starts=[x.at(epoch[0].round) for epoch in epochs[1:]],
        bands=[_band(epoch, x, y) for epoch in epochs],
        tolerance=(y.at(tolerance), y.at(-tolerance)) if tolerance else None,
    )


def evidence_chart(history: History) -> Chart:
    """Draw the log evidence for a disparity and the bound at which it alarms."""
    points = history.moments
    bound = points[-1].bound
    x, y = _x_axis(points), _y_axis([*(point.log_e for point in points), bound, 0.0])
    epochs = _epochs(points)
    return Chart(
        title=f"Evidence of a disparity in {history.comparison} by round",
        lines=[
            _line([(point.round, point.log_e) for point in test], x, y)
            for epoch in epochs
            for test in _tests(epoch)
        ],
        x_ticks=_round_ticks(x),
        y_ticks=_value_ticks(y),
        levels=[Tick(y.at(0.0), ""), Tick(y.at(bound), "alarm")],
        epoch_starts=[x.at(epoch[0].round) for epoch in epochs[1:]],
    )


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
    first, last = points[0].round, points[-1].round
    pad = 0.0 if last > first else 0.5
    return Axis(first - pad, last + pad, LEFT, WIDTH - RIGHT)


def _epochs(points: Iterable[HistoryPoint]) -> list[list[HistoryPoint]]:
    return [list(epoch) for _, epoch in groupby(points, key=lambda point: point.epoch)]


def _tests(epoch: Iterable[HistoryPoint]) -> list[list[HistoryPoint]]:
    return [list(test) for _, test in groupby(epoch, key=lambda point: point.test)]


def _gap_lines(epoch: Sequence[HistoryPoint], x: Axis, y: Axis) -> Iterator[str]:
    """Return a line for each stretch of rounds with a gap; none crosses an undefined gap."""
    gaps = ((point.round, point.gap.value) for point in epoch)
    for defined, stretch in groupby(gaps, key=lambda gap: gap[1] is not None):
        if defined:
            yield _line([(at, value) for at, value in stretch if value is not None], x, y)


def _line(points: Iterable[tuple[int, float]], x: Axis, y: Axis) -> str:
    return " ".join(f"{x.at(at)},{y.at(value)}" for at, value in points)


def _band(epoch: Sequence[HistoryPoint], x: Axis, y: Axis) -> str:
    """Return a polygon along the upper ends and back; an open end is the edge of the picture."""
    highs = [(p.round, y.high if p.gap.high is None else p.gap.high) for p in epoch]
    lows = [(p.round, y.low if p.gap.low is None else p.gap.low) for p in epoch]
    if len(epoch) > 1:
        return _line([*highs, *reversed(lows)], x, y)
    at, high, low = x.at(epoch[0].round), y.at(highs[0][1]), y.at(lows[0][1])
    left, right = at - LONE_BAND_HALF_WIDTH, at + LONE_BAND_HALF_WIDTH
    return f"{left},{high} {right},{high} {right},{low} {left},{low}"


def _round_ticks(x: Axis) -> list[Tick]:
    whole = [n for n in ticks(x.low, x.high, MAX_ROUND_LABELS) if n == int(n)]
    return [Tick(x.at(n), f"{n:.0f}") for n in whole]


def _value_ticks(y: Axis) -> list[Tick]:
    return [Tick(y.at(n), f"{n:g}") for n in ticks(y.low, y.high)]


@dataclass(frozen=True)
class Whisker:
    """One estimate on an axis it shares with others."""

    low: float
    value: float | None
    high: float
    zero: float
    width: int = 180


def whiskers(estimates: Sequence[Estimate]) -> list[Whisker | None]:
    """Draw estimates with their intervals on one axis; None for an estimate without a number."""
    values = [v for each in estimates for v in (each.value, each.low, each.high) if v is not None]
    axis = padded_axis([*values, 0.0], 0, Whisker.width)
    found: list[Whisker | None] = []
    for each in estimates:
        if each.value is None and each.low is None and each.high is None:
            found.append(None)
            continue
        low = axis.low if each.low is None else each.low
        high = axis.high if each.high is None else each.high
        value = None if each.value is None else axis.at(each.value)
        found.append(Whisker(axis.at(low), value, axis.at(high), axis.at(0.0)))
    return found
