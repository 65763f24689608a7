"""Estimates with their intervals, drawn beside one another on one scale."""

from collections.abc import Sequence
from dataclasses import dataclass

from services.gateway.domain.scales import Scale, padded
from shared.contracts import Estimate


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
    scale = padded([*values, 0.0], 0, Whisker.width)
    return [_whisker(each, scale) for each in estimates]


def _whisker(estimate: Estimate, scale: Scale) -> Whisker | None:
    if estimate.value is None and estimate.low is None and estimate.high is None:
        return None
    low = scale.low if estimate.low is None else estimate.low
    high = scale.high if estimate.high is None else estimate.high
    value = None if estimate.value is None else scale.at(estimate.value)
    return Whisker(scale.at(low), value, scale.at(high), scale.at(0.0))
