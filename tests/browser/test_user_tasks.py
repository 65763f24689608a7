"""Five tasks of a person new to the product, in a real Chromium: each within six actions."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.browsed_platform import RUN, SUITE, browsed_platform

MAX_ACTIONS = 6


class Person:
    """A browser on the overview that counts what is done with it, and notes it."""

    def __init__(self, page: Any) -> None:
        self.page = page
        self.actions: list[str] = []

    def click(self, name: str, role: str = "link") -> None:
        """Click on the first link, button or box with a name."""
        self.actions.append(f"click {name!r}")
        self.page.get_by_role(role, name=name).first.click()

    def open_run(self) -> None:
        """Click on the run in the table of runs."""
        self.actions.append(f"click {RUN.suite!r} among the runs")
        runs = self.page.get_by_role("region", name="The latest runs")
        runs.get_by_role("link", name=RUN.suite).last.click()  # an earlier task started one

    def choose(self, label: str, option: str) -> None:
        """Choose an option of a list."""
        self.actions.append(f"choose {option[:20]!r} as {label!r}")
        self.page.get_by_role("combobox", name=label).select_option(option)

    def waits_for(self, heading: str) -> None:
        """Wait until the page has a heading, without an action."""
        self.page.get_by_role("heading", name=heading).wait_for()

    def reads(self, text: str) -> None:
        """Check that the page says something."""
        assert text in " ".join(self.page.locator("main").inner_text().split())


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with browsed_platform(tmp_path_factory.mktemp("tasks")) as result:
        yield result


def finds_the_worse_group(person: Person) -> None:
    person.open_run()
    person.reads("Disparity in")
    person.reads(RUN.targets[0].name)


def sees_whether_a_monitor_alarms_and_since_when(person: Person) -> None:
    person.reads("Raised alarms")
    person.reads("since 20")


def reads_the_answers_behind_an_alarm(person: Person) -> None:
    person.click("The answers behind it")
    person.reads("Evidence, guarantee, deliveries")


def starts_a_run_that_can_decide(person: Person) -> None:
    person.click("Start a run")
    person.choose("Suite", SUITE.hash)
    person.click(RUN.targets[0].name, "checkbox")
    person.waits_for("The gap that 80 % of runs find")
    person.reads("of such runs find a gap of")
    person.reads("The same as a file")
    person.click("Choose 10")
    person.reads("10, chosen")
    person.click("Start a run", "button")
    assert "/runs/" in person.page.url


def sends_the_result_to_a_board(person: Person) -> None:
    person.open_run()
    person.click("one page for a board")
    person.reads("Next steps")
    person.page.get_by_role("button", name="Print or save as PDF").wait_for()  # shown by a script
    with person.page.expect_download() as download:
        person.click("Download as a file")
    assert Path(download.value.path()).read_text().startswith("<!doctype html>")


TASKS = (
    starts_a_run_that_can_decide,  # first, while the extractor's announcement is fresh
    finds_the_worse_group,
    sees_whether_a_monitor_alarms_and_since_when,
    reads_the_answers_behind_an_alarm,
    sends_the_result_to_a_board,
)


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.__name__)
def test_a_task_succeeds_within_six_actions(
    chromium: Any, address: str, task: Callable[[Person], None]
) -> None:
    page = chromium.new_page()
    page.goto(address)
    person = Person(page)
    task(person)
    page.close()
    print(f"{task.__name__}: {'; '.join(person.actions) or 'reads the overview'}")
    assert len(person.actions) <= MAX_ACTIONS
