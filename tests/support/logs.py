"""Isolation of the logging configuration between tests."""

from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def restored_log_configuration() -> Iterator[None]:
    """Restore structlog after each test: commands set level and stream for the process."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)
