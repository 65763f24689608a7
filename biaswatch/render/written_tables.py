"""Write rows of a diagnosis: CSV, Parquet, Excel workbooks, and pictures of the gaps."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from biaswatch.render.column_meanings import meanings_of
from biaswatch.render.result_sentences import result_facts
from biaswatch.render.table_rows import Parts, Row
from biaswatch.render.workbooks import write_workbook
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    csv_text,
    number_cell,
    text_cell,
    texts,
)
from biaswatch.written_files import atomic_file, check_ending, write_atomically

TABLES = (".csv", ".parquet", ".xlsx")
PICTURES = (".png", ".svg")
FIRST = "comparisons"
"""The part that the named file holds."""
MEANING = ("sheet", "columns", "meaning")
"""The columns of the sheet that explains the others."""
LEADING = (
    *("feature", "domain", "a", "b", "summary_gap", "summary_ci_low", "summary_ci_high"),
    *("p_summary", "summary", "same_treatment", "p_same_treatment"),
    *("group_effect", "p_group_effect"),
    *("gap", "ci_low", "ci_high", "p_adjusted", "verdict"),
    *("units_a", "units_b", "unit"),
)
"""The first columns of the comparisons: gap, conclusion, and the answers to three questions."""
Rows = Sequence[Mapping[str, Any]]
Columns = dict[str, list[Any]]


def check_table_file(path: Path | None, *, pictures: bool = False) -> None:
    """Raise UsageError if a file cannot be written; call it before the work.

    Parameters
    ----------
    path
        The file; None writes none.
    pictures
        True if the gaps can be drawn too.
    """
    if path is None:
        return
    check_ending(path, TABLES + PICTURES if pictures else TABLES)
    if path.suffix.lower() in PICTURES:
        from biaswatch.render.figures import check_can_draw

        check_can_draw()


def write_frame(rows: Rows, path: Path) -> None:
    """Write rows as one table.

    Raises
    ------
    UsageError
        The file cannot be written, or its ending is unknown.
    """
    check_table_file(path)
    _write_columns(columns_of(rows), path)


def _write_columns(columns: Columns, path: Path) -> None:
    """Write columns in the format of the ending."""
    match path.suffix.lower():
        case ".csv":
            write_atomically(path, csv_text(list(columns), zip(*columns.values(), strict=True)))
        case ".parquet":
            import pandas as pd  # slow to load

            with atomic_file(path) as part:
                pd.DataFrame(columns).to_parquet(part)
        case _:
            write_workbook({path.stem: _table(columns)}, path)


def write_diagnosis(
    parts: Parts, about: Row, warnings: Sequence[str], output: Path, reference: str | None = None
) -> list[Path]:
    """Write a diagnosis; return its files.

    A workbook has a sheet with the result in sentences, one for each part with rows, and one with
    the meanings of the columns.
    `gaps.csv` and `gaps.parquet` hold the comparisons, and each other part with rows is beside
    them: `gaps.summary.csv`. A picture shows the gaps.

    Raises
    ------
    UsageError
        The folder cannot be written, or no gap is defined.
    """
    if output.suffix.lower() in PICTURES:
        from biaswatch.render.figures.gaps import write_gaps

        write_gaps(parts[FIRST], about, output, reference)
        return [output]
    further = {name: columns_of(rows) for name, rows in parts.items() if rows and name != FIRST}
    tables = {FIRST: columns_of(parts[FIRST], LEADING)} | further
    if output.suffix.lower() == ".xlsx":
        sheets = {name: _table(_filled(columns)) for name, columns in tables.items()}
        meanings = (dict(zip(MEANING, row, strict=True)) for row in meanings_of(tables))
        sheets["columns"] = _table(columns_of(meanings))
        write_workbook(sheets, output, result_facts(parts, about, warnings))
        return [output]
    paths = {
        name: output if name == FIRST else output.with_suffix(f".{name}{output.suffix}")
        for name in tables
    }
    for name, path in paths.items():
        _write_columns(tables[name], path)
    return list(paths.values())


def columns_of(rows: Iterable[Mapping[str, Any]], leading: Sequence[str] = ()) -> Columns:
    """Return rows as columns, nested values flattened, some columns before all others."""
    flat = [flattened(row) for row in rows]
    names = dict.fromkeys(name for row in flat for name in row)
    order = sorted(names, key=lambda name: leading.index(name) if name in leading else len(leading))
    return {name: [row.get(name) for row in flat] for name in order}


def flattened(row: Mapping[str, Any]) -> dict[str, Any]:
    """Flatten a row: `ci` becomes `ci_low` and `ci_high`, fields of objects get dots."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, Mapping):
            flat |= flattened({f"{name}.{key}": inner for key, inner in value.items()})
        elif _is_interval(name) and (value is None or isinstance(value, list | tuple)):
            low, high = value or (None, None)
            flat |= {f"{name}_low": low, f"{name}_high": high}
        elif isinstance(value, list | tuple):
            flat |= {f"{name}_{n}": inner for n, inner in enumerate(value, start=1)}
        else:
            flat[name] = value
    return flat


def _is_interval(name: str) -> bool:
    """Return whether a column has an interval: `ci` is among its words."""
    return "ci" in name.rpartition(".")[2].split("_")


def _filled(columns: Columns) -> Columns:
    """Return the columns with a value."""
    return {
        name: values
        for name, values in columns.items()
        if any(value not in (None, "") for value in values)
    }


def _table(columns: Columns) -> Table:
    rows = zip(*columns.values(), strict=True)
    return Table("", texts(*columns), tuple(tuple(map(_cell, row)) for row in rows))


def _cell(value: Any) -> TableCell:
    return number_cell(value) if isinstance(value, int | float) else text_cell(str(value or ""))
