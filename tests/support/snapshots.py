"""Snapshots: a test's output in a file beside it; `--update-snapshots` writes the files anew."""

from pathlib import Path

import pytest


class Snapshot:
    """Comparison of texts with files in the folder `snapshots` beside a test."""

    def __init__(self, folder: Path, *, update: bool) -> None:
        self._folder = folder
        self._update = update

    def check(self, name: str, text: str) -> None:
        """Compare a text with its file, or write the file."""
        file = self._folder / name
        if self._update:
            self._folder.mkdir(exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert text == file.read_text(encoding="utf-8"), f"{file}: --update-snapshots accepts it"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-snapshots`."""
    parser.addoption("--update-snapshots", action="store_true", help="Write snapshots anew.")


@pytest.fixture
def snapshot(request: pytest.FixtureRequest) -> Snapshot:
    """Return the snapshots beside the test."""
    update = bool(request.config.getoption("--update-snapshots"))
    return Snapshot(request.path.parent / "snapshots", update=update)
