"""The pytest plugin: a target from an option or the settings, and an assertion about gaps."""

from collections.abc import Callable
from typing import Any

import pytest

OPTION = "biaswatch_target"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--biaswatch-target`, and the setting of the same name."""
    description = (
        "The model under test for biaswatch: provider:model, as `biaswatch run --target` takes it."
    )
    group = parser.getgroup("biaswatch")
    group.addoption("--biaswatch-target", dest=OPTION, default=None, help=description)
    parser.addini(OPTION, description, default="")


@pytest.fixture(scope="session")
def biaswatch_target(request: pytest.FixtureRequest) -> str:
    """Return the target that is named; a test without one is skipped, and says why."""
    named = request.config.getoption(OPTION) or request.config.getini(OPTION)
    if not named:
        pytest.skip("no target: give --biaswatch-target, or biaswatch_target in pytest's settings")
    return str(named)


@pytest.fixture(scope="session")
def biaswatch_run(biaswatch_target: str) -> Callable[..., Any]:
    """Return the function that asks the target a suite: `biaswatch_run(suite, repeats=...)`."""
    from biaswatch import run

    return lambda suite, **options: run(suite, biaswatch_target, **options)


@pytest.fixture(scope="session")
def assert_no_disparity() -> Callable[..., Any]:
    """Return the assertion: `assert_no_disparity(frame or run, group=..., min_measured=...)`.

    It fails at a disparity, and where too little was measured to find one.
    """
    from biaswatch import assert_no_disparity as asserted

    return asserted
