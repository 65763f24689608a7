"""Where the lines, bands and ticks of a small chart lie, in the units of its picture."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from services.gateway.domain.histories import History, Moment
from services.gateway.domain.scales import Scale, padded, ticks

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 64, 12, 10, 30
MOST_ROUND_LABELS = 8
ALONE = 3
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
    up = _upwards([*_telling(moments), tolerance, -tolerance, 0.0])
    across = _along(moments)
    epochs = _epochs(moments)
    return Chart(
        title=f"Gap of {history.comparison} by round, with its confidence sequence",
        lines=[line for epoch in epochs for line in _gap_lines(epoch, across, up)],
        bands=[_band(epoch, across, up) for epoch in epochs],
        levels=[Tick(up.at(0.0), "")],
        ends=(up.at(tolerance), up.at(-tolerance)) if tolerance else None,
        breaks=_breaks(epochs, across),
        across=_rounds(across),
        up=_labels(up),
    )


def evidence_chart(history: History) -> Chart:
    """Draw the log evidence for a disparity and the bound at which it alarms."""
    moments = history.moments
    bound = moments[-1].bound
    up = _upwards([*(moment.log_e for moment in moments), bound, 0.0])
    across = _along(moments)
    epochs = _epochs(moments)
    return Chart(
        title=f"Evidence of a disparity in {history.comparison} by round",
        lines=[_line([(m.round, m.log_e) for m in epoch], across, up) for epoch in epochs],
        levels=[Tick(up.at(0.0), ""), Tick(up.at(bound), "alarm")],
        breaks=_breaks(epochs, across),
        across=_rounds(across),
        up=_labels(up),
    )


def _telling(moments: Sequence[Moment]) -> list[float]:
    """Return what has to be seen: every gap, and the intervals of the later half.

    The first intervals are so wide that nothing else would be seen; they are cut off.
    """
    gaps = [moment.gap for moment in moments]
    later = gaps[len(gaps) // 2 :]
    shown = [*(gap.value for gap in gaps), *(end for gap in later for end in (gap.low, gap.high))]
    return [value for value in shown if value is not None]


def _upwards(values: Iterable[float]) -> Scale:
    return padded(list(values), HEIGHT - BOTTOM, TOP)


def _along(moments: Sequence[Moment]) -> Scale:
    first, last = moments[0].round, moments[-1].round
    room = 0.0 if last > first else 0.5
    return Scale(first - room, last + room, LEFT, WIDTH - RIGHT)


def _epochs(moments: Iterable[Moment]) -> list[list[Moment]]:
    return [list(epoch) for _, epoch in groupby(moments, key=lambda moment: moment.epoch)]


def _breaks(epochs: Sequence[Sequence[Moment]], across: Scale) -> list[float]:
    return [across.at(epoch[0].round) for epoch in epochs[1:]]


def _gap_lines(epoch: Sequence[Moment], across: Scale, up: Scale) -> Iterator[str]:
    """Return a line for each stretch of rounds with a gap: none goes over what is undefined."""
    points = ((moment.round, moment.gap.value) for moment in epoch)
    for there, stretch in groupby(points, key=lambda point: point[1] is not None):
        if there:
            yield _line([(x, y) for x, y in stretch if y is not None], across, up)


def _line(points: Iterable[tuple[int, float]], across: Scale, up: Scale) -> str:
    return " ".join(f"{across.at(x)},{up.at(y)}" for x, y in points)


def _band(epoch: Sequence[Moment], across: Scale, up: Scale) -> str:
    """Go along the upper ends and back along the lower; no end is the edge of the picture."""
    highs = [(m.round, up.high if m.gap.high is None else m.gap.high) for m in epoch]
    lows = [(m.round, up.low if m.gap.low is None else m.gap.low) for m in epoch]
    if len(epoch) > 1:
        return _line([*highs, *reversed(lows)], across, up)
    at, high, low = across.at(epoch[0].round), up.at(highs[0][1]), up.at(lows[0][1])
    left, right = at - ALONE, at + ALONE
    return f"{left},{high} {right},{high} {right},{low} {left},{low}"


def _rounds(across: Scale) -> list[Tick]:
    whole = [n for n in ticks(across.low, across.high, MOST_ROUND_LABELS) if n == int(n)]
    return [Tick(across.at(n), f"{n:.0f}") for n in whole]


def _labels(up: Scale) -> list[Tick]:
    return [Tick(up.at(n), f"{n:g}") for n in ticks(up.low, up.high)]
