"""The walk of a newcomer: actions in their order, in a folder of their own, ended with it."""

from pathlib import Path

from tools.first_hour.journeys import Journey, JourneyAction, journeys, walked

ROOT = Path(__file__).parents[2]
ENVIRONMENT = {"PATH": "/usr/bin:/bin"}


def quietly(_: str) -> None:
    """Tell nobody."""


def test_a_journey_is_done_when_its_last_action_prints_what_it_should(tmp_path: Path) -> None:
    journey = Journey(
        "there",
        [
            JourneyAction("echo begun > file; sleep 60", stays=True),
            JourneyAction("cat file", "begun", again=True),
            JourneyAction("echo the end", "the end"),
        ],
    )
    outcome = walked(journey, tmp_path, ENVIRONMENT, quietly)
    assert outcome.stopped_at == ""
    assert outcome.took_s < 60


def test_a_journey_stops_at_the_action_that_fails_or_prints_something_else(tmp_path: Path) -> None:
    for command, prints in (("exit 3", ""), ("echo other", "this")):
        journey = Journey("away", [JourneyAction(command, prints), JourneyAction("touch late")])
        outcome = walked(journey, tmp_path, ENVIRONMENT, quietly)
        assert outcome.stopped_at == command
    assert not (tmp_path / "late").exists()


def test_what_stays_has_to_stay_until_it_has_said_that_it_is_there(tmp_path: Path) -> None:
    gone = Journey("gone", [JourneyAction("echo sorry", "is up", stays=True)])
    outcome = walked(gone, tmp_path, ENVIRONMENT, quietly)
    assert outcome.stopped_at == "echo sorry"
    assert "sorry" in outcome.printed


def test_every_file_of_the_examples_that_a_journey_names_is_there() -> None:
    named = [
        word
        for journey in journeys(ROOT)
        for action in journey.actions
        for word in action.command.split()
        if word.startswith("examples/")
    ]
    assert named
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_an_application_of_the_examples_installs_what_the_tests_install() -> None:
    def lines(path: str) -> set[str]:
        text = (ROOT / path).read_text(encoding="utf-8")
        return {line.partition("#")[0].strip() for line in text.splitlines()} - {""}

    tried = lines("tests/otlp_clients/requirements_current.txt")
    assert lines("examples/fastapi/requirements.txt") <= tried
