"""Charts explored in a real Chromium: by pointer, by keyboard, closer, and with picked groups."""

import re
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.browsed_platform import NASTY, RUN, TURNING, browsed_platform

MONITOR = "/monitors/browsed"


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browsed_platform(tmp_path_factory.mktemp("explored")) as result:
        yield result


@pytest.fixture
def page(chromium: Any, address: str) -> Iterator[Any]:
    """A page of which nothing may be refused by its policy, and which may complain of nothing."""
    complaints: list[str] = []
    context = chromium.new_context(base_url=address, viewport={"width": 1280, "height": 900})
    context.add_init_script(
        "window.refused = [];"
        "addEventListener('securitypolicyviolation', e => refused.push(e.violatedDirective));"
    )
    browser_page = context.new_page()
    browser_page.on("console", lambda message: complaints.append(message.text))
    browser_page.on("pageerror", lambda error: complaints.append(str(error)))
    yield browser_page
    assert browser_page.evaluate("window.refused") == []
    assert browser_page.evaluate("window.taken") is None
    context.close()
    assert complaints == []


def charts_of(page: Any) -> Any:
    page.goto(MONITOR)
    page.wait_for_selector("[data-comparison] .uplot")
    return page.locator("[data-comparison]").first


def test_pointing_at_a_round_shows_its_numbers(page: Any) -> None:
    card = charts_of(page)
    legend = card.locator(".u-legend").first
    assert "round 23" in legend.inner_text()  # the last one, where nobody points
    card.locator(".u-over").first.hover(position={"x": 3, "y": 60})
    assert re.search(r"round [0-3](?!\d)", legend.inner_text())
    assert re.search(r"gap:?\s*7\.97", legend.inner_text())


def test_arrow_keys_go_from_round_to_round(page: Any) -> None:
    card = charts_of(page)
    card.locator(".uplot").first.focus()
    page.keyboard.press("ArrowLeft")
    legend = card.locator(".u-legend").first
    assert "round 22" in legend.inner_text()
    assert legend.get_attribute("aria-live") == "polite"


def test_both_charts_of_a_card_zoom_together(page: Any) -> None:
    card = charts_of(page)
    ends = card.locator(".u-legend").nth(1)
    card.get_by_role("button", name="Closer").click()
    card.get_by_role("button", name="Earlier").click()
    assert "round 23" not in ends.inner_text()
    card.get_by_role("button", name="All").click()
    card.locator(".u-over").first.hover(position={"x": 3, "y": 60})
    page.mouse.down()
    page.mouse.move(
        *(card.locator(".u-over").first.bounding_box()[name] + 90 for name in ("x", "y"))
    )
    page.mouse.up()
    page.mouse.move(5, 5)
    assert "round 23" not in ends.inner_text()
    card.get_by_role("button", name="All").click()
    page.mouse.move(5, 5)
    assert "round 23" in ends.inner_text()


def test_comparisons_are_picked_in_one_chart(page: Any) -> None:
    charts_of(page)
    together = page.locator("[data-together]")
    assert NASTY in together.inner_text()
    boxes = together.get_by_role("checkbox")
    assert boxes.count() == 2
    boxes.first.uncheck()
    assert re.search(r"-?\d+ %", together.inner_text())


def test_groups_are_found_picked_and_looked_at_closely(page: Any) -> None:
    page.goto(f"/runs/{RUN.id}")
    picked = page.get_by_label("Pick group 3", exact=True)
    rows = page.locator(".rows").filter(has=picked).first
    tools = page.locator(".tools").first
    tools.get_by_role("searchbox").fill("group 1")
    assert rows.locator(".row:not(.axis):visible").count() == 9  # 1 and 10 to 17
    tools.get_by_role("searchbox").fill("")
    rows.get_by_label("Pick group 3", exact=True).check()
    rows.get_by_label(re.compile("^Pick <script>")).check()
    tools.get_by_role("button", name="Only picked").click()
    assert rows.locator(".row:not(.axis):visible").count() == 2
    assert TURNING not in page.locator("main").inner_text()
    tools.get_by_role("button", name="Closer").click()
    picture = rows.locator("svg:visible").first
    assert picture.get_attribute("viewBox") == "250 0 500 20"
    picture.hover()
    assert re.search(r"group 3: .* here -?\d", tools.inner_text()) or NASTY in tools.inner_text()
    tools.get_by_role("button", name="All").click()
    assert picture.get_attribute("viewBox") == "0 0 1000 20"


def test_on_paper_the_pages_own_pictures_stand(page: Any) -> None:
    card = charts_of(page)
    assert card.locator("figure svg:visible").count() == 0
    page.emulate_media(media="print")
    assert card.locator("figure svg:visible").count() == 2
    assert card.locator(".uplot:visible").count() == 0


def test_charts_that_cannot_be_read_leave_the_pages_own_pictures(page: Any, address: str) -> None:
    page.route("**/charts.json*", lambda route: route.fulfill(status=200, body="[]"))
    page.goto(MONITOR)
    page.wait_for_selector("[data-charts].without-charts, [data-charts]")
    assert page.locator("[data-comparison] figure svg:visible").count() == 4
