"""What a 2x2 table says, as a verdict and a sentence."""

from collections.abc import Mapping
from typing import Any

from biaswatch.shared.formatting import interval, number, p_equals


def conclusion_of(found: Mapping[str, Any], alpha: float) -> tuple[str, str]:
    """Return the verdict of the declared test, and what it says of the two groups."""
    p, gap = found["declared"]["p_value"], found["risk_difference"]
    is_disparity = p is not None and p <= alpha
    rates = [number(rate["estimate"]) for rate in found["rates"]]
    low, high = gap["ci"] or (None, None)
    test = f", {p_equals(p, 3)}" if p is not None else ""
    first, second = found["groups"]
    words = "a disparity" if is_disparity else "not enough evidence for a disparity"
    said = interval(gap["estimate"], low, high, gap["reason"])
    sentence = (
        f"{first} {rates[0]} against {second} {rates[1]}: {words} (risk difference {said}{test})."
    )
    return "disparity" if is_disparity else "not_enough_evidence", sentence
