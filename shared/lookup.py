"""Lookups that raise a sentence instead of StopIteration, and names likely meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TypeVar

T = TypeVar("T")
SIMILAR = 0.75
"""Least similarity of a misspelt name, as difflib measures it."""


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


def similar_name(name: str, known: Iterable[str]) -> str:
    """Return a sentence with the name likely meant, in any case of letters, or an empty text."""
    by_case = {candidate.casefold(): candidate for candidate in known}
    close = get_close_matches(name.casefold(), by_case, 1, SIMILAR)
    return f" Is {by_case[close[0]]!r} meant?" if close else ""
