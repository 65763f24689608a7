"""Columns of a table by name: that each is there once, and what is likely meant where it is not."""

from collections import Counter
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import TYPE_CHECKING

from biaswatch.shared.errors import UsageError

if TYPE_CHECKING:
    import pandas as pd

MOST_SHOWN, MOST_CHARACTERS = 40, 60
"""Columns that a sentence lists, and of the name of each."""
REPEATED = "repeated columns"
"""The attribute of a frame that holds the names its file gave to several columns."""

NESTED = "nested columns"
"""The attribute of a frame that holds the columns of its file with lists or structures."""


def check_columns(wanted: Iterable[str], frame: "pd.DataFrame", source: object) -> None:
    """Raise UsageError where a column is not there, or several have its name."""
    wanted, there = list(wanted), list(map(str, frame.columns))
    for name in wanted:
        if name in frame.attrs.get(NESTED, ()):
            raise UsageError(
                f"{source}: column {name!r} holds lists or structures. Write one value in each"
                " cell."
            )
    check_names(wanted, there, source)
    repeated = {name for name, times in Counter(there).items() if times > 1}
    for name in set(wanted) & (repeated | set(frame.attrs.get(REPEATED, ()))):
        raise UsageError(
            f"{source} has several columns named {name!r}. Give each a name of its own."
        )


def check_names(wanted: Iterable[str], there: Sequence[str], source: object) -> None:
    """Raise UsageError where a column is not among those that are there."""
    if not there:
        raise UsageError(f"{source} is empty: it has no columns and no rows.")
    for name in wanted:
        if name not in there:
            listed = f"Its columns are {listed_names(there)}."
            raise UsageError(f"{source} has no column {name!r}.{_meant(name, there)} {listed}")


def listed_names(there: Sequence[str]) -> str:
    """Return the names of columns for a sentence; of very many the first."""
    shown = [name[:MOST_CHARACTERS] for name in islice(there, MOST_SHOWN)]
    more = f" and {len(there) - len(shown)} more" if len(there) > len(shown) else ""
    return ", ".join(shown) + more


def _meant(name: str, there: Sequence[str]) -> str:
    """Return the column that is likely meant, as a sentence of its own; empty where none is."""
    for each in there:
        if each != name and each.strip() == name.strip():
            return f" There is {each!r}, with a space beside it: take it away in the file."
    close = get_close_matches(name, there, 1, 0.8)
    return f" Is {close[0]!r} meant?" if close else ""
