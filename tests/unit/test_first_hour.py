"""The walk of a newcomer: actions in their order, in a folder of their own, ended with it."""

from pathlib import Path

import pytest

from tests.e2e.first_hour import Journey, JourneyAction, JourneyOutcome, journeys, walked

ROOT = Path(__file__).parents[2]


def walk(folder: Path, *actions: JourneyAction) -> JourneyOutcome:
    environment = {"PATH": "/usr/bin:/bin"}
    return walked(Journey("away", actions), folder, environment, lambda _: None)


def test_a_journey_is_done_when_its_last_action_prints_what_it_should(tmp_path: Path) -> None:
    outcome = walk(
        tmp_path,
        JourneyAction("echo begun > file; sleep 60", stays=True),
        JourneyAction("cat file", "begun", again=True),
        JourneyAction("echo the end", "the end"),
    )
    assert outcome.stopped_at == ""
    assert outcome.duration_s < 60


@pytest.mark.parametrize(
    "action",
    [
        JourneyAction("echo sorry; exit 3"),
        JourneyAction("echo sorry", "this"),
        JourneyAction("echo sorry", "is up", stays=True),
    ],
)
def test_a_journey_stops_at_an_action_that_fails_or_prints_something_else(
    tmp_path: Path, action: JourneyAction
) -> None:
    outcome = walk(tmp_path, action, JourneyAction("touch late"))
    assert outcome.stopped_at == action.command
    assert "sorry" in outcome.output
    assert not (tmp_path / "late").exists()


def test_every_example_of_a_journey_exists() -> None:
    words = [
        word
        for journey in journeys(ROOT)
        for action in journey.actions
        for word in action.command.split()
        if word.startswith("examples/")
    ]
    assert words
    assert [word for word in words if not (ROOT / word).exists()] == []


def test_an_application_of_the_examples_installs_what_the_tests_install() -> None:
    def lines(path: str) -> set[str]:
        text = (ROOT / path).read_text(encoding="utf-8")
        return {line.partition("#")[0].strip() for line in text.splitlines()} - {""}

    tested = lines("tests/otlp_clients/requirements_current.txt")
    assert lines("examples/fastapi/requirements.txt") <= tested
