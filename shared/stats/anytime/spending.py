"""How alpha is shared among tests that begin one after another, without an end."""

from math import pi

GAPS = 1 / 2
"""Of alpha, for gaps beyond the tolerance."""
CHANGES = 1 / 8
"""Of alpha, four times: for references and for detectors, of changes of gap and of level."""


def alpha_of_gap_test(alpha: float, number: int) -> float:
    """Return the chance of a false alarm that one test of a whole family's gaps may have."""
    return alpha * GAPS * share_of_test(number)


def alpha_of_search(alpha: float, family: int, number: int) -> float:
    """Return that of one member's search for changes: for the detector, and for its references."""
    return alpha * CHANGES * share_of_test(number) / family


def share_of_test(number: int) -> float:
    """Return the share of alpha of the test with this number: 6 / (pi number)^2.

    The shares of all tests that can ever begin sum to 1, so that the chance of any false alarm of
    any of them is at most alpha, however many there will be and whatever makes one begin.

    Parameters
    ----------
    number
        Which test it is, from 1.

    Raises
    ------
    ValueError
        For a number below 1.
    """
    if number < 1:
        raise ValueError(f"tests are counted from 1, not from {number}")
    return 6 / (pi * number) ** 2


def share_left(number: int) -> float:
    """Return the share of alpha that is left once the test with this number has begun."""
    return max(0.0, 1 - sum(share_of_test(each) for each in range(1, number + 1)))


def share_of_attempt(number: int) -> float:
    """Return the share of the attempt with this number, of attempts that may go on for ever.

    1 / (number (number + 1)): the shares sum to 1.
    """
    if number < 1:
        raise ValueError(f"attempts are counted from 1, not from {number}")
    return 1 / (number * (number + 1))
