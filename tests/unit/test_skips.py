"""CI fails on a skip that nobody listed."""

import pytest

TESTS = """
import pytest

def test_that_needs_data() -> None:
    pytest.skip("no recorded data: data/bbq (see CONTRIBUTING.md)")

def test_that_somebody_switched_off() -> None:
    pytest.skip("fails today")

@pytest.mark.skipif(True, reason="fails on Tuesdays")
def test_that_a_mark_switched_off() -> None:
    ...

@pytest.mark.xfail(reason="known", strict=True)
def test_that_is_known_to_fail() -> None:
    raise AssertionError
"""

PLUGINS = ("-p", "no:asyncio", "-p", "tests.support.skips")


def test_a_skip_is_a_failure_on_ci_unless_it_is_listed(pytester: pytest.Pytester) -> None:
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_inprocess(*PLUGINS, "--strict-skips")
    done.assert_outcomes(skipped=1, failed=1, errors=1, xfailed=1)
    done.stdout.fnmatch_lines_random(["*skips: fails today", "*skips: fails on Tuesdays"])


def test_a_module_that_is_skipped_whole_is_a_failure_on_ci_too(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("import pytest\npytest.importorskip('no_such_package')")
    done = pytester.runpytest_inprocess(*PLUGINS, "--strict-skips")
    done.assert_outcomes(errors=1)
    done.stdout.fnmatch_lines(["*skips: could not import 'no_such_package'*"])


def test_elsewhere_a_skip_is_a_skip(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    pytester.makepyfile(TESTS)
    done = pytester.runpytest_inprocess(*PLUGINS, "-o", "addopts=")
    done.assert_outcomes(skipped=3, xfailed=1)
