"""Results as HTML for a notebook: sentences, then tables; whatever others wrote is escaped."""

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

from biaswatch.shared.formatting import number

MOST_ROWS = 60
STYLE = "text-align:left;padding:2px 12px 2px 0;font-variant-numeric:tabular-nums"


def html_of(sentences: Iterable[str], tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return sentences and tables; of a long table the first rows, and how many more there are."""
    parts = [f"<p>{escape(each)}</p>" for each in sentences]
    parts += [_table(title, rows) for title, rows in tables.items() if rows]
    return f"<div>{''.join(parts)}</div>"


def _table(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    # A column in which nothing stands is left out.
    filled = (name for row in rows[:MOST_ROWS] for name in row if row[name] not in (None, ""))
    said = set(filled)
    names = [name for name in dict.fromkeys(n for row in rows for n in row) if name in said]
    head = "".join(f'<th style="{STYLE}">{escape(name)}</th>' for name in names)
    body = "".join(
        "<tr>" + "".join(f'<td style="{STYLE}">{_cell(row.get(n))}</td>' for n in names) + "</tr>"
        for row in rows[:MOST_ROWS]
    )
    left = len(rows) - MOST_ROWS
    more = f"<p>and {left} more rows</p>" if left > 0 else ""
    return f"<h4>{escape(title)}</h4><table><tr>{head}</tr>{body}</table>{more}"


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return escape(number(value))
    return escape(str(value))
