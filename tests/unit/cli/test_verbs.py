"""The list of verbs is true, and nothing is loaded before it is used."""

import shlex
import subprocess
import sys
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from typing import Any

import pytest
from typer.core import TyperGroup
from typer.testing import CliRunner

import biaswatch
from biaswatch.cli.application import LoadedVerbs, app, loaded
from biaswatch.cli.verbs import VERBS, Verb

RUNNER = CliRunner()
AFTER = """
import sys
from biaswatch.main import main
sys.argv = ["biaswatch", *{words!r}]
try:
    main()
finally:
    print(*sorted(each for each in {heavy!r} if each in sys.modules), file=sys.stderr)
"""


def loaded_by(words: list[str], heavy: list[str]) -> list[str]:
    """Return which of these packages a command has loaded."""
    code = AFTER.format(words=words, heavy=heavy)
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    return ended.stderr.split()


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_verb_says_of_itself_what_the_list_says(verb: Verb) -> None:
    written = LoadedVerbs()[verb.name].help or ""
    assert " ".join(written.split("\n\n")[0].split()) == verb.summary


def test_help_and_version_load_nothing_that_computes() -> None:
    heavy = ["numpy", "pandas", "pydantic", "scipy", "sqlalchemy", "nats"]
    assert loaded_by(["--help"], heavy) == []
    assert loaded_by(["--version"], heavy) == []


def test_a_table_of_counts_loads_neither_frames_nor_stores() -> None:
    heavy = ["pandas", "polars", "pyarrow", "sqlalchemy", "statsmodels", "fastapi"]
    assert loaded_by(["table", "1", "2", "3", "4"], heavy) == []


def words_of(verb: Verb) -> Iterator[tuple[list[str], Any]]:
    """Yield the words and the command of a verb, and of those within it."""

    def within(words: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:
        yield words, command
        for name, inner in getattr(command, "commands", {}).items():
            yield from within([*words, name], inner)

    yield from within([verb.name], LoadedVerbs()[verb.name])


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_help_shows_every_option_whole_on_80_columns(verb: Verb) -> None:
    for words, command in words_of(verb):
        shown = RUNNER.invoke(app, [*words, "--help"], env={"COLUMNS": "80"}).output
        assert "…" not in shown, words
        assert max(map(len, shown.splitlines())) <= 80, words
        named = {
            name
            for param in command.params
            if not getattr(param, "hidden", False)
            for name in (*param.opts, *param.secondary_opts)
            if name.startswith("-")
        }
        assert [name for name in sorted(named) if f"{name} " not in shown] == [], words


def test_help_groups_every_verb_by_what_it_is_for() -> None:
    shown = RUNNER.invoke(app, ["--help"]).output
    assert [panel for panel in ("Measure", "Watch", "Build", "Operate") if panel not in shown] == []
    assert [verb.name for verb in VERBS if f"│ {verb.name} " not in shown] == []


def test_the_version_is_that_of_the_package() -> None:
    assert RUNNER.invoke(app, ["--version"]).output == f"biaswatch {biaswatch.__version__}\n"


def test_a_misspelt_verb_is_told_the_nearest_one() -> None:
    ended = RUNNER.invoke(app, ["tabble", "1"])
    assert ended.exit_code == 2
    assert "Did you mean 'table'?" in ended.output


@pytest.mark.parametrize("words", [[], ["suites"], ["monitor"]], ids=" ".join)
def test_a_command_without_a_verb_prints_its_help_and_no_error(words: list[str]) -> None:
    ended = RUNNER.invoke(app, words)
    assert (ended.exit_code, "Usage: " in ended.output, "See `" in ended.output) == (2, True, False)


def test_who_stops_a_command_is_told_that_it_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("biaswatch.cli.diagnose.check_source", stopped)
    ended = RUNNER.invoke(app, ["diagnose", "answers.csv"])
    assert (ended.exit_code, ended.stderr) == (130, "Stopped.\n")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish", "powershell"])
def test_each_shell_gets_a_script_of_its_own(shell: str) -> None:
    ended = RUNNER.invoke(app, ["completion", shell])
    assert ended.exit_code == 0
    assert "_BIASWATCH_COMPLETE" in ended.output


def test_a_shell_is_told_the_verbs_that_begin_so() -> None:
    words = {"COMP_WORDS": "biaswatch mon", "COMP_CWORD": "1"}
    asked = {**words, "_BIASWATCH_COMPLETE": "complete_bash"}
    ended = RUNNER.invoke(app, [], env=asked, prog_name="biaswatch")
    assert ended.output.split() == ["monitor"]


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("rnus", "No such command 'rnus'. Did you mean 'runs'? See `biaswatch --help`."),
        (
            "channels list a b",
            (
                "`biaswatch channels list` takes no arguments: 'a b' is one too many."
                " See `biaswatch channels list --help`."
            ),
        ),
        (
            "run cv-hiring local:smollm2",
            (
                "`biaswatch run` takes only SUITE: 'local:smollm2' is one too many. Name models"
                " with --target. See `biaswatch run --help`."
            ),
        ),
        ("runs --lsat 3", "No such option: --lsat. Is --last meant? See `biaswatch runs --help`."),
        ("diagnose x.csv --plot", "Option '--plot' requires an argument. See `biaswatch --help`."),
        ("show", "Missing argument 'RUN'. See `biaswatch show --help`."),
        (
            "suites validate lending simulator:biased --limit 1",
            (
                "Invalid value for '--limit': it must be greater than or equal to 2."
                " See `biaswatch suites validate --help`."
            ),
        ),
        (
            "monitor shw x",
            "No such command 'shw'. Did you mean 'show'? See `biaswatch monitor --help`.",
        ),
    ],
)
def test_a_mistake_in_the_command_line_is_one_sentence(words: str, sentence: str) -> None:
    result = CliRunner().invoke(app, words.split(), prog_name="biaswatch")
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", f"biaswatch: {sentence}\n")


@pytest.mark.parametrize("verb", VERBS, ids=attrgetter("name"))
def test_help_of_each_verb_ends_with_an_example_that_can_be_read(
    verb: Verb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parents[3])
    shown = CliRunner().invoke(app, [verb.name, "--help"], env={"COLUMNS": "200"})
    assert f"Example: biaswatch {verb.example}" in shown.stdout
    name, *arguments = shlex.split(verb.example)
    command = loaded(verb)
    context = command.make_context(name, arguments)
    if isinstance(command, TyperGroup):
        command.resolve_command(context, arguments)
