"""The documentation in the repository is that of the code."""

from pathlib import Path

import pytest

from biaswatch.shared.contracts import ACCOUNTS, account_label
from biaswatch.shared.telemetry import MONITOR_ANSWERS
from tools.site.reference import committed_pages

DOCS = Path(__file__).parents[2] / "docs"
PAGES = (
    *("columns", "commands", "files", "formats", "limits", "metrics", "records", "settings"),
    *("simulator", "suites"),
)


@pytest.fixture(scope="module")
def pages() -> dict[str, str]:
    return committed_pages()


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_is_that_of_the_code(name: str, pages: dict[str, str]) -> None:
    assert sorted(pages) == list(PAGES)
    assert (DOCS / "reference" / f"{name}.md").read_text() == pages[name], "run `make contracts`"


def test_the_metric_and_the_page_name_every_account_of_answers() -> None:
    [metric] = MONITOR_ANSWERS.describe()
    page = (DOCS / "traffic.md").read_text()
    for account in ACCOUNTS:
        label = account_label(account)
        assert f"\n| {label} |" in page
        assert account in metric.documentation
        assert label.replace(" ", "_") in metric.documentation
