"""Lookups that raise a sentence instead of StopIteration."""

from collections.abc import Iterable
from typing import TypeVar

T = TypeVar("T")


def first(values: Iterable[T], missing: str) -> T:
    """Return the first value; unlike `next`, never raise StopIteration.

    Raises
    ------
    LookupError
        `values` is empty; its text is `missing`.
    """
    for value in values:
        return value
    raise LookupError(missing)
