"""Stores that write answers of live systems to files as they come."""

from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

import pytest

from shared.store import AnswerFilesLocation, Store

_numbers = count()


def open_with_files(url: str, folder: Path | str, now: datetime | None = None) -> Store:
    """Open a store whose answers of live systems go to files below a folder."""
    moment = now or datetime(2026, 1, 1, tzinfo=UTC)
    return Store.open(
        url, AnswerFilesLocation(str(folder), lambda: moment, lambda: f"{next(_numbers)}")
    )


@pytest.fixture(params=["rows", "files"])
def traffic_store(
    request: pytest.FixtureRequest, store_url: str, tmp_path: Path
) -> Iterator[Store]:
    """Return a store that holds nothing: what live systems say becomes rows, and then files."""
    filed = request.param == "files"
    with (
        open_with_files(store_url, tmp_path / "live") if filed else Store.open(store_url) as opened
    ):
        yield opened
