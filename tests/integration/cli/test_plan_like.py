"""`plan --like RUN`: spread, repeats and missing answers of a stored run, without a platform up."""

import json
from pathlib import Path

import pytest

from biaswatch.shared.store import Store, migrate
from tests.support.commands import CommandLine
from tests.support.measured_runs import make_measured_run, make_suite, write_measured_run

SUITE = make_suite(sets=8)
RUN = make_measured_run(SUITE, repeats=3)


@pytest.fixture
def command(tmp_path: Path) -> CommandLine:
    url = f"sqlite:///{tmp_path / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        write_measured_run(store, RUN, SUITE)
    return CommandLine(tmp_path)


def suite_file(folder: Path) -> str:
    path = folder / "suite.json"
    path.write_text(SUITE.model_dump_json(exclude_none=True, exclude_defaults=True))
    return str(path)


def test_a_plan_takes_from_a_run_what_nobody_has_to_assume_then(
    command: CommandLine, tmp_path: Path
) -> None:
    words = ("plan", suite_file(tmp_path), "--gap", "0.4", "--config", "simulations=50")
    like = ("--like", RUN.id, "--feature", "sentiment", "--group", "race")
    result = command(*words, *like, "--json")
    assert result.returncode == 0, result.stderr
    assert {row["repeats"] for row in json.loads(result.stdout)} == {1, 3, 10}
    output = command(*words, *like).stdout
    assert "sentiment, unless an option sets another value: mean" in " ".join(output.split())
    assert "3 answers per prompt" in " ".join(output.split())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--like", RUN.id), "select one with --feature"),
        (("--like", "nothing"), "No run has the id or the name nothing"),
        (("--like", "0" * 32), "0" * 32),
        (("--like", RUN.id, "--feature", "rage"), "has no feature 'rage'"),
        (("--feature", "words"), "require a run: name one with --like"),
        (("--like", RUN.id, "--feature", "sentiment", "--group", "age"), "has no dimension 'age'"),
    ],
)
def test_what_cannot_be_taken_from_a_run_is_one_sentence(
    command: CommandLine, tmp_path: Path, options: tuple[str, ...], sentence: str
) -> None:
    result = command("plan", suite_file(tmp_path), "--gap", "0.4", *options)
    assert result.returncode in (1, 2)
    assert sentence in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr
