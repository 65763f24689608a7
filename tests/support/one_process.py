"""Files of tests that share one platform run in one process, also beside other processes."""

from typing import Any

import pytest

SHARED_PLATFORM = ("tests/e2e/test_documented_commands.py",)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Distribute tests one by one, and a file of `SHARED_PLATFORM` as a whole.

    `xdist_group` would do, but needs pytest before 9.2 (pytest-dev/pytest-xdist#1386).
    """
    from xdist.scheduler import LoadScopeScheduling

    scheduler = LoadScopeScheduling(config, log)
    scheduler._split_scope = _scope_of
    return scheduler if config.getoption("dist") == "loadgroup" else None


def _scope_of(nodeid: str) -> str:
    path, _, _ = nodeid.partition("::")
    return path if path in SHARED_PLATFORM else nodeid
