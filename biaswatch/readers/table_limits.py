"""Limits of the tables that are read into memory."""

from pathlib import Path

from biaswatch.shared.errors import UsageError

MIB = 1024 * 1024
LARGEST_BYTES = 512 * MIB
MOST_COLUMNS = 10_000
MOST_CELLS = 50_000_000
SMALLER = "Leave out columns that are not needed, or split it by domain"


def check_size(path: Path) -> None:
    """Raise UsageError for a file that is too large to read."""
    if (size := path.stat().st_size) > LARGEST_BYTES:
        raise UsageError(
            f"{path} has {size // MIB} MiB; the limit is {LARGEST_BYTES // MIB} MiB. {SMALLER}."
        )


def check_shape(path: Path, columns: int, rows: int) -> None:
    """Raise UsageError for a table with too many columns or cells."""
    if columns > MOST_COLUMNS:
        raise UsageError(f"{path} has more than {MOST_COLUMNS:,} columns. {SMALLER}.")
    if rows * columns > MOST_CELLS:
        raise UsageError(f"{path} has more than {MOST_CELLS:,} cells. {SMALLER}.")
