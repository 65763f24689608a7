"""The text of a label: 1 and 1.0 name the same group, and whole numbers keep every digit."""

from decimal import Decimal
from math import isfinite

WRITTEN_OUT_BELOW = 10**21
"""Larger floats that are whole keep their exponent, as in JavaScript: 1e+300."""


def label_text(value: object) -> str:
    """Return a value as a label; a float or Decimal that is whole reads as the whole number."""
    if not isinstance(value, float | Decimal) or not isfinite(value):
        return str(value)
    whole = int(value)
    return str(whole) if whole == value and abs(whole) < WRITTEN_OUT_BELOW else str(value)
