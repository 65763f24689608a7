"""Names of fields: in full, `groups.race`, and in short, `race`, where that means one of them."""

from collections import Counter
from collections.abc import Iterable

from biaswatch.shared.errors import UsageError

GROUPS = "groups."
"""A group comes before another field of the same short name."""


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return each full name's short one, or the full one where the short one means another."""
    every = list(names)
    ends = Counter(_end(name) for name in every)
    short = {}
    for name in every:
        end = _end(name)
        alone = ends[end] == 1 or (name == GROUPS + end and end not in every) or name == end
        short[name] = end if alone else name
    return short


def full_name(name: str, names: Iterable[str], *, kind: str, of: str) -> str:
    """Return the full name that is meant.

    Raises
    ------
    UsageError
        None is meant, or several are; the sentence lists them.
    """
    every = list(names)
    if name in every:
        return name
    found = [full for full in every if _end(full) == name]
    if GROUPS + name in found:
        return GROUPS + name
    if not found:
        there = ", ".join(short_names(every).values()) or "none"
        raise UsageError(f"{of} has no {kind} {name!r}. There are: {there}.")
    if len(found) > 1:
        raise UsageError(f"{of} has several {kind}s {name!r}: write {' or '.join(found)}.")
    return found[0]


def _end(name: str) -> str:
    return name.partition(".")[2] or name
