"""Options, `--config` and the twelve options that a verb may have."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.cli.diagnose import DiagnoseVerb
from biaswatch.cli.requests import request_of
from biaswatch.readers.suites import load_suite, pilot_of
from biaswatch.shared.contracts.expansion import set_of
from biaswatch.shared.errors import UsageError

MAX_OPTIONS = 12
OPTIONS = {"group": "--group", "ranges": "--range", "fail_on": "--fail-on"}


def read(config: tuple[str, ...] = (), **given: Any) -> Any:
    return request_of(DiagnoseVerb, given, config, OPTIONS)


def leaves(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    """Yield every verb that is no group."""
    inner = getattr(command, "commands", None)
    if inner is None:
        yield path, command
        return
    for name, subcommand in inner.items():
        yield from leaves(subcommand, f"{path} {name}")


def test_help_shows_at_most_twelve_options_of_a_verb() -> None:
    counts = {
        path: sum(
            parameter.param_type_name == "option" and not parameter.hidden
            for parameter in command.params
        )
        for path, command in leaves(get_command(app), "biaswatch")
    }
    assert {path: count for path, count in counts.items() if count > MAX_OPTIONS} == {}


def test_options_win_over_a_file_and_later_fields_over_earlier_ones(tmp_path: Path) -> None:
    file = tmp_path / "gate.yaml"
    file.write_text("group: [race]\ntolerance: 0.2\nranges: {score: [1, 5], words: unknown}\n")
    request = read((str(file), "tolerance=0.3"), group=["gender"])
    assert (request.group, request.tolerance) == (("gender",), 0.3)
    assert request.ranges == {"score": (1.0, 5.0), "words": None}


def test_a_long_value_is_not_taken_for_a_file() -> None:
    assert read((f"labels={'x' * 5_000}",)).labels == ("x" * 5_000,)


def test_a_field_of_several_values_is_repeated_or_a_list() -> None:
    repeated = read(("statistic=mean", "statistic=median"))
    assert repeated.statistic == read(("statistic=[mean, median]",)).statistic == ("mean", "median")


@pytest.mark.parametrize(
    ("config", "given", "message"),
    [
        (("colour=red",), {}, r"^--config, colour: there is no such field\.$"),
        (("alpha=2",), {}, r"^--config, alpha: this must be below 1.0\.$"),
        (("nosuch.yaml",), {}, "There is no file nosuch.yaml"),
        ((), {"ranges": ["score=5"]}, "^--range: score=5 needs a number and a larger one"),
        ((), {"ranges": ["score=5:1"]}, "a number and a larger one"),
    ],
)
def test_a_wrong_field_is_one_sentence(
    config: tuple[str, ...], given: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read(config, **given)


def test_a_verb_of_this_machine_refuses_a_gateway() -> None:
    for words in (["table", "1", "2", "3", "4"], ["admin", "tokens", "list"]):
        ended = CliRunner().invoke(app, [*words, "--server", "http://elsewhere"])
        assert isinstance(ended.exception, UsageError)
        assert "leave --server out" in str(ended.exception)


def test_a_pilot_has_whole_sets_of_every_group() -> None:
    suite = load_suite(Path("suites/hiring-demo.yaml"))
    pilot = pilot_of(suite, 3)
    chosen = {set_of(probe) for probe in pilot.probes}
    assert len(chosen) == 3
    assert list(pilot.probes) == [probe for probe in suite.probes if set_of(probe) in chosen]
    assert pilot.name.endswith("-pilot-3")
    assert pilot_of(suite, 10_000) is suite


@pytest.mark.parametrize(
    ("option", "hint"),
    [
        ("--alpha", "Write --config alpha=VALUE."),
        ("--grup", "Is --group meant?"),
        ("--dry-run", "It is an option of `run`"),
        ("--zzz", "No such option: --zzz. See"),
    ],
)
def test_an_unknown_option_names_what_may_be_meant(option: str, hint: str) -> None:
    assert hint in CliRunner().invoke(app, ["diagnose", "a.csv", option, "1"]).output


@pytest.mark.parametrize(
    ("name", "hint"),
    [("cv-hirng", "There is no file cv-hirng. Is 'cv-hiring' meant?"),
     ("xyz", "There is no file xyz.")],
)  # fmt: skip
def test_suites_are_named_and_similar_names_are_suggested(name: str, hint: str) -> None:
    assert load_suite(Path("cv-hiring")).name == "cv-hiring"
    checked = CliRunner().invoke(app, ["suites", "check", "cv-hiring"])
    assert checked.exit_code == 0, checked.output
    with pytest.raises(UsageError) as refused:
        load_suite(Path(name))
    assert str(refused.value) == hint
