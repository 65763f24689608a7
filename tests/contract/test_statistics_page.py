"""Every test that the page of statistics names is there, so that no number loses its check."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PAGE = TESTS.parent / "docs" / "statistics.md"
NAMED = re.compile(r"((?:tests/[\w/]*/)?test_\w+\.py)(?:`?::(test_\w+))?|::(test_\w+)")
FILES = sorted(TESTS.rglob("test_*.py"))


def named_tests() -> list[tuple[str, str | None]]:
    """Return each file that is named, or the test in the last one before it."""
    found, last = dict[tuple[str, str | None], None](), ""
    for match in NAMED.finditer(PAGE.read_text()):
        last = match[1] or last
        found[last, match[2] or match[3]] = None
    return list(found)


def test_the_page_names_tests() -> None:
    assert len(named_tests()) > 150


@pytest.mark.parametrize(("file", "test"), named_tests())
def test_a_test_that_the_page_of_statistics_names_is_there(file: str, test: str | None) -> None:
    mine = [each for each in FILES if each.as_posix().endswith(f"/{file}")]
    assert mine, f"no file {file}"
    if test is not None:
        there = [each for each in FILES if f"def {test}(" in each.read_text()]
        assert there, f"no test {test}, which is said to be in {file}"
