"""Why a number in an array is undefined: small codes, and the sentence fragment for each."""

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Codes = NDArray[np.int8]
Column = tuple[Floats, Codes]
"""Values of one statistic, one per cell, nan where undefined; and why, in parallel."""


class Reason(IntEnum):
    """Why there is no number; DEFINED where there is one."""

    DEFINED = 0
    NO_VALUES = 1
    ONE_VALUE = 2
    CONSTANT = 3
    NO_BASELINE = 4
    NO_PAIRS = 5
    ONE_PAIR = 6
    CONSTANT_BASELINE = 7
    NO_STANDARD = 8
    NOT_FINITE = 9
    NO_GROUPS = 10
    ONE_GROUP = 11
    TWO_GROUPS = 12
    EQUAL_GROUPS = 13
    MAXIMUM_ZERO = 14
    NEGATIVE = 15
    NOT_A_RATE = 16
    NOT_SIMULATED = 17
    NO_BASELINE_VALUES = 19
    ONE_UNIT_EACH = 20


SENTENCES: dict[Reason, str] = {
    Reason.NO_VALUES: "no values",
    Reason.ONE_VALUE: "one value has no spread",
    Reason.CONSTANT: "all values are equal",
    Reason.NO_BASELINE: "the table has no baseline",
    Reason.NO_BASELINE_VALUES: "no baseline values",
    Reason.NO_PAIRS: "no row has both a value and a baseline value",
    Reason.ONE_PAIR: "one pair of values has no correlation",
    Reason.CONSTANT_BASELINE: "all baseline values are equal",
    Reason.NO_STANDARD: "the feature has no value in any group, so there is no standard",
    Reason.NOT_FINITE: "the calculation gave no finite number: the values may be too large",
    Reason.NO_GROUPS: "no group has a value",
    Reason.ONE_GROUP: "only one group has a value",
    Reason.TWO_GROUPS: "fewer than three groups have a value",
    Reason.EQUAL_GROUPS: "all groups are equal",
    Reason.MAXIMUM_ZERO: "the largest value is 0: there is nothing to divide by",
    Reason.NEGATIVE: "a ratio of values below 0 has no meaning",
    Reason.NOT_A_RATE: "an impact ratio compares selection rates",
    Reason.ONE_UNIT_EACH: "no group has two units, so that nothing shows how much they vary",
    Reason.NOT_SIMULATED: "no simulation was requested",
}


def sentence(code: int) -> str | None:
    """Return the sentence fragment of a code, or None where the number is defined."""
    return SENTENCES.get(Reason(code))


def with_reasons(values: Floats, *, first_of: list[tuple[NDArray[np.bool_], Reason]]) -> Column:
    """Return the values with nan where a condition holds, and the first reason that does.

    Where no condition holds and the value is still not finite, arithmetic overflowed, and that is
    the reason.
    """
    codes = np.zeros(values.shape, dtype=np.int8)
    for condition, reason in reversed(first_of):
        codes[condition] = reason
    codes[~np.isfinite(values) & (codes == Reason.DEFINED)] = Reason.NOT_FINITE
    return np.where(codes == Reason.DEFINED, values, np.nan), codes
