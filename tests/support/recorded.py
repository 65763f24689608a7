"""Where recorded answers of real models lie, for the tests that use them."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recorded_data(request: pytest.FixtureRequest) -> Path:
    """Return the folder that holds `data/` and `golden/`, or skip with what would provide it."""
    given = os.environ.get("BIASWATCH_TEST_DATA")
    folder = Path(given) if given else request.config.rootpath.parent / "shared"
    if not (folder / "golden").is_dir():
        pytest.skip("no recorded data: set BIASWATCH_TEST_DATA to a folder with data/ and golden/")
    return folder
