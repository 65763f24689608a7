"""Lookups that raise a sentence instead of StopIteration, names likely meant, and groups."""

from collections import defaultdict
from collections.abc import Hashable, Iterable
from difflib import get_close_matches
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
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


def grouped(pairs: Iterable[tuple[K, T]]) -> defaultdict[K, list[T]]:
    """Return the values of each key, in the order of the pairs; a missing key has no values."""
    groups = defaultdict[K, list[T]](list)
    for key, value in pairs:
        groups[key].append(value)
    return groups
