"""Plans of runs: sets, repeats, calls and power from a suite's structure."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from biaswatch.cli.application import app
from biaswatch.planning.observed import compared_shapes
from biaswatch.planning.run_plan_words import explained
from biaswatch.planning.runs import PlanOptions, RunAssumptions, RunPlan, planned_run
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.simulated_studies import StudyShape

QUICK = PlanOptions(repeats=(2,), simulations=50)
SELECTS = RunAssumptions(gap=0.4, rate=0.3)


def suite_of(probes: list[dict[str, Any]], **fields: object) -> Suite:
    given = {"name": "coasts", "extractors": ["words"], "features": ["words"], **fields}
    return Suite.model_validate({**given, "probes": probes})


def twins(sets: int, groups: tuple[str, ...] = ("France", "Peru")) -> list[dict[str, Any]]:
    return [
        {"key": f"{n}-{group}", "set": f"s{n}", "groups": {"place": group}, "prompt": "Describe."}
        for n in range(sets)
        for group in groups
    ]


def test_a_conversation_is_compared_by_turn_over_all_turns_and_in_its_drift() -> None:
    turn = {"role": "user", "content": "How far?"}
    history = [{"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hello."}]
    probes = [{**probe, "messages": [*history, turn, turn, turn]} for probe in twins(20)]
    for probe in probes:
        del probe["prompt"]
    family = {}
    for features in (("words",), ("words@drift",), ("words", "other@2")):
        suite = suite_of(probes, features=features, scaffolds=("conversation",))
        family[features] = planned_run(suite, SELECTS, QUICK, lambda _: None).test.family
    assert list(family.values()) == [5, 1, 6]


def alone(group: str, count: int) -> list[dict[str, Any]]:
    return [
        {"key": f"{group}{n}", "groups": {"place": group}, "prompt": "Describe."}
        for n in range(count)
    ]


def planned(
    suite: Suite, assumed: RunAssumptions = SELECTS, options: PlanOptions = QUICK
) -> RunPlan:
    return planned_run(suite, assumed, options, lambda _: None)


def test_a_suites_structure_is_that_of_its_comparisons() -> None:
    [paired] = compared_shapes(suite_of(twins(7)))
    assert (paired.a, paired.b, paired.shape) == ("France", "Peru", StudyShape(7))
    [single] = compared_shapes(suite_of([*alone("France", 3), *alone("Peru", 5)]))
    assert single.shape == StudyShape(0, 3, 5)
    [partly] = compared_shapes(suite_of([*twins(4), *alone("Peru", 5)]))
    assert partly.shape == StudyShape(4, 0, 5)


def test_families_of_prompts_within_groups_are_counted_as_families() -> None:
    probes = [
        {**probe, "set": f"{probe['groups']['place']}-{n // 4}"}
        for group in ("France", "Peru")
        for n, probe in enumerate(alone(group, 24))
    ]
    [result] = compared_shapes(suite_of(probes))
    assert result.shape == StudyShape(0, 6, 6, prompts_a=4, prompts_b=4, family_a=4, family_b=4)
    assert "6 families of prompts a group, unpaired" in explained(planned(suite_of(probes)))


def test_more_than_six_groups_are_planned_each_against_the_rest() -> None:
    result = compared_shapes(suite_of(twins(5, tuple("abcdefg"))))
    assert [item.b for item in result] == ["the rest"] * 7
    assert {item.shape for item in result} == {StudyShape(5, prompts_b=6)}


def test_a_plan_says_what_the_suite_finds_and_what_would_be_enough() -> None:
    result = planned(suite_of(twins(10)))
    as_it_is, enough = result.rows
    assert (as_it_is["sets"], as_it_is["prompts"], as_it_is["calls"]) == (10, 20, 40)
    assert isinstance(enough["sets"], int)
    assert enough["calls"] == enough["sets"] * 2 * 2
    assert isinstance(enough["power"], float)
    assert enough["power"] >= 0.8 > (as_it_is["power"] or 0)  # type: ignore[operator]
    text = explained(result)
    assert f"At least 80% of runs find the gap with {enough['sets']} sets and 2 repeats" in text
    assert "Alpha 0.05; tolerance" in text


def test_the_family_counts_comparisons_features_and_parts() -> None:
    suite = suite_of(twins(4, ("a", "b", "c")), features=["words", "chars"])
    result = planned(suite, options=PlanOptions(repeats=(1,), simulations=50, parts=2))
    assert result.test.family == 3 * 2 * 2


def test_groups_are_compared_and_answers_ranged_as_the_suite_declares() -> None:
    suite = suite_of(twins(4, ("a", "b", "c")), compared="rest", ranges={"words": [1, 5]})
    result = planned(suite, RunAssumptions(gap=1.0))
    assert result.test.family == 3
    assert result.compared.b == "the rest"
    assert result.answers.bounds == (1, 5)
    assert (result.answers.mean_a, result.answers.mean_b, result.answers.sd) == (3.5, 2.5, 1.0)


def test_of_a_bank_only_repeats_can_change() -> None:
    result = planned(suite_of(twins(5), claim="bank"), options=PlanOptions(simulations=50))
    assert [row["repeats"] for row in result.rows][:3] == [1, 3, 10]
    assert {row["sets"] for row in result.rows} == {5}
    assert result.rows[0]["power"] == 0  # nothing was answered twice
    assert "only more repeats help" in explained(result)


def test_a_gap_out_of_reach_is_said_to_be() -> None:
    result = planned(suite_of(twins(5)), RunAssumptions(gap=0.001, sd=0.4, between_sd=0.0))
    assert result.rows[1]["calls"] is None
    assert "Not even 4,096 sets find the gap" in explained(result)


@pytest.mark.parametrize(
    ("probes", "assumed", "message"),
    [
        (alone("France", 5), SELECTS, "Nothing can be planned"),
        (twins(5), RunAssumptions(gap=0.0, rate=0.5), "within the tolerance"),
        (
            twins(5),
            RunAssumptions(gap=0.7, rate=0.5),
            "--rate 0.5 and --gap 0.7 .* be 1.2, .*0 and 1",
        ),
        (twins(5), RunAssumptions(gap=0.3, rate=2.0), "--rate, .* between 0 and 1, not 2"),
        (
            twins(5),
            RunAssumptions(gap=3.0, level=3.0, bounds=(1.0, 5.0)),
            "--level 3 and --gap 3 .* 6",
        ),
        (
            twins(5),
            RunAssumptions(gap=-5.0, bounds=(1.0, 5.0)),
            "--gap of -5 is impossible on the range from 1 to 5",
        ),
        (twins(5), RunAssumptions(gap=0.2), "the spread of answers is unknown"),
        (twins(5), RunAssumptions(gap=0.2, rate=0.5, sd=0.1), "yes-or-no"),
        (twins(5), RunAssumptions(gap=0.2, bounds=(5.0, 1.0)), "the lower one first"),
    ],
)
def test_mistakes_are_sentences(
    probes: list[dict[str, Any]], assumed: RunAssumptions, message: str
) -> None:
    with pytest.raises(UsageError, match=f"(?i){message}"):
        planned(suite_of(probes), assumed)


def test_the_command_prints_a_table_or_json(tmp_path: Path) -> None:
    file = tmp_path / "suite.yaml"
    fields = {"name": "coasts", "extractors": ["words"], "features": ["words"]}
    file.write_text(yaml.safe_dump({**fields, "probes": twins(6)}))
    words = ["plan", str(file), "--gap", "0.5", "--rate", "0.2", "--repeats", "1"]
    shown = CliRunner().invoke(app, [*words, "--config", "simulations=50"])
    assert shown.exit_code == 0
    assert "as it is" in shown.stdout
    assert "Assumed: means of 0.7 and 0.2" in shown.stdout
    written = CliRunner().invoke(app, [*words, "--config", "simulations=50", "--json"])
    assert [row["suite"] for row in json.loads(written.stdout)] == ["as it is", "enough"]


def test_a_table_is_no_suite(tmp_path: Path) -> None:
    (path := tmp_path / "ratings.csv").write_text("group,rating\na,1\nb,2\n")
    with pytest.raises(
        UsageError, match=r"is a table, and a plan needs a suite: .* --sd, .* --like"
    ):
        CliRunner().invoke(app, ["plan", str(path), "--gap", ".2"], catch_exceptions=False)
