"""The cases behind gaps on a terminal."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from rich.console import Console

from biaswatch.render.table_rows import NO_UNIT, Row
from biaswatch.render.terminal import print_sentence, print_table, terminal_table
from biaswatch.shared.foreign_text import elided
from biaswatch.shared.formatting import UNDEFINED, number

COMPARED = ("feature", "dimension", "domain", "a", "b")
"""The columns of a case that name its comparison."""
MAX_TEXT_CHARS = 200
"""Length of a text on a terminal; files have all of it."""


def print_cases(console: Console, rows: Sequence[Row], about: Mapping[str, Any]) -> None:
    """Print a table of the cases of each comparison."""
    for (feature, _, domain, a, b), of_comparison in groupby(rows, _comparison_of):
        cases, unit = list(of_comparison), about["unit"] or NO_UNIT
        names = [*cases[0]["text_a"], *cases[0]["text_b"]]
        where = ", ".join(filter(None, [feature, domain, f"{a} - {b}"]))
        lead = f"{where}: the largest differences"
        if cases[0]["group"] is None:
            half = len(names) // 2
            texts = [f"{name}, {a}" for name in names[:half]]
            texts += [f"{name}, {b}" for name in names[half:]]
            titles = [about["set"] or unit, a, b, "difference", *texts]
        else:
            lead += f"; each {unit} is compared with the mean of the other group"
            titles = [unit, "group", a, b, "difference", *names]
        print_sentence(console, f"{lead}.", style="bold")
        print_table(console, terminal_table(titles, map(_cells, cases)), "")


def _cells(case: Row) -> list[str]:
    texts = [*case["text_a"].values(), *case["text_b"].values()]
    return [
        *(case[name] for name in ("case", "group") if case[name] is not None),
        *(number(case[name]) for name in ("mean_a", "mean_b", "difference")),
        *(UNDEFINED if text is None else elided(text, MAX_TEXT_CHARS) for text in texts),
    ]


def _comparison_of(case: Row) -> tuple[Any, ...]:
    return tuple(case[name] for name in COMPARED)
