"""CSV as programs save it: encodings, separators and decimal commas are detected."""

import codecs
import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from io import StringIO
from itertools import islice
from pathlib import Path

import pandas as pd

from biaswatch.readers.columns import DETECTED, REPEATED
from biaswatch.readers.table_limits import MIB, check_shape
from biaswatch.shared.errors import UsageError

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
ENCODINGS = {"utf-16": "UTF-16", "cp1252": "Windows-1252"}
UTF_8 = "utf-8-sig"
OTHER_FORMATS = {
    b"PK\x03\x04": "a workbook, or another archive",
    b"PAR1": "Parquet",
    b"\x1f\x8b": "compressed",
}
REMEDY = "Save it as CSV in UTF-8."
LONGEST_LINE = 4 * MIB
"""Characters of a line of the header check, which reads two lines."""
MAX_CELL_CHARACTERS = 128 * 1024
"""Limit for a cell in the header check; the limit of `csv` applies to the whole process."""
DECIMAL_COMMA = re.compile(r"[+-]?\d+(?:,\d+)?")


@dataclass(frozen=True)
class TextForm:
    """How a text table is written."""

    encoding: str
    separator: str
    names: Sequence[str]
    columns: int

    def in_words(self, path: Path, with_commas: Sequence[str]) -> str | None:
        """Return the detected format; None for plain CSV in UTF-8."""
        parts = [ENCODINGS[self.encoding]] if self.encoding in ENCODINGS else []
        parts += [f"{SEPARATORS[self.separator]} between columns"] if self.separator != "," else []
        parts += [f"decimal commas in {', '.join(with_commas)}"] if with_commas else []
        return f"Detected in {path}: {', '.join(parts)}." if parts else None


def read_csv(path: Path) -> pd.DataFrame:
    """Read a table of text; every cell is a text, or empty.

    Raises
    ------
    UsageError
        The file is not text, too large, or rows have more cells than the header.
    """
    form = _form_of(path)
    with path.open("rb") as file:
        parts = iter(lambda: file.read(MIB), b"")
        check_shape(path, form.columns, sum(part.count(b"\n") for part in parts))
    frame = pd.read_csv(
        path, dtype=str, keep_default_na=False, na_values=[""], sep=form.separator,
        encoding=form.encoding,
    )  # fmt: skip
    frame.attrs[REPEATED] = [name for name, times in Counter(form.names).items() if times > 1]
    if not isinstance(frame.index, pd.RangeIndex):
        # pandas takes the first cell of such rows as an index and shifts the others.
        raise UsageError(
            f"{path}: rows have more cells than the header has names. Name every column, or remove"
            " the separator at the end of the rows."
        )
    with_commas = [] if form.separator == "," else _with_decimal_commas(frame)
    for name in with_commas:
        numbers = frame[name].str.strip().str.fullmatch(DECIMAL_COMMA, na=False)
        frame[name] = frame[name].mask(numbers, frame[name].str.replace(",", "."))
    if sentence := form.in_words(path, with_commas):
        frame.attrs[DETECTED] = [sentence]
    return frame


def not_utf8(path: Path) -> str:
    """Return a sentence for a file that is not UTF-8."""
    return f"{path} is not text in UTF-8. {REMEDY}"


def other_separator(path: Path, names: Sequence[str]) -> str | None:
    """Return a sentence if the header is a single name that contains another separator."""
    if (sign := _separator_in(names)) is None:
        return None
    return f"{path} has {SEPARATORS[sign]} between its columns: save it with commas."


def _form_of(path: Path) -> TextForm:
    """Return the form of the first two lines."""
    encoding = _encoding_of(path)
    with path.open(encoding=encoding, newline="") as file:
        first = file.read(2 * LONGEST_LINE)
    if "\0" in first:
        raise UsageError(f"{path} is not text. {REMEDY}")
    form = _lines_form(path, first, encoding, ",")
    sign = _separator_in(form.names)
    return form if sign is None else _lines_form(path, first, encoding, sign)


def _encoding_of(path: Path) -> str:
    """Return UTF-8 or UTF-16, or else the usual encoding of Windows."""
    with path.open("rb") as file:
        first = file.read(4)
        for begins, name in OTHER_FORMATS.items():
            if first.startswith(begins):
                raise UsageError(f"{path} is not text, but {name}. {REMEDY}")
        if first.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            return "utf-16"
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            for part in iter(lambda: file.read(MIB), b""):
                decoder.decode(part)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return UTF_8


def _lines_form(path: Path, first: str, encoding: str, separator: str) -> TextForm:
    csv.field_size_limit(MAX_CELL_CHARACTERS)
    try:
        rows = list(islice(csv.reader(StringIO(first, newline=""), delimiter=separator), 2))
    except csv.Error:
        raise UsageError(
            f"{path}: a cell of the first two lines has more than {MAX_CELL_CHARACTERS:,}"
            " characters, or they are not CSV."
        ) from None
    columns = max(map(len, rows), default=0)
    check_shape(path, columns, 1)
    return TextForm(encoding, separator, rows[0] if rows else [], columns)


def _separator_in(names: Sequence[str]) -> str | None:
    """Return another separator that a header of one name contains."""
    return next((sign for sign in SEPARATORS if len(names) == 1 and sign in names[0]), None)


def _with_decimal_commas(frame: pd.DataFrame) -> list[str]:
    """Return the columns of decimal commas; a few cells may be words such as n/a."""
    names = []
    for name in frame.columns:
        cells = frame[name].dropna().str.strip()
        numbers = cells.str.fullmatch(DECIMAL_COMMA)
        words = ~cells.str.contains(r"\d")
        if (
            cells[numbers].str.contains(",").any()
            and (numbers | words).all()
            and numbers.mean() > 0.5
        ):
            names.append(name)
    return names
