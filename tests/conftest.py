"""Fixtures are in tests/support; this file names them and makes every collection the same.

`--hypothesis-profile=default` searches for new examples.
"""

import gc
from typing import Any

from hypothesis import HealthCheck, settings

pytest_plugins = [
    "pytester",
    "tests.support.bus",
    "tests.support.databases",
    "tests.support.answer_files",
    "tests.support.logs",
    "tests.support.one_process",
    "tests.support.recorded",
    "tests.support.skips",
    "tests.support.small_disk",
    "tests.support.snapshots",
]
# A busy machine is slow, and slowness is no counterexample.
settings.register_profile(
    "seeded", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("seeded")


def pytest_configure() -> None:
    """Collect no garbage while modules are imported; they stay."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Keep the collected tests out of every later collection of garbage."""
    gc.enable()
    gc.freeze()


def pytest_make_parametrize_id(val: Any, argname: str) -> str | None:
    """Name a parameter of bytes by its position; compressed bytes hold the time of day."""
    return argname if isinstance(val, bytes) else None
