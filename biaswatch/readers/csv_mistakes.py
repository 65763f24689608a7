"""What a file is that should be CSV in UTF-8 and is not: another encoding, another separator."""

from collections.abc import Sequence
from pathlib import Path

SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}
BEGINNINGS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"PK\x03\x04": "a workbook, or another archive",
    b"PAR1": "Parquet",
    b"\x1f\x8b": "compressed",
}
REMEDY = "Save it as CSV in UTF-8."


def not_utf8(path: Path) -> str:
    """Return a sentence for a file whose bytes are no UTF-8."""
    return f"{path} is not text in UTF-8{_seen(path)}. {REMEDY}"


def not_text(path: Path) -> str:
    """Return a sentence for a file that holds NUL characters."""
    return f"{path} is no text{_seen(path)}. {REMEDY}"


def other_separator(path: Path, names: Sequence[str]) -> str | None:
    """Return a sentence where the first line is one name that holds another separator."""
    between = [said for sign, said in SEPARATORS.items() if len(names) == 1 and sign in names[0]]
    if not between:
        return None
    return (
        f"{path} has {between[0]} between its columns: save it with commas, and with points in its"
        " numbers."
    )


def _seen(path: Path) -> str:
    """Return what a file is by its first bytes, as a part of a sentence."""
    with path.open("rb") as file:
        first = file.read(4)
    known = [said for begins, said in BEGINNINGS.items() if first.startswith(begins)]
    return f", but {known[0]}" if known else ""
