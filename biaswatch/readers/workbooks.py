"""Tables in Excel workbooks: the first sheet, its first row as the header."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from zipfile import BadZipFile, ZipFile

import pandas as pd

from biaswatch.readers.columns import DETECTED, REPEATED
from biaswatch.readers.row_ids import exact_frame
from biaswatch.readers.table_limits import LARGEST_BYTES, MIB, SMALLER, check_shape
from biaswatch.shared.errors import UsageError


def read_workbook(path: Path) -> pd.DataFrame:
    """Read the first sheet of a workbook; formulas have the values that Excel saved.

    Raises
    ------
    UsageError
        The file is not a workbook, or it is too large.
    """
    from openpyxl import load_workbook

    _check_unpacked_size(path)
    with path.open("rb") as file:
        try:
            book = load_workbook(file, read_only=True, data_only=True)
        except (KeyError, TypeError) as error:  # an archive without the parts of a workbook
            raise UsageError(f"{path} cannot be read as a workbook: {error}.") from None
        first, *further = book.worksheets
        rows = first.iter_rows(values_only=True)
        names = _names(path, next(rows, ()))
        cells: list[tuple[object, ...]] = []
        for row in rows:
            if any(cell is not None for cell in row):
                cells.append(row[: len(names)])
                check_shape(path, len(names), len(cells))
    frame = exact_frame({name: [row[k] for row in cells] for k, name in enumerate(names)})
    frame.attrs[REPEATED] = [name for name, times in Counter(names).items() if times > 1]
    if further:
        frame.attrs[DETECTED] = [f"{path} has {len(further) + 1} sheets; {first.title!r} is read."]
    return frame


def _names(path: Path, header: Sequence[object]) -> list[str]:
    """Return the names of the columns; empty cells at the end are not columns."""
    width = max((number for number, cell in enumerate(header, 1) if cell is not None), default=0)
    for number, cell in enumerate(header[:width], 1):
        if cell is None:
            raise UsageError(f"{path}: column {number} of the first row has no name.")
    return [str(cell) for cell in header[:width]]


def _check_unpacked_size(path: Path) -> None:
    try:
        with ZipFile(path) as archive:
            size = sum(member.file_size for member in archive.infolist())
    except BadZipFile:
        raise UsageError(f"{path} is not an Excel workbook.") from None
    if size > LARGEST_BYTES:
        raise UsageError(
            f"{path} has {size // MIB} MiB unpacked; the limit is {LARGEST_BYTES // MIB} MiB."
            f" {SMALLER}."
        )
