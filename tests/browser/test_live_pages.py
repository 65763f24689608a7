"""Pages that stay up to date while somebody looks, in a real Chromium."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from biaswatch.shared.contracts import ExtractorPin, Suite, SuiteProbe, probes_of
from biaswatch.shared.store import Store, migrate
from tests.support.records import AT, make_response, make_run
from tests.support.served_pages import served

SUITE = Suite(
    name="growing",
    extractors=("words",),
    probes=tuple(
        SuiteProbe(key=f"{n}", prompt=f"{n}?", set=f"s{n}", groups={"of": "a"}) for n in range(9)
    ),
)
RUN = make_run(
    suite=SUITE.name, suite_hash=SUITE.hash, extractors=(ExtractorPin(name="words", version="1"),)
)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as result:
        result.suites.keep(SUITE, AT)
        result.records.write([RUN])
        yield result


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    with served(store) as result:
        yield result


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    context = chromium.new_context(base_url=address)
    yield context.new_page()
    context.close()


def answer(store: Store, until: int) -> None:
    probes = list(probes_of(RUN, SUITE, RUN.at))
    store.records.write([make_response(probe=probe) for probe in probes[:until]])


def shows(place: Any, text: str) -> None:
    """Wait until a place shows a text."""
    from playwright.sync_api import expect

    expect(place).to_have_text(text, timeout=30_000)


def test_answers_of_a_run_are_counted_while_somebody_looks(page: Any, store: Store) -> None:
    page.goto(f"/runs/{RUN.id}")
    page.get_by_role("button", name="Stop").wait_for()
    place = page.locator("[data-live=answers]")
    assert place.inner_text() == "0"
    answer(store, 4)
    shows(place, "4")
    assert page.locator(".live [role=status]").text_content() == "running, 0 of 9 answers"
    assert page.locator(".notice:visible").count() == 0  # only numbers have changed


def test_the_overview_counts_too_and_says_when_there_is_another_run(
    page: Any, store: Store
) -> None:
    page.goto("/")
    page.get_by_role("button", name="Stop").wait_for()
    answer(store, 5)
    shows(page.locator("[data-live^='answers of']"), "5")
    store.records.write([make_run(suite=SUITE.name, suite_hash=SUITE.hash, nonce="another")])
    page.get_by_role("link", name="Load this page anew").click()
    assert page.locator("[data-live^='answers of']").count() == 2


def test_whoever_stops_it_has_the_page_as_it_was(page: Any, store: Store) -> None:
    page.goto(f"/runs/{RUN.id}")
    page.get_by_role("button", name="Stop").click()
    assert page.get_by_role("link", name="Keep up to date").is_visible()
    answer(store, 3)
    other = page.context.new_page()
    other.goto("/")
    other.goto(f"/runs/{RUN.id}")
    shows(other.locator("[data-live=answers]"), "3")
    assert page.locator("[data-live=answers]").inner_text() == "0"


def test_where_no_more_connections_are_taken_the_page_stays_as_it_is(page: Any) -> None:
    page.route("**/events", lambda route: route.fulfill(status=503, body="{}"))
    with page.expect_event("response", lambda item: item.url.endswith("/events")) as refused:
        page.goto(f"/runs/{RUN.id}")
    assert refused.value.status == 503
    assert page.get_by_role("link", name="Keep up to date").is_visible()
