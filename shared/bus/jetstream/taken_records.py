"""Which of the records that wait are handled together."""

from collections import deque

from biaswatch.shared.bus.port import Delivery

MAX_TAKEN_BYTES = 8 * 1024 * 1024
"""A batch ends there: what a handler makes of it is 3 to 4 times as large."""


def first_records(waiting: deque[Delivery], most: int) -> list[Delivery]:
    """Remove and return the first records: at most a number of them, and at least one."""
    taken, left = list[Delivery](), MAX_TAKEN_BYTES
    while waiting and len(taken) < most and left > 0:
        taken.append(waiting.popleft())
        left -= len(taken[-1].data)
    return taken
