"""Where values lie along one direction of a picture, and which round numbers label it."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

MOST_TICKS = 5
STEPS = (1.0, 2.0, 2.5, 5.0, 10.0)
MARGIN = 0.06
"""Of the values shown: so that no line lies on the frame."""
ROUNDING = 1e-9


@dataclass(frozen=True)
class Scale:
    """Values along one direction of the picture."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        """Return the place of a value; what lies outside is drawn at the edge."""
        share = (min(max(value, self.low), self.high) - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)


def padded(values: Sequence[float], start: float, end: float) -> Scale:
    """Return a scale on which all values lie, with room at both ends."""
    low, high = min(values), max(values)
    pad = (high - low) * MARGIN or 1.0
    return Scale(low - pad, high + pad, start, end)


def ticks(low: float, high: float, most: int = MOST_TICKS) -> list[float]:
    """Return round numbers between two ends, at most so many."""
    raw = (high - low) / most
    power = 10.0 ** floor(log10(raw))
    step = next(step * power for step in STEPS if step * power >= raw * (1 - ROUNDING))
    first, last = ceil(low / step - ROUNDING), floor(high / step + ROUNDING)
    return [round(n * step, 12) + 0.0 for n in range(first, last + 1)]
