"""What the command line takes for a run, and what for a file."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.cli.run_progress import resumed_remark
from biaswatch.local.runs import may_name_run, whole_run_id
from biaswatch.shared.errors import NotFoundError, UsageError
from biaswatch.shared.requests.run_views import RunProgress
from tests.support.records import make_progress

WHOLE = "ab12" + "0" * 28


class NoRuns:
    """A gateway without any run."""

    async def progress(self, written: str) -> RunProgress:
        """Refuse."""
        raise NotFoundError(f"There is no run {written}.")


def named(written: str, *, or_file: bool = False) -> str:
    """Return the run that this names."""
    runs: Any = NoRuns()
    return asyncio.run(whole_run_id(runs, written, or_file=or_file))


def test_a_whole_id_is_taken_as_it_is() -> None:
    assert named("f" * 32) == "f" * 32


def test_where_a_file_could_be_meant_both_are_said_to_be_missing() -> None:
    with pytest.raises(UsageError, match="There is no file cccc, and no run has this id or name"):
        named("cccc", or_file=True)
    with pytest.raises(UsageError, match="There is no run latest"):
        named("latest", or_file=True)


@pytest.mark.parametrize("verb", ["diagnose", "ll144"])
def test_verbs_of_runs_or_files_say_that_there_is_neither(verb: str) -> None:
    ended = CliRunner().invoke(app, [verb, "nosuch.csv"])
    assert str(ended.exception) == (
        "There is no file nosuch.csv, and no run has this id or name: `biaswatch runs` lists them."
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
    forms = ("ab12", WHOLE, "latest", "release 2", "answers.csv", "1ab", "a/b")
    assert [may_name_run(form) for form in forms] == [True, True, True, True, False, False, False]


def test_a_resumed_run_says_what_is_not_asked_again() -> None:
    begun = datetime(2026, 1, 1, 12, tzinfo=UTC)
    progress = make_progress(at=begun, responses=210, probes=210)
    assert resumed_remark(progress, begun + timedelta(seconds=5)) is None
    remark = resumed_remark(progress, begun + timedelta(hours=1)) or ""
    assert "began on 2026-01-01 12:00 UTC" in remark
    assert "210 of 210 answers: nothing is asked. Use --new" in remark
