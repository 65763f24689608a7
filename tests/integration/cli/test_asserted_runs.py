"""`assert_no_disparity(run)` uses what the run's suite declares, and says what is missing."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biaswatch as bw
from biaswatch.api.platforms import ConnectedPlatform, FinishedRun
from biaswatch.shared.contracts import Claim, Probe, Suite, SuiteProbe
from biaswatch.shared.errors import UsageError
from biaswatch.shared.store import Store, migrate
from tests.support.commands import CommandLine
from tests.support.finished_run import write_finished_run

TOKEN = "reader"
Values = Callable[[Probe], float | None]
COLUMNS: dict[str, Any] = {"group": "groups.g", "feature": "judge.rude", "permutations": 0}


def suite(name: str, prompts: int, *, paired: bool = False, **declared: Any) -> Suite:
    """Make a suite with the same number of prompts about each of two groups."""
    return Suite(
        name=name,
        extractors=("judge",),
        features=("rude",),
        probes=tuple(
            SuiteProbe(
                key=f"{group}{n}", prompt=f"{name} {group} {n}", groups={"g": group},
                set=f"s{n}" if paired else None,
            )
            for group in "ab"
            for n in range(prompts)
        ),
        **declared,
    )  # fmt: skip


def number_of(probe: Probe) -> int:
    """Return the number of a prompt within its group."""
    return int(probe.key[1:])


RNG = np.random.default_rng(5)
SETS = RNG.normal(0, 3, 40)


def of_prompts(probe: Probe) -> float:
    """Return values that differ between prompts, hardly between repeats, and not by group."""
    level = SETS[number_of(probe) + (20 if probe.groups["g"] == "b" else 0)]
    return float(level + 0.01 * probe.repeat)


def of_sets(probe: Probe) -> float:
    """Return values that differ between sets, and within each by group."""
    n = number_of(probe)
    return float(SETS[n] + (0.5 if probe.groups["g"] == "a" else 0.0) + 0.01 * (n % 7))


def beyond(probe: Probe) -> float:
    """Return values between 0 and 1, and 99 for most prompts about one group."""
    n = number_of(probe)
    return 99.0 if probe.groups["g"] == "b" and n % 3 else (n % 5) / 4


def selected(probe: Probe) -> float | None:
    """Return the same values for both groups, without the larger ones of one group."""
    value = number_of(probe) / 100
    return None if probe.groups["g"] == "b" and value > 0.82 else value


RUNS: dict[str, tuple[Suite, Values, int]] = {
    "repeats": (suite("repeats", 20), of_prompts, 10),
    "bank": (suite("bank", 20, claim=Claim.BANK), of_prompts, 10),
    "sets": (suite("sets", 40, paired=True), of_sets, 1),
    "ranges": (suite("ranges", 30, ranges={"rude": (0.0, 1.0)}), beyond, 1),
    "selected": (suite("selected", 100, ranges={"rude": (0.0, 1.0)}), selected, 4),
}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], FinishedRun]]:
    """Keep a platform up whose store has these runs; give what reads one of them."""
    state = tmp_path_factory.mktemp("state")
    url = f"sqlite:///{state / 'store.db'}"
    migrate(url)
    with Store.open(url) as store:
        ids = {
            name: write_finished_run(store, suite_, value, repeats=repeats).id
            for name, (suite_, value, repeats) in RUNS.items()
        }
    command = CommandLine(state, BIASWATCH_GATEWAY_READ_TOKEN=TOKEN)
    with command.up():
        platform: ConnectedPlatform = bw.connect(_url(state), TOKEN)
        yield lambda name: platform.results(ids[name])


def _url(state: Path) -> str:
    return str(json.loads((state / "platform.json").read_text())["url"])


@pytest.mark.parametrize("options", [{}, COLUMNS])
def test_repeats_of_a_prompt_are_one_unit(
    runs: Callable[[str], FinishedRun], options: dict[str, Any]
) -> None:
    run = runs("repeats")
    assert not bw.assert_no_disparity(run, **options).has_disparity
    with pytest.raises(AssertionError, match="a disparity"):  # of answers as if independent
        bw.assert_no_disparity(run.answers(), **COLUMNS)


def test_the_claim_of_the_suite_holds_unless_another_is_given(
    runs: Callable[[str], FinishedRun],
) -> None:
    run = runs("bank")
    with pytest.raises(AssertionError, match="1 of 1 comparisons are a disparity"):
        bw.assert_no_disparity(run, **COLUMNS)
    assert not bw.assert_no_disparity(run, claim="population", **COLUMNS).has_disparity


def test_groups_are_compared_within_the_sets_of_the_suite(
    runs: Callable[[str], FinishedRun],
) -> None:
    with pytest.raises(AssertionError, match="a higher than b, rude: a disparity"):
        bw.assert_no_disparity(runs("sets"))
    assert not bw.assert_no_disparity(runs("sets").answers(), **COLUMNS).has_disparity


def test_values_beyond_the_range_of_the_suite_are_missing_and_too_many_of_them_fail(
    runs: Callable[[str], FinishedRun],
) -> None:
    with pytest.raises(AssertionError, match="10 of 30 answers about b gave a number"):
        bw.assert_no_disparity(runs("ranges"))
    assert not bw.assert_no_disparity(runs("ranges"), min_measured=0.3).has_disparity


def test_a_disparity_that_missing_answers_could_undo_says_so_in_its_own_sentence(
    runs: Callable[[str], FinishedRun],
) -> None:
    run = runs("selected")
    assert run.has_disparity
    doubt = r"rude: a disparity .*, but the missing answers could undo it\."
    with pytest.raises(AssertionError, match=doubt):
        bw.assert_no_disparity(run)
    assert "The missing answers could undo the disparity" in run.warnings[0]
    assert run.sentences[0].endswith(", but the missing answers could undo it.")
    assert run.check().code == 1
    assert run.gaps()["survives_missing"].tolist() == [False]


def test_the_numbers_of_an_assertion_are_those_of_the_findings(
    runs: Callable[[str], FinishedRun],
) -> None:
    run = runs("repeats")
    [gap], [row] = run.results.diagnoses[0].gaps, bw.assert_no_disparity(run).parts["comparisons"]
    assert row["ci"] == [gap.gap.low, gap.gap.high]
    assert row["p_adjusted"] == gap.p_adjusted


def test_options_that_a_run_cannot_have_are_one_sentence(
    runs: Callable[[str], FinishedRun],
) -> None:
    run = runs("repeats")
    for options, sentence in (
        ({"labels": "x"}, "`labels` is for a frame"),
        ({"group": "age"}, "has no field 'age'"),
        ({"min_measured": 2}, "`min_measured` is 2; write a share between 0 and 1"),
    ):
        with pytest.raises(UsageError, match=sentence):
            bw.assert_no_disparity(run, **options)
