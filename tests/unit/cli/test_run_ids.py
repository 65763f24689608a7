"""The beginning of an id names a run, where it is plain which."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.local.runs import may_name_run, whole_run_id
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.run_views import RunProgress, RunState

IDS = ("ab12" + "0" * 28, "ab34" + "0" * 28, "ab34" + "1" * 28)


class ThreeRuns:
    """What is asked of a gateway that has three runs."""

    async def runs(self, last: int, *, begins: str) -> list[RunProgress]:
        """Return the runs that begin so."""
        found = [id_ for id_ in IDS if id_.startswith(begins)][:last]
        at, none = datetime(2026, 1, 1, tzinfo=UTC), dict.fromkeys(("probes", "responses"), 0)
        return [
            RunProgress(
                run_id=id_, suite="hiring", targets=[], at=at, state=RunState.COMPLETE, opening=1,
                features=0, features_expected=0, diagnoses=0, **none,
            )
            for id_ in found
        ]  # fmt: skip


def named(written: str, *, or_file: bool = False) -> str:
    """Return the run that this names."""
    runs: Any = ThreeRuns()
    return asyncio.run(whole_run_id(runs, written, or_file=or_file))


def test_four_digits_that_one_run_begins_with_name_it() -> None:
    assert named("ab12") == IDS[0]


def test_a_whole_id_is_taken_as_it_is() -> None:
    assert named("f" * 32) == "f" * 32


@pytest.mark.parametrize(
    ("written", "said"),
    [
        ("ab34", f"Several run ids begin with ab34.*\n  {IDS[1]}  hiring\n  {IDS[2]}  hiring"),
        ("cccc", "No run id begins with cccc"),
        ("ab1", "'ab1' is not a run id"),
        ("hiring", "'hiring' is not a run id"),
    ],
)
def test_what_names_no_one_run_is_a_sentence(written: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        named(written)


def test_where_a_file_could_be_meant_both_are_said_to_be_missing() -> None:
    with pytest.raises(UsageError, match="There is no file cccc, and no run id begins with it"):
        named("cccc", or_file=True)


@pytest.mark.parametrize("verb", ["diagnose", "ll144"])
@pytest.mark.parametrize("word", ["nosuch", "nosuch.csv"])
def test_verbs_of_runs_or_files_say_that_there_is_neither(verb: str, word: str) -> None:
    ended = CliRunner().invoke(app, [verb, word])
    assert str(ended.exception) == (
        f"There is no file {word}, and no run id begins with it: `biaswatch runs` lists them."
    )


@pytest.mark.parametrize(
    "words",
    [
        ["run", "nosuch"],
        ["plan", "nosuch.yaml"],
        ["build", "nosuch"],
        ["monitor", "apply", "nosuch"],
        ["table", "nosuch"],
        ["interpret", "nosuch"],
        ["suites", "make", "bbq", "--answers", "nosuch", "--column", "said", "-o", "out"],
    ],
    ids=" ".join,
)
def test_a_file_that_is_not_there_is_said_before_what_is_missing_beside_it(
    words: list[str],
) -> None:
    ended = CliRunner().invoke(app, words)
    assert isinstance(ended.exception, UsageError)
    assert str(ended.exception).startswith("There is no file nosuch")


def test_a_file_is_told_from_a_run_by_its_form() -> None:
    forms = ("ab12", IDS[0], "answers.csv", "abc", "AB12")
    assert [may_name_run(each) for each in forms] == [True, True, False, False, False]
