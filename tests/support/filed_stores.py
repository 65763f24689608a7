"""Stores that write answers of live systems to files as they come."""

from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from shared.store import FilingPlace, Store

_numbers = count()


def open_filed(url: str, folder: Path | str, now: datetime | None = None) -> Store:
    """Open a store whose answers of live systems go to files below a folder."""
    moment = now or datetime(2026, 1, 1, tzinfo=UTC)
    return Store.open(url, FilingPlace(str(folder), lambda: moment, lambda: f"{next(_numbers)}"))
