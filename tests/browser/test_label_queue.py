"""Twenty answers labelled in a real Chromium by keyboard alone, without any script."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from biaswatch.services.gateway.labels.commands import LabelCommands
from biaswatch.services.gateway.labels.queries import LabelQueries
from biaswatch.services.gateway.runs.queries import RunQueries
from biaswatch.shared.contracts import Label, LabelSample, current_labels
from biaswatch.shared.requests.labels import SampleRequest
from biaswatch.shared.store import Store, migrate
from tests.support.labelled_run import write_labelled_run
from tests.support.records import AT
from tests.support.served_pages import served

LABELLED = 20
GUIDANCE = "Is the answer rude to the person?\n1: yes. 0: no."


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as result:
        yield result


@pytest.fixture
def sample(store: Store) -> LabelSample:
    run, _ = write_labelled_run(store)
    runs = RunQueries(store)
    commands = LabelCommands(store, runs, LabelQueries(store, runs), lambda: AT)
    drawn = commands.sample_for(
        run.id, SampleRequest(feature="rude", wanted=40, guidance=GUIDANCE, hidden=["Question"])
    )
    commands.store_records([drawn])
    return drawn


@pytest.fixture
def address(store: Store) -> Iterator[str]:
    with served(store) as result:
        yield result


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    context = chromium.new_context(base_url=address, java_script_enabled=False)
    yield context.new_page()
    context.close()


def standing(store: Store, sample: LabelSample) -> list[Label]:
    return current_labels(list(store.records.read(Label, run_id=sample.run_id)))


def test_twenty_answers_are_labelled_by_keyboard_alone(
    page: Any, store: Store, sample: LabelSample
) -> None:
    page.goto(f"/runs/{sample.run_id}/label/{sample.id}")
    text = page.locator("main").inner_text()
    assert "Is the answer rude" in text
    assert "judge" not in text  # neither the instrument nor what it read
    assert "race" not in text
    _picture(page, "first")

    def type_(keys: str) -> None:
        page.wait_for_selector("input[name=typed]:focus")
        with page.expect_navigation():
            page.keyboard.type(keys)
            page.keyboard.press("Enter")

    type_("7")
    assert "That was no label: type 0 or 1." in page.locator("main").inner_text()
    type_("1")
    type_("u")
    assert standing(store, sample) == []
    type_("s")
    for number in range(LABELLED):
        type_("1" if number % 3 == 0 else "0")
    _picture(page, "later")
    result = standing(store, sample)
    assert sum(item.value is not None for item in result) == LABELLED
    assert sum(item.value is None for item in result) == 1  # the one that was skipped
    assert {item.response_id for item in result} == {
        item.response_id for item in sample.drawn[: LABELLED + 1]
    }
    assert sum(item.value == 1 for item in result) == 7
    assert {item.person for item in result} == {"this machine"}
    assert "20 labelled by you, 1 skipped, of 40" in page.locator("main").inner_text()


def test_words_that_name_groups_are_hidden_where_that_is_asked_for(
    page: Any, sample: LabelSample
) -> None:
    page.goto(f"/runs/{sample.run_id}/label/{sample.id}")
    assert "Question" in page.locator("article").inner_text()
    page.get_by_role("link", name="Hide words that name groups").press("Enter")
    assert "Question" not in page.locator("article").inner_text()
    assert "[...]" in page.locator("article").inner_text()
    page.get_by_label("Type 0 or 1").focus()
    with page.expect_navigation():
        page.keyboard.type("0")
        page.keyboard.press("Enter")
    assert "[...]" in page.locator("article").inner_text()


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_the_queue_fits_a_phone_and_axe_finds_nothing_serious(
    chromium: Any, address: str, sample: LabelSample, width: int, scheme: str
) -> None:
    from axe_playwright_python.sync_playwright import Axe

    context = chromium.new_context(
        base_url=address, viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    page = context.new_page()
    page.goto(f"/runs/{sample.run_id}/label/{sample.id}")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("script").count() == 0
    result = Axe().run(page).response["violations"]
    serious = [item["id"] for item in result if item["impact"] in {"serious", "critical"}]
    assert serious == []
    _picture(page, f"{width}-{scheme}")


def _picture(page: Any, name: str) -> None:
    """Keep a picture where somebody wants to look."""
    if folder := os.environ.get("BIASWATCH_PICTURES"):
        page.screenshot(path=f"{folder}/label-{name}.png", full_page=True)
