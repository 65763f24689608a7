"""Every page in a real Chromium: wide and narrow, light and dark, with hostile texts."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from biaswatch.shared.contracts import Alarm
from biaswatch.shared.presentation.alarm_messages import link_of
from tests.support.browsed_platform import (
    HUGE,
    NASTY,
    RELEASED,
    ROUNDS,
    TURNING,
    browsed_platform,
    pages_of,
)
from tests.support.judged_run import RUN as JUDGED

WIDEST, WIDE, NARROW = 1920, 1280, 390
PAGES = pages_of()
AGO = re.compile(r"\d+ (s|min|h|d)\b")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browsed_platform(tmp_path_factory.mktemp("browsed")) as result:
        yield result


@pytest.fixture
def opened(chromium: Any, address: str) -> Iterator[Any]:
    """Return what opens a page; whatever the browser complains of fails the test."""
    complaints: list[str] = []
    contexts = []

    def goto(path: str, width: int = WIDE, scheme: str = "light", *, script: bool = True) -> Any:
        context = chromium.new_context(
            viewport={"width": width, "height": 900},
            color_scheme=scheme,
            java_script_enabled=script,
        )
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(f"{path}: {message.text}"))
        page.on("pageerror", lambda error: complaints.append(f"{path}: {error}"))
        page.on("dialog", lambda dialog: complaints.append(f"{path}: a dialog {dialog.message}"))
        reply = page.goto(address + path)
        assert reply.status == 200, path
        return page

    yield goto
    for item in contexts:
        item.close()
    assert complaints == []


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDEST, WIDE, NARROW])
def test_a_page_fits_runs_nothing_and_axe_finds_nothing(
    opened: Any, path: str, width: int, scheme: str
) -> None:
    page = opened(path, width, scheme)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("iframe, object, embed, script:not([src^='/static/'])").count() == 0
    assert page.evaluate("window.taken") is None
    assert TURNING not in page.locator("main").inner_text()
    if (width, scheme) in {(WIDE, "light"), (NARROW, "dark")}:
        assert axe_violations(page) == []


def axe_violations(page: Any) -> list[tuple[str, str]]:
    """Return the rules that a page violates, with the first element of each."""
    from axe_playwright_python.sync_playwright import Axe

    violations = Axe().run(page).response["violations"]
    return [(item["id"], item["nodes"][0]["html"][:200]) for item in violations]


def test_hostile_names_and_answers_can_be_read(opened: Any) -> None:
    run = next(path for path in PAGES if path.startswith("/runs/"))
    text = opened(f"{run}/answers").locator("main").inner_text()
    assert NASTY in text
    assert HUGE in text


@pytest.mark.parametrize("path", [path for path in PAGES if path != "/docs"])
def test_without_script_the_numbers_are_there(opened: Any, path: str) -> None:
    with_script, without = opened(path), opened(path, script=False)
    one, other = (AGO.sub("", served_words(page)) for page in (with_script, without))
    assert one == other
    has_numbers = any(letter.isdigit() for letter in other)
    assert has_numbers or path in {"/traffic", "/searches", "/start/search"}
    assert without.locator("figure svg").count() == with_script.locator("figure svg").count()
    assert without.locator(".uplot, .tools").count() == 0


def served_words(page: Any) -> str:
    """Return what the gateway wrote on a page, without what scripts add or draw anew."""
    page.evaluate(
        "document.querySelectorAll('figure, .explored, .tools, [data-together], .live, .copy')"
        ".forEach(each => each.remove())"
    )
    text: str = page.locator("main").inner_text()
    return " ".join(text.split())


def test_answers_are_found_and_stand_beside_their_twins(opened: Any) -> None:
    run = next(path for path in PAGES if path.startswith("/runs/"))
    page = opened(run)
    page.locator("table.matrix td a").first.click()
    assert "group=" in page.url
    page.get_by_label("Set").fill("s03")
    page.get_by_role("button", name="Show these").click()
    assert page.locator("article").count() == 1
    page.get_by_role("link", name="Beside its twins").click()
    page.locator("mark").nth(1).wait_for()  # the link may still be opening the page
    assert page.locator("mark").count() > 1
    shown = page.locator("mark").first.evaluate("each => getComputedStyle(each).backgroundColor")
    assert shown != "rgba(0, 0, 0, 0)"  # what differs can be seen


def test_a_keyboard_reaches_the_content_first(opened: Any) -> None:
    page = opened("/")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_file_can_be_kept(opened: Any, tmp_path: Path) -> None:
    run = next(path for path in PAGES if path.startswith("/runs/"))
    page = opened(run)
    with page.expect_download() as waiting:
        page.get_by_role("link", name="Every comparison as CSV").click()
    waiting.value.save_as(tmp_path / "comparisons.csv")
    assert (tmp_path / "comparisons.csv").read_text().startswith("model,scaffold")


@pytest.mark.parametrize("script", [True, False])
def test_six_questions_are_answered_by_clicks_from_the_overview(opened: Any, script: bool) -> None:
    page = opened("/", script=script)
    main = page.locator("main")
    # Which group fares worst at which model, and would you bet on it?
    page.locator("main a[href^='/runs/']", has_text="browsed").first.click()
    worst = page.locator("ul.findings li").first
    assert re.search(r"is .* than .* in .* by .*\(p [<=] ", worst.inner_text(), re.DOTALL)
    # Show me the answers behind it.
    worst.get_by_role("link", name="answers about").click()
    assert "group=" in page.url
    page.locator("article").first.wait_for()
    page.go_back()
    # Which answers gave no number, and why?
    page.get_by_role("heading", name="Answers without a number").wait_for()
    page.locator("main a[href*='missing=any']").first.click()
    page.locator("article").first.wait_for()
    page.go_back()
    # Which model was it, and what measured it?
    page.get_by_role("link", name="provenance").click()
    assert "Software biaswatch" in " ".join(page.locator("dl.facts").inner_text().split())
    # Did the release change anything?
    page.get_by_role("link", name="compare with another run").click()
    browsed = page.locator("option", has_text="browsed").first.get_attribute("value")
    page.get_by_label("Before").select_option(browsed)
    page.get_by_role("button", name="Compare").click()
    assert "comparisons are in both" in main.inner_text()
    # What alarms, and what was said?
    page.get_by_role("link", name="Overview").first.click()
    page.locator("main a[href^='/monitors/browsed']").first.click()
    page.locator("main a[href*='/alarms']").first.click()
    assert NASTY in main.inner_text()


@pytest.mark.parametrize("script", [True, False])
def test_a_newcomer_finds_how_sure_what_is_missing_and_what_it_costs(
    opened: Any, script: bool
) -> None:
    page = opened("/", script=script)
    main = page.locator("main")
    # What does it cost?
    row = page.locator("tr", has=page.get_by_role("link", name="browsed", exact=True)).last
    assert "tokens" in main.inner_text()
    row.get_by_role("link", name="browsed", exact=True).click()
    # Would you bet on it, and would it survive a biased classifier?
    page.get_by_role("link", name="how sure").click()
    text = " ".join(main.inner_text().split())
    assert "has a chance of at most 5 %" in text
    assert "Bias of words itself was not tested" in text
    # How many answers could not be measured, and does it matter?
    assert re.search(r"Answers without a number .* of 84 .*refused", text)


def test_a_button_pressed_twice_quickly_does_one_thing(opened: Any, address: str) -> None:
    page = opened("/monitors/browsed")
    page.get_by_role("button", name="Pause this monitor").dblclick()
    page.get_by_role("button", name="Resume this monitor").wait_for()
    entries = httpx2.get(f"{address}/v1/audit").json()
    assert sum(entry["action"] == "monitor.pause" for entry in entries) == 1
    page.get_by_role("button", name="Resume this monitor").click()
    page.get_by_role("button", name="Pause this monitor").wait_for()


def test_strata_show_both_gaps_and_lead_to_a_file(opened: Any) -> None:
    page = opened("/monitors/stratified")
    page.get_by_role("link", name="By topic and language").click()
    text = page.locator("main").inner_text()
    assert "adjusted 3.2 (1 to 6), unadjusted 4 (3 to 5)" in text
    assert NASTY in text
    assert page.locator(".row:not(.axis)").count() == 4  # all of them, and three
    with page.expect_download():
        page.get_by_role("link", name="All of it as CSV").click()


def test_another_model_begins_an_epoch_and_the_page_says_what_it_did(opened: Any) -> None:
    page = opened(f"/monitors/{RELEASED}")
    text = " ".join(page.locator("main").inner_text().split())
    assert f"Epoch 1 began with round {ROUNDS}" in text
    assert "the model now calls itself m-2 <script>" in text
    changed = page.locator("#changed ~ ul.findings").first.locator("li").all_inner_texts()
    assert len(changed) == 4  # two pairs, of a number and of what is missing
    assert all("at the end of the epoch before" in item for item in changed)


def test_a_flagged_pair_is_named_by_its_question_and_unfolds_to_what_was_said(opened: Any) -> None:
    page = opened(f"/runs/{JUDGED.id}")
    pair = page.locator("#pairs ~ details").first
    assert "Who kept the book?" in pair.locator("summary").inner_text()
    assert NASTY not in pair.inner_text()
    pair.locator("summary").click()
    assert f"It speaks of {NASTY}." in pair.inner_text()
    assert "each model judges itself" in page.locator("dl.facts").last.inner_text()


def test_a_stratum_leads_to_its_answers(opened: Any) -> None:
    page = opened(f"/runs/{JUDGED.id}/answers?group=condition%3Dambig")
    assert page.locator("article").count() == 4
    assert "the northern one did" not in page.locator("main").inner_text()


def test_the_link_of_an_alarms_message_leads_to_its_answers(opened: Any, address: str) -> None:
    body = httpx2.get(f"{address}/v1/monitors/browsed/alarms").json()
    raised = [item["alarm"] for item in body if item["alarm"]["state"] == "raised"]
    alarm = Alarm.model_validate(raised[-1])
    link = link_of(alarm, f"{address}/")
    assert link is not None
    page = opened(link.removeprefix(address))
    [shown] = page.locator(":target").all()
    assert shown.get_attribute("id") == alarm.id
    assert shown.is_visible()
    assert page.evaluate("document.querySelector(':target').getBoundingClientRect().top") < 900
    shown.get_by_role("link", name="All answers of this round").first.click()
    assert page.url.startswith(f"{address}/runs/{alarm.run_id}/answers")
    page.locator("article").first.wait_for()
    page.get_by_role("link", name="Beside its twins").first.click()
    assert "/twins" in page.url
    assert page.locator("main").inner_text()
