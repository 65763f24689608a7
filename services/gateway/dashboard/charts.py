"""Small charts: where lines, bands, ticks and intervals lie in the units of the picture."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from math import ceil, floor, log10

from services.gateway.monitors.views import History, HistoryPoint
from shared.contracts import Diagnosis, Estimate, Gap, Verdict

MAX_TICKS = 5
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MARGIN = 0.06
"""Of the values shown: so that no line lies on the frame."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Axis:
    """Values along one direction of the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value; what lies outside is drawn at the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def padded_axis(values: Sequence[float], start: float, end: float) -> Axis:
    """Return a scale on which all values lie, with room at both ends."""
    low, high = min(values), max(values)
    pad = (high - low) * MARGIN or 1.0
    return Axis(low - pad, high + pad, start, end)


def ticks(low: float, high: float, most: int = MAX_TICKS) -> list[float]:
    """Return round numbers between two ends, at most so many."""
    raw = (high - low) / most
    power = 10.0 ** floor(log10(raw))
    step = next(step * power for step in STEPS if step * power >= raw * (1 - ROUNDING))
    first, last = ceil(low / step - ROUNDING), floor(high / step + ROUNDING)
    return [round(n * step, 12) + 0.0 for n in range(first, last + 1)]


WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 10, 30
MAX_ROUND_LABELS = 8
LONE_BAND_HALF_WIDTH = 3
"""Half the width of the band of a single round."""


@dataclass(frozen=True)
class Tick:
    """A labelled place on an axis."""

    at: float
    label: str


@dataclass(frozen=True)
class Chart:
    """All a template needs to draw."""

    title: str
    lines: list[str]
    """Polylines, as the points of SVG; one an epoch."""
    bands: list[str] = field(default_factory=list)
    """Polygons around the lines."""
    levels: list[Tick] = field(default_factory=list)
    """Horizontal lines that mean something, with what they mean."""
    ends: tuple[float, float] | None = None
    """Top and bottom of what does not matter."""
    breaks: list[float] = field(default_factory=list)
    """Where an epoch begins."""
    across: list[Tick] = field(default_factory=list)
    up: list[Tick] = field(default_factory=list)
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


def gap_chart(history: History) -> Chart:
    """Draw the gap with its confidence sequence, and what lies within the tolerance."""
    moments = history.moments
    tolerance = history.tolerance
    up = _y_axis([*_values_to_show(moments), tolerance, -tolerance, 0.0])
    across = _x_axis(moments)
    epochs = _epochs(moments)
    return Chart(
        title=f"Gap of {history.comparison} by round, with its confidence sequence",
        lines=[line for epoch in epochs for line in _gap_lines(epoch, across, up)],
        bands=[_band(epoch, across, up) for epoch in epochs],
        levels=[Tick(up.at(0.0), "")],
        ends=(up.at(tolerance), up.at(-tolerance)) if tolerance else None,
        breaks=_breaks(epochs, across),
        across=_x_labels(across),
        up=_y_labels(up),
    )


def evidence_chart(history: History) -> Chart:
    """Draw the log evidence for a disparity and the bound at which it alarms."""
    moments = history.moments
    bound = moments[-1].bound
    up = _y_axis([*(moment.log_e for moment in moments), bound, 0.0])
    across = _x_axis(moments)
    epochs = _epochs(moments)
    return Chart(
        title=f"Evidence of a disparity in {history.comparison} by round",
        lines=[_line([(m.round, m.log_e) for m in epoch], across, up) for epoch in epochs],
        levels=[Tick(up.at(0.0), ""), Tick(up.at(bound), "alarm")],
        breaks=_breaks(epochs, across),
        across=_x_labels(across),
        up=_y_labels(up),
    )


def _values_to_show(moments: Sequence[HistoryPoint]) -> list[float]:
    """Return what has to be seen: every gap, and the intervals of the later half.

    The first intervals are so wide that nothing else would be seen; they are cut off.
    """
    gaps = [moment.gap for moment in moments]
    later = gaps[len(gaps) // 2 :]
    shown = [*(gap.value for gap in gaps), *(end for gap in later for end in (gap.low, gap.high))]
    return [value for value in shown if value is not None]


def _y_axis(values: Iterable[float]) -> Axis:
    return padded_axis(list(values), HEIGHT - BOTTOM, TOP)


def _x_axis(moments: Sequence[HistoryPoint]) -> Axis:
    first, last = moments[0].round, moments[-1].round
    room = 0.0 if last > first else 0.5
    return Axis(first - room, last + room, LEFT, WIDTH - RIGHT)


def _epochs(moments: Iterable[HistoryPoint]) -> list[list[HistoryPoint]]:
    return [list(epoch) for _, epoch in groupby(moments, key=lambda moment: moment.epoch)]


def _breaks(epochs: Sequence[Sequence[HistoryPoint]], across: Axis) -> list[float]:
    return [across.at(epoch[0].round) for epoch in epochs[1:]]


def _gap_lines(epoch: Sequence[HistoryPoint], across: Axis, up: Axis) -> Iterator[str]:
    """Return a line for each stretch of rounds with a gap: none goes over what is undefined."""
    points = ((moment.round, moment.gap.value) for moment in epoch)
    for there, stretch in groupby(points, key=lambda point: point[1] is not None):
        if there:
            yield _line([(x, y) for x, y in stretch if y is not None], across, up)


def _line(points: Iterable[tuple[int, float]], across: Axis, up: Axis) -> str:
    return " ".join(f"{across.at(x)},{up.at(y)}" for x, y in points)


def _band(epoch: Sequence[HistoryPoint], across: Axis, up: Axis) -> str:
    """Go along the upper ends and back along the lower; no end is the edge of the picture."""
    highs = [(m.round, up.high if m.gap.high is None else m.gap.high) for m in epoch]
    lows = [(m.round, up.low if m.gap.low is None else m.gap.low) for m in epoch]
    if len(epoch) > 1:
        return _line([*highs, *reversed(lows)], across, up)
    at, high, low = across.at(epoch[0].round), up.at(highs[0][1]), up.at(lows[0][1])
    left, right = at - LONE_BAND_HALF_WIDTH, at + LONE_BAND_HALF_WIDTH
    return f"{left},{high} {right},{high} {right},{low} {left},{low}"


def _x_labels(across: Axis) -> list[Tick]:
    whole = [n for n in ticks(across.low, across.high, MAX_ROUND_LABELS) if n == int(n)]
    return [Tick(across.at(n), f"{n:.0f}") for n in whole]


def _y_labels(up: Axis) -> list[Tick]:
    return [Tick(up.at(n), f"{n:g}") for n in ticks(up.low, up.high)]


@dataclass(frozen=True)
class Whisker:
    """One estimate on a scale it shares with others."""

    low: float
    value: float | None
    high: float
    zero: float
    width: int = 180


def whiskers(estimates: Sequence[Estimate]) -> list[Whisker | None]:
    """Place estimates with their intervals on one scale; None for one that has no number."""
    values = [v for each in estimates for v in (each.value, each.low, each.high) if v is not None]
    scale = padded_axis([*values, 0.0], 0, Whisker.width)
    return [_whisker(each, scale) for each in estimates]


def _whisker(estimate: Estimate, scale: Axis) -> Whisker | None:
    if estimate.value is None and estimate.low is None and estimate.high is None:
        return None
    low = scale.low if estimate.low is None else estimate.low
    high = scale.high if estimate.high is None else estimate.high
    value = None if estimate.value is None else scale.at(estimate.value)
    return Whisker(scale.at(low), value, scale.at(high), scale.at(0.0))


MAX_GAPS = 30
VERDICT_ORDER = (Verdict.DISPARITY, Verdict.NO_DISPARITY, Verdict.NOT_ENOUGH)


def most_notable_first(diagnosis: Diagnosis) -> Diagnosis:
    """Return a diagnosis with its gaps in the order of what they say: disparities, then by p."""
    return diagnosis.model_copy(update={"gaps": tuple(sorted(diagnosis.gaps, key=_notability))})


def _notability(gap: Gap) -> tuple[int, float, float, str, str]:
    p = 1.0 if gap.p_adjusted is None else gap.p_adjusted
    return VERDICT_ORDER.index(gap.verdict), p, -abs(gap.gap.value or 0.0), gap.a, gap.b
