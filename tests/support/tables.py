"""Tables read from files, as `biaswatch diagnose FILE` reads them."""

from pathlib import Path

from biaswatch.readers.table_files import frame_of
from biaswatch.readers.tables import TableColumns, check_named, frame_observations
from biaswatch.shared.analysis.findings.observations import Observations


def observations(path: Path, columns: TableColumns) -> tuple[Observations, list[str]]:
    """Read a table; return its rows, and warnings about them."""
    frame = frame_of(path)
    check_named(columns, frame.columns, path)
    return frame_observations(frame, columns, path)
