"""`biaswatch compare RUN RUN`: the answer first, each change with its test, any gateway."""

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from biaswatch.shared.contracts import Features, Run, probes_of
from biaswatch.shared.contracts.derived_features import Scale
from biaswatch.shared.store import Store, migrate
from tests.support.commands import CommandLine
from tests.support.measured_runs import AT, make_measured_run, make_suite, write_measured_run

TOKEN = "reader"
SUITE = make_suite(sets=14)
BEFORE, SAME, RELEASED = (
    make_measured_run(SUITE, nonce=nonce) for nonce in ("", "same", "release")
)
OTHERS = SUITE.model_copy(
    update={
        "name": "others",
        "probes": tuple(p.model_copy(update={"key": f"x{p.key}"}) for p in SUITE.probes[:12]),
    }
)
OTHER, FEWER = make_measured_run(OTHERS), make_measured_run(make_suite(sets=6), targets=1)
RENAMED = SUITE.model_copy(
    update={
        "name": "renamed",
        "probes": tuple(
            probe.model_copy(update={"groups": {"race": "green", "age": "old"}, "key": f"g{n}"})
            if n % 6 == 0
            else probe
            for n, probe in enumerate(SUITE.probes)
        ),
    }
)
NEW_GROUPS = make_measured_run(RENAMED)
RANKS = SUITE.model_copy(update={"name": "ranks", "scale": {"words": Scale.RANK}})
RANKED = make_measured_run(RANKS)


@pytest.fixture(scope="module")
def command(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandLine]:
    """Keep a platform up whose store has runs before and after a release, and others."""
    state = tmp_path_factory.mktemp("state")
    url = f"sqlite:///{state / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        for run in (BEFORE, SAME):
            write_measured_run(store, run, SUITE)
        write_measured_run(store, RELEASED, SUITE, moved={"black": -1.5})
        write_measured_run(store, OTHER, OTHERS)
        write_measured_run(store, FEWER, make_suite(sets=6))
        write_measured_run(store, NEW_GROUPS, RENAMED)
        write_measured_run(store, RANKED, RANKS)
    command_line = CommandLine(state, BIASWATCH_GATEWAY_READ_TOKEN=TOKEN, BIASWATCH_TOKEN=TOKEN)
    with command_line.up():
        yield command_line


def compared(command: CommandLine, *words: str) -> Any:
    result = command("compare", *words, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def prompt_means(command: CommandLine, run: Run, race: str) -> dict[str, float]:
    """Compute the mean sentiment of each prompt about a race from the stored measurements."""
    with Store.open(f"sqlite:///{command.state / 'store.db'}") as store:
        values = {
            features.probe_id: features.values["sentiment"]
            for features in store.records.read(Features, run_id=run.id)
            if features.extractor == "vader" and features.values
        }
    by_unit: dict[str, list[float]] = {}
    for probe in probes_of(run, SUITE, AT):
        value = values.get(probe.id)
        asked = probe.groups["race"] == race and probe.target.name == "simulator:m0"
        if asked and value is not None:
            by_unit.setdefault(probe.unit_id, []).append(value)
    return {unit: fmean(readings) for unit, readings in by_unit.items()}


def test_what_a_release_changed_is_the_first_line(command: CommandLine) -> None:
    words = ("--feature", "sentiment", "--group", "race", "--target", "simulator:m0")
    result = command("compare", BEFORE.id, RELEASED.id, *words)
    assert result.returncode == 0, result.stderr
    text = " ".join(result.stdout.split())
    assert text.startswith("Yes, 4 of 11 gaps, means and shares of missing answers changed: the")
    assert "the gap asian - black of sentiment" in text
    assert "the mean of sentiment for black" in text
    assert "Both runs have 84 prompts in common" in text
    assert "In the second run, 59 of 336 answers have no values by vader" in text


def test_changes_are_those_of_the_stored_measurements(command: CommandLine) -> None:
    comparison = compared(
        command, BEFORE.id, RELEASED.id, "--feature", "sentiment", "--group", "race",
        "--target", "simulator:m0",
    )  # fmt: skip
    was, now = (prompt_means(command, run, "black") for run in (BEFORE, RELEASED))
    (level,) = [c for c in comparison["changes"] if c["of"] == "mean" and c["a"] == "black"]
    by_set: dict[str, list[float]] = {}
    for unit in was:
        by_set.setdefault(unit.split(".")[0], []).append(now[unit] - was[unit])
    assert level["change"] == pytest.approx(fmean(map(fmean, by_set.values())), abs=1e-10)
    assert level["change"] == pytest.approx(-1.5, abs=1e-9)
    assert level["verdict"] == "changed"
    assert comparison["about"]["families"] == {"gaps": 3, "levels": 8}


def test_equal_runs_change_nothing_and_say_what_is_shown(command: CommandLine) -> None:
    words = (BEFORE.id, SAME.id, "--feature", "sentiment")
    comparison = compared(command, *words)
    assert comparison["answer"].startswith("Not shown: none of ")
    assert {row["verdict"] for row in comparison["changes"]} == {"inconclusive"}
    assert {row["domain"] for row in comparison["changes"]} == {"simulator:m0", "simulator:m1"}
    wide = compared(command, *words, "--tolerance", "3", "--config", "missing_tolerance=0.9")
    assert {row["verdict"] for row in wide["changes"] if row["of"] == "missing"} == {"no_change"}
    undecided = {row["reason"] for row in wide["changes"] if row["verdict"] != "no_change"}
    assert {reason.rsplit(": ", 1)[1] for reason in undecided} == {"declare the range"}


def test_two_targets_of_one_run_are_compared(command: CommandLine) -> None:
    targets = ("--target", "simulator:m0", "--other-target", "simulator:m1")
    comparison = compared(command, BEFORE.id, BEFORE.id, *targets, "--feature", "sentiment")
    assert comparison["about"]["prompts"] == 84
    assert {row["domain"] for row in comparison["changes"]} == {None}
    assert any(row["change"] for row in comparison["changes"])


def test_a_run_of_fewer_prompts_and_targets_is_compared_where_both_have_them(
    command: CommandLine, tmp_path: Path
) -> None:
    result = command(
        "compare", BEFORE.id, FEWER.id, "--feature", "sentiment", "-o", str(tmp_path / "c.csv")
    )
    text = " ".join(result.stdout.split())
    assert "Only the first run has simulator:m1: left out." in text
    assert "Both runs have 36 prompts in common" in text
    assert "Left out: 48 prompts of the first run alone" in text
    assert "48 prompts that only one run has were not compared." in text
    with (tmp_path / "c.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert {row["of"] for row in rows} == {"gap", "mean", "missing"}


def test_what_only_one_run_has_is_said_to_be_left_out(command: CommandLine) -> None:
    words = (BEFORE.id, NEW_GROUPS.id, "--feature", "sentiment", "--target", "simulator:m0")
    warnings = compared(command, *words)["warnings"]
    assert "Only the second run has the dimensions age: left out." in warnings
    assert "Only the second run has of race green: left out." in warnings


def test_runs_of_other_prompts_are_compared_by_all_of_them(command: CommandLine) -> None:
    words = (BEFORE.id, OTHER.id, "--feature", "sentiment", "--target", "simulator:m0")
    comparison = compared(command, *words)
    assert comparison["about"]["matched"] is False
    assert {row["of"] for row in comparison["changes"]} == {"gap", "mean", "missing"}
    assert any("no prompts in common" in warning for warning in comparison["warnings"])
    text = " ".join(command("compare", *words).stdout.split())
    assert "All prompts of each run count: 0 of both" in text


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((BEFORE.id, BEFORE.id), 2, "Both sides are the same answers"),
        ((BEFORE.id, RANKED.id), 2, "on different scales, words and rank(words): ask"),
        ((BEFORE.id, "tuesday"), 2, "No run has the id or the name tuesday"),
        (
            (BEFORE.id, SAME.id, "--target", "m9"),
            2,
            "has no target 'm9'. Known targets: simulator:m0",
        ),
        ((BEFORE.id, SAME.id, "--feature", "rating"), 2, "has no feature 'rating'"),
        ((BEFORE.id, SAME.id, "--fail-on", "disparity"), 2, "write `change`, or a size"),
        ((BEFORE.id, SAME.id, "--config", "missing_tolerance=-1"), 2, "this must be at least 0"),
        ((BEFORE.id, SAME.id, "--fail-on", "change"), 3, "44 of 56 answers about white in the"),
        (
            (BEFORE.id, SAME.id, "--fail-on", "change", "--config", "min_measured=0.7"),
            0,
            "Gate passed",
        ),
        ((BEFORE.id, RELEASED.id, "--fail-on", "change"), 1, "Gate failed"),
        (
            (BEFORE.id, RELEASED.id, "--fail-on", "1.9", "--config", "min_measured=0.7"),
            0,
            "Gate passed",
        ),
        ((BEFORE.id, SAME.id, "--server", "http://127.0.0.1:9"), 3, "does not answer"),
    ],
)
def test_what_cannot_be_compared_is_one_sentence_and_a_change_can_end_with_1(
    command: CommandLine, words: tuple[str, ...], code: int, sentence: str
) -> None:
    result = command("compare", *words)
    assert result.returncode == code, result.stderr
    assert sentence in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_a_gateway_elsewhere_gives_the_same_changes(command: CommandLine, tmp_path: Path) -> None:
    url = json.loads((command.state / "platform.json").read_text())["url"]
    words = (BEFORE.id, RELEASED.id, "--feature", "sentiment")
    elsewhere = CommandLine(tmp_path / "elsewhere")
    comparison = compared(elsewhere, *words, "--server", url, "--token", TOKEN)
    assert comparison == compared(command, *words)
