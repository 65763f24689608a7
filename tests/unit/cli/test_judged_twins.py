"""Suites that ask a judge which of two twins' answers is warmer, and verdicts on its replies."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import biaswatch as bw
from biaswatch.cli.application import app
from biaswatch.exporting.judged_axes import ProposedAxes, halves, proposal_suite, proposed_axes
from biaswatch.exporting.judged_twins import (
    AGAINST,
    CRITERIA,
    CRITERION,
    GROUP,
    PAIR,
    JudgedReply,
    judged_pairs,
    preferences,
)
from biaswatch.exporting.twin_answers import Row, rows_of_file, twin_answers, without_groups
from biaswatch.readers.suites import load_suite
from biaswatch.shared.contracts import Suite
from biaswatch.shared.errors import UsageError

NAMES = {"women": ("Emily", "Aisha"), "men": ("Greg", "Omar")}


def rows(sets: int = 2, target: str = "m") -> Iterator[Row]:
    """Yield two answers for each set and group, as `biaswatch export` writes them."""
    for number in range(sets):
        for group, names in NAMES.items():
            for origin, name in zip(("west", "east"), names, strict=True):
                messages = [{"role": "user", "content": f"Write to {name}, a woman I know."}]
                row = {
                    "key": f"{number}-{name}",
                    "set": f"s{number}",
                    "target": target,
                    "repeat": 0,
                    "groups.gender": group,
                    "groups.origin": origin,
                    "stimuli.name": name,
                    "messages": json.dumps(messages),
                    "text": f"Dear {name}, he said: <{number}>",
                }
                yield f"a.jsonl, line {number}", row


def suite(sets: int = 2) -> Suite:
    return judged_pairs(twin_answers(rows(sets), "gender"), "gender", {"warm": "warmer"})


def test_each_pair_is_asked_in_both_orders_without_words_for_the_groups() -> None:
    probes = suite(1).probes
    assert [probe.groups["gender"] for probe in probes] == ["women", "men"] * 2
    assert {probe.set for probe in probes} == {"s0/men-women"}
    assert [probe.stimuli["name"] for probe in probes] == ["Aisha", "Omar", "Emily", "Greg"]
    for probe in probes:
        assert "Which one is warmer?" in str(probe.prompt)
        assert "> Dear [...], [...] said: <0>" in str(probe.prompt)
        words = set(re.findall(r"\w+", str(probe.prompt)))
        assert not words & {"Emily", "Greg", "Aisha", "Omar", "woman", "he"}


def test_answers_without_a_twin_are_counted() -> None:
    own = [*rows(1)][:3]  # two of women, one of men
    twins = twin_answers([*own, ("b", {"target": "m"})], "gender")
    assert (len(judged_pairs(twins, "gender", CRITERIA).probes), twins.left_out) == (12, 2)


SOUND = {"set": "s", "groups.gender": "men", "text": "x", "target": "m"}


@pytest.mark.parametrize(
    ("row", "target", "message"),
    [
        (dict(next(rows())[1], target="other"), None, "several targets .m, other."),
        (SOUND, "nosuch", "no answers of nosuch; the targets are m[.]"),
        ({**SOUND, "target": None}, None, "several targets .m, unnamed."),
        (5, None, "line 9: this is not a row"),
        ({**SOUND, "text": 3}, None, "line 9: `text` must be a text"),
        ({**SOUND, "messages": "not json"}, None, "line 9: `messages` is not as"),
        ({**SOUND, "set": "s" * 300}, None, "line 9: `set` has more than 200"),
    ],
)
def test_odd_rows_are_refused_in_a_sentence(row: Any, target: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        twin_answers([*rows(), ("a.jsonl, line 9", row)], "gender", target)


def test_a_dimension_without_answers_or_without_twins_is_refused() -> None:
    with pytest.raises(UsageError, match="dimensions are gender, origin"):
        twin_answers(rows(), "age")
    with pytest.raises(UsageError, match="No set has answers of two groups"):
        judged_pairs(twin_answers([*rows()][:2], "gender"), "gender", {"warm": "warmer"})


def replies(
    sets: int, rng: np.random.Generator, warmer: tuple[float, float], second_place: float
) -> pd.DataFrame:
    """Return replies of a judge; a share of them names the second place whatever is in it."""
    women, men = warmer
    frame = []
    for number in range(sets):
        preferred = rng.choice(["women", "men", "none"], p=[women, men, 1 - women - men])
        for group in NAMES:
            chosen = 2 if preferred == "none" else 3 if preferred == group else 1
            chosen = 3 if rng.random() < second_place else chosen
            frame.append({"set": number, "unit": f"{number}-{group}", "group": group, "v": chosen})
    return pd.DataFrame(frame)


@pytest.mark.parametrize(
    ("warmer", "second_place", "low", "high"),
    [((0.5, 0.15), 0.0, 0.8, 1.0), ((0.3, 0.3), 0.3, 0.0, 0.14), ((0.5, 0.15), 1.0, 0.0, 0.0)],
    ids=["planted", "placebo", "position alone"],
)
def test_planted_warmth_is_found_and_position_is_not(
    warmer: tuple[float, float], second_place: float, low: float, high: float
) -> None:
    rng = np.random.default_rng(7)
    ask: dict[str, Any] = {"group": "group", "feature": "v", "unit": "unit", "set": "set"}
    verdicts = [
        bw.diagnose(replies(60, rng, warmer, second_place), **ask, ranges={"v": (1, 3)})
        .comparisons.iloc[0]["same_treatment"]
        for _ in range(50)
    ]  # fmt: skip
    assert low <= np.mean([verdict == "differs" for verdict in verdicts]) <= high


def test_several_criteria_are_dimensions_of_one_family() -> None:
    twins = twin_answers(rows(1), "gender")
    probes = judged_pairs(twins, "gender", {"warm": "warmer", "harsh": "harsher"}).probes
    assert {name for probe in probes for name in probe.groups} == {"gender: warm", "gender: harsh"}
    assert probes[-1].groups == {"gender: harsh": "men (harsh)"}
    assert len({probe.key for probe in probes}) == len(probes) == 8


@pytest.mark.parametrize(
    "name", ["_Emily_", "**Emily**", "<b>EMILY</b>", "Em\u200bily", "&#69;mily", "Emily's"]
)
def test_names_in_markdown_html_and_invisible_characters_are_masked(name: str) -> None:
    row = {**next(rows(1))[1], "text": f"{name} is a black woman of <Northtown>\u2028A) the first"}
    other = {**row, "groups.gender": "men", "stimuli.name": "Greg", "text": "Gregory, a muslim"}
    twins = twin_answers([("1", row), ("2", other)], "gender")
    [own], [twin] = twins.sets["s0"]["women"], twins.sets["s0"]["men"]
    shown = without_groups(own, twin)
    assert not re.search("emily|woman|black|muslim", " ".join(shown.values()), re.IGNORECASE)
    assert "<Northtown>" in shown["First answer"]
    prompt = str(judged_pairs(twins, "gender", CRITERIA).probes[0].prompt)
    assert prompt.splitlines().count("A) the first") == 1  # the other one is quoted


def test_short_labels_and_particles_are_not_words_for_groups() -> None:
    row = {"set": "s", "text": "A letter of a friend", "name": "Ana de la Cruz", "g": "a"}
    twins = twin_answers([("1", row), ("2", {**row, "g": "b", "name": "Jo"})], "g")
    shown = without_groups(*(twins.sets["s"][group][0] for group in "ab"))
    assert shown["First answer"] == "A letter of a friend"


def test_a_table_has_plain_columns(tmp_path: Path) -> None:
    path = tmp_path / "answers.csv"
    path.write_text("set,gender,name,text\n1,women,Ana,Hi Ana\n1,men,Ben,Hi Ben\n2,men,Bo,\n")
    twins = twin_answers(rows_of_file(path), "gender")
    assert (list(twins.sets), twins.left_out) == (["1"], 1)
    assert twins.sets["1"]["women"][0].stimuli == {"name": "Ana"}


def test_ties_are_counted_apart() -> None:
    chosen = [(3, 1), (3, 2), (1, 3), (2, 2), (3, 3), (3, None)]
    orders = (("women", "men"), ("men", "women"))
    judged = [
        JudgedReply("m", {CRITERION: "x", PAIR: str(n), GROUP: group, AGAINST: other}, "s", value)
        for n, values in enumerate(chosen)
        for (group, other), value in zip(orders, values, strict=True)
    ]
    [row] = preferences(judged)
    assert (row.group, row.group_preferred, row.other_preferred) == ("men", 1, 2)
    assert (row.neither, row.by_position, row.unread) == (1, 1, 1)
    assert (row.share.count, row.share.of) == (1, 3)


def test_half_of_the_sets_propose_axes_and_the_other_half_confirms() -> None:
    twins = twin_answers(rows(9), "gender")
    first, second = halves(twins, np.random.default_rng(3))
    assert sorted([*first.sets, *second.sets]) == sorted(twins.sets)
    assert len(first.sets) == 4
    [probe] = proposal_suite(first, 3).probes
    assert str(probe.prompt).count("second answer:\n> Dear [...]") == 4
    with pytest.raises(UsageError, match="at least two sets"):
        halves(twin_answers(rows(1), "gender"), np.random.default_rng(3))


def test_proposals_are_short_and_name_no_group_and_no_instruction() -> None:
    texts = [
        '```json\n["Warmer", "more formal.", "kinder to Muslims", "Ignore the rest"]\n```',
        "- warmer\n- better for martians\n2. " + "very " * 9 + "long\n3. a <b>bold</b> one",
        "I cannot tell.",
    ]
    axes = proposed_axes(texts, ["martians"], 5)
    assert axes.criteria == {"warmer": "warmer", "more formal": "more formal"}
    assert sorted(axes.refused.values()) == [
        *["it is not a phrase of 1 to 6 words"] * 2,
        *["it names a group"] * 2,
        "it reads like an instruction",
    ]
    assert proposed_axes(texts, [], 1).criteria == {"warmer": "warmer"}
    assert proposed_axes([], [], 1) == ProposedAxes({}, {})


def test_the_command_writes_a_suite_that_runs(tmp_path: Path) -> None:
    answers, own, folder = tmp_path / "a.jsonl", tmp_path / "formal.txt", tmp_path / "out"
    answers.write_text("".join(json.dumps(row) + "\n" for _, row in rows()))
    own.write_text("more formal\n")

    def make(criterion: str) -> Any:
        ask = ["--group", "gender", "--criterion", criterion, "-o", str(folder)]
        return CliRunner().invoke(app, ["suites", "pairs", str(answers), *ask])

    assert "8 questions about 4 pairs" in make(str(own)).stderr
    loaded = load_suite(folder)
    assert (loaded.name, len(loaded.probes)) == ("twins-formal", 8)
    assert "Which one is more formal?" in str(loaded.probes[0].prompt)
    assert "'warmish' is neither a known criterion" in str(make("warmish").exception)
