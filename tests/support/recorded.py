"""Where recorded answers of real models are, for the tests that use them."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

RecordedData = Callable[[str], Path]


@pytest.fixture(scope="session")
def recorded_data(request: pytest.FixtureRequest) -> RecordedData:
    """Return what finds a folder of the recorded data, or skips the test where it is absent.

    The data are below `$BIASWATCH_TEST_DATA`, or in `shared` beside the checkout.
    """
    configured = os.environ.get("BIASWATCH_TEST_DATA")
    root = Path(configured) if configured else request.config.rootpath.parent / "shared"

    def folder(name: str) -> Path:
        if not (root / name).is_dir():
            pytest.skip(f"no recorded data: {name} (see 'Recorded data' in CONTRIBUTING.md)")
        return root / name

    return folder
