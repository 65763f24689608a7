"""Write rows of a diagnosis: CSV, Parquet, Excel workbooks, and pictures of the gaps."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from biaswatch.shared.presentation.tables import disarmed
from biaswatch.written_files import check_ending, written_whole

if TYPE_CHECKING:
    import pandas as pd

TABLES = (".csv", ".parquet", ".xlsx")
PICTURES = (".png", ".svg")
FIRST = "comparisons"
"""The part that the named file holds."""
Rows = Sequence[Mapping[str, Any]]


def check_table_file(path: Path | None, *, pictures: bool = False) -> None:
    """Raise UsageError for a file that cannot be written; call it before the work.

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
    with written_whole(path) as part:
        if path.suffix.lower() == ".csv":
            _frame(rows).to_csv(part, index=False)
        elif path.suffix.lower() == ".parquet":
            _frame(rows).to_parquet(part)
        else:
            _write_workbook({path.stem: rows}, part)


def write_parts(parts: Mapping[str, Rows], output: Path) -> Iterator[Path]:
    """Write a diagnosis, and yield the files.

    A workbook has a sheet for each part. `gaps.csv` and `gaps.parquet` hold the comparisons, and
    each other part with rows is beside them: `gaps.summary.csv`. A picture shows the gaps.

    Raises
    ------
    UsageError
        The folder cannot be written, or there is no gap to draw.
    """
    ending = output.suffix.lower()
    if ending in PICTURES:
        from biaswatch.render.figures.gaps import gap_figure

        figure = gap_figure(parts[FIRST])
        with written_whole(output) as part:
            figure.savefig(part, format=ending.removeprefix("."))
    elif ending == ".xlsx":
        with written_whole(output) as part:
            _write_workbook({FIRST: parts[FIRST], **parts}, part)
    else:
        write_frame(parts[FIRST], output)
    yield output
    if ending in {".csv", ".parquet"}:
        for name, rows in parts.items():
            if rows and name != FIRST:
                path = output.with_suffix(f".{name}{output.suffix}")
                write_frame(rows, path)
                yield path


def _frame(rows: Rows) -> "pd.DataFrame":
    import pandas as pd  # slow to load

    return pd.json_normalize(cast(list[dict[str, Any]], list(rows)))


def _write_workbook(parts: Mapping[str, Rows], path: Path) -> None:
    import pandas as pd

    with path.open("wb") as file, pd.ExcelWriter(file, engine="openpyxl") as book:
        for name, rows in parts.items():
            _frame(rows).map(_cell).to_excel(book, sheet_name=name[:31], index=False)


def _cell(value: Any) -> Any:
    """Return the value of a workbook's cell: intervals as text, and no formulas."""
    return disarmed(str(value) if isinstance(value, list | tuple | dict) else value)
