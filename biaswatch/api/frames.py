"""Convert frames of pandas, polars and Arrow to pandas, and rows to the caller's library."""

import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import narwhals as nw
import pandas as pd
from narwhals.exceptions import DuplicateError

from biaswatch.render.written_tables import columns_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import number

Row = Mapping[str, Any]
Names = str | Sequence[str]
KINDS = "a frame of pandas, polars or Arrow"


def listed(names: Names | None) -> tuple[str, ...]:
    """Return a name, or several, as a tuple; an empty one for None."""
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def backend_of(frame: Any) -> Any:
    """Return the library of a frame.

    Raises
    ------
    UsageError
        The object is not a frame, or several of its columns have one name.
    """
    try:
        return nw.get_native_namespace(nw.from_native(frame, eager_only=True))
    except TypeError:
        raise UsageError(f"{type(frame).__name__} is not {KINDS}.") from None
    except DuplicateError:
        raise UsageError(
            "Several columns of the frame have one name. Give each column a different name."
        ) from None


def as_pandas(frame: Any, labels: Sequence[str]) -> pd.DataFrame:
    """Convert a frame to pandas; integer labels become text first, to keep every digit.

    pandas converts integers with missing values to floats, which do not hold 64-bit ids exactly.

    Raises
    ------
    UsageError
        The object is not a frame.
    """
    backend_of(frame)
    source = nw.from_native(frame, eager_only=True)
    if not source.implementation.is_pandas():
        schema = source.schema
        cast = [n for n in dict.fromkeys(labels) if n in schema and _is_cast(schema[n])]
        source = source.with_columns(nw.col(*cast).cast(nw.String)) if cast else source
    converted: pd.DataFrame = source.to_pandas()
    return converted


def _is_cast(dtype: Any) -> bool:
    """Return whether labels of this type are cast to text before the conversion."""
    return not (dtype.is_float() or dtype.is_decimal() or dtype == nw.Boolean)


def native_frame(rows: Iterable[Row], backend: Any, leading: Sequence[str] = ()) -> Any:
    """Return rows as a frame of the caller's library, as `columns_of` does."""
    return nw.from_dict(columns_of(rows, leading), backend=backend).to_native()


MOST_ROWS = 60
MOST_LINES = 20
STYLE = "text-align:left;padding:2px 12px 2px 0;font-variant-numeric:tabular-nums"


def in_python(text: str) -> str:
    """Return a message with options of the command line as arguments of Python.

    >>> in_python("Add --random name; otherwise --set cv --unit cv.")
    'Add `random=["name"]`; otherwise `set="cv"` `unit="cv"`.'
    """
    text = text.replace("--range; in Python ", "").replace("--config ", "")
    text = re.sub(r"--random ([^;.,]+)", r'`random=["\1"]`', text)
    text = re.sub(r"--(\w+) ([^ ;.,]+)(?=[;.,]| --)", r'`\1="\2"`', text)
    return re.sub(r"--(\w+)", r"`\1=`", text)


def text_of(lead: str, sentences: Iterable[str]) -> str:
    """Return a lead and sentences, at most `MOST_LINES`, for the interactive interpreter."""
    lines = [lead, *sentences]
    if (more := len(lines) - MOST_LINES) > 0:
        lines = [*lines[: MOST_LINES - 1], f"... and {more + 1} more lines: print() shows all."]
    return "\n".join(lines)


def html_of(sentences: Iterable[str], tables: Mapping[str, Sequence[Mapping[str, Any]]]) -> str:
    """Return sentences and tables as HTML; long tables are cut, with the number of further rows."""
    parts = [f"<p>{escape(sentence)}</p>" for sentence in sentences]
    parts += [_table(title, rows) for title, rows in tables.items() if rows]
    return f"<div>{''.join(parts)}</div>"


def _table(title: str, rows: Sequence[Mapping[str, Any]]) -> str:
    # Empty columns are left out.
    filled = (name for row in rows[:MOST_ROWS] for name in row if row[name] not in (None, ""))
    shown = set(filled)
    names = [name for name in dict.fromkeys(n for row in rows for n in row) if name in shown]
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
