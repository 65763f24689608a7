"""On CI a skip must be on the list of allowed skips; any other skip fails."""

import os
import re
import tomllib
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

LIST = Path(__file__).parents[1] / "allowed_skips.toml"
ALLOWED = tuple(item["reason"] for item in tomllib.loads(LIST.read_text())["skip"])


def is_allowed(reason: str) -> bool:
    """Return whether a skip with this reason is on the list."""
    return any(re.match(pattern, reason) for pattern in ALLOWED)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the check of CI everywhere."""
    parser.addoption(
        "--strict-skips",
        action="store_true",
        default=bool(os.environ.get("CI")),
        help="fail on a skip that tests/allowed_skips.toml does not list (default where CI is set)",
    )


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, pytest.TestReport]:
    """Fail a test that skips for a reason that is not listed."""
    report: pytest.TestReport = yield
    if not hasattr(report, "wasxfail"):
        _fail_unlisted(report, item.config)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, Any, pytest.CollectReport]:
    """Fail a module or folder that skips for a reason that is not listed."""
    report: pytest.CollectReport = yield
    _fail_unlisted(report, collector.config)
    return report


def _fail_unlisted(report: pytest.TestReport | pytest.CollectReport, config: pytest.Config) -> None:
    if not report.skipped or not config.getoption("--strict-skips"):
        return
    assert isinstance(report.longrepr, tuple)
    path, line, text = report.longrepr
    reason = text.removeprefix("Skipped: ")
    if not is_allowed(reason):
        report.outcome = "failed"
        report.longrepr = (
            f"{path}:{line} skips: {reason}\n"
            "CI skips only what tests/allowed_skips.toml lists: make the test run, "
            "or list its reason there with why."
        )
