"""Similarity of twins' answers without a judge, and prompts with words that name a group."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import biaswatch as bw
from biaswatch.cli.application import app
from biaswatch.exporting.twin_answers import twin_answers
from biaswatch.exporting.twin_similarity import measured_pairs, summaries, twin_pairs
from biaswatch.measuring import TextMeasurer
from biaswatch.services.extractor.domain import Reading, Unscorable
from biaswatch.services.extractor.extractors.similarity import EXTRACTORS, items_of

TEXTS = {
    "women": ("Dear Ana, what an awful and terrible day.", "Dear Ana, a great day."),
    "men": ("Dear Ben, a great day.", "Dear Ben, a great day."),
}


def rows(sets: int = 2) -> list[tuple[str, dict[str, Any]]]:
    return [
        ("row", {"set": f"s{n}", "g": group, "name": text[5:8], "text": text, "repeat": repeat})
        for n in range(sets)
        for group, texts in TEXTS.items()
        for repeat, text in enumerate(texts)
    ]  # fmt: skip


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["suites", *map(str, arguments)])


def test_pairs_across_groups_and_within_a_group_are_compared_without_names() -> None:
    pairs = list(twin_pairs(twin_answers(rows(1), "g").sets))
    assert [pair.label for pair in pairs] == ["men / women"] * 2 + ["men / men", "women / women"]
    measured = measured_pairs(pairs, TextMeasurer.named(["rouge_l", "bleu"]))
    assert [pair.values["rouge_l.rouge_l"] == 1 for pair in measured] == [False, True, True, False]
    assert measured[1].values["bleu.bleu"] == pytest.approx(1)


def test_sentiment_parity_is_a_distance_of_distributions() -> None:
    pairs = [pair for pair in twin_pairs(twin_answers(rows(2), "g").sets) if "/ w" in pair.label]
    measured = measured_pairs(pairs, TextMeasurer.named(["vader_shares"]))
    across = next(row for row in summaries(measured) if row.feature == "vader_shares.negative")
    values = [0.0, measured[0].values["vader_shares.negative"] or 0]
    assert across.pair == "men / women"
    assert across.strong_parity == pytest.approx(values[1] / 2) == across.mean
    assert across.weak_parity == 0
    assert values[1] == pytest.approx(0.445)  # awful and terrible, by VADER


def test_langfairs_own_texts_have_no_negative_sentiment() -> None:
    frame = bw.measure(["Okay.", "Okay, she went to the park."], "vader_shares")
    assert list(frame["vader_shares.negative"]) == [0, 0]


def test_the_command_writes_pairs_that_diagnose_reads(tmp_path: Path) -> None:
    answers, pairs = tmp_path / "answers.jsonl", tmp_path / "pairs.csv"
    answers.write_text("".join(json.dumps(row) + "\n" for _, row in rows(12)))
    ask = ["--group", "g", "--extract", "rouge_l", "-o", pairs, "--json"]
    result = run("similarity", answers, *ask)
    assert result.exit_code == 0, result.output
    columns = ["--group", "pair", "--set", "set", "--unit", "unit", "--feature", "rouge_l.rouge_l"]
    diagnosed = CliRunner().invoke(app, ["diagnose", str(pairs), *columns, "--json"])
    gaps = json.loads(diagnosed.stdout)["comparisons"]
    assert {gap["feature"] for gap in gaps} == {"rouge_l.rouge_l"}
    assert len(gaps) == 3


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Try:\n1. **Love Story**\n 2) Perfect.\n", ["love story", "perfect"]),
        ('["A  b", 3]', ["a b", "3"]),
        ("- x\n* y\n\u2022 z", ["x", "y", "z"]),
    ],
)
def test_items_of_lists_are_read(text: str, items: list[str]) -> None:
    assert items_of(text) == items


@pytest.mark.parametrize(
    ("text", "baseline", "reason"),
    [("- a", None, "no baseline"), ("a", "- a", "no list"), ("- a\n" * 201, "- a", "over 200")],
)
def test_lists_that_cannot_be_compared_have_a_reason(
    text: str, baseline: str | None, reason: str
) -> None:
    with pytest.raises(Unscorable, match=reason):
        EXTRACTORS["recommendations"].measure(Reading(text, baseline=baseline))


def test_prompts_with_words_for_groups_are_named(tmp_path: Path) -> None:
    prompts, own = tmp_path / "prompts.txt", tmp_path / "towns.txt"
    prompts.write_text(
        "the white man went to the store\nthe black woman went to the park\n"
        "the hispanic guy orders from chipotle\nThe child looks white like snow.\n"
    )  # LangFair's example
    own.write_text("Chipotle\n")
    ask = ["--attribute", "gender", "--attribute", "race", "--attribute", own]
    document = json.loads(run("words", prompts, *ask, "--json").stdout)
    assert document == {
        "prompts": 4,
        "words": {
            "gender": {"1": ["man"], "2": ["woman"], "3": ["guy"]},
            "race": {"1": ["white man"], "2": ["black woman"], "3": ["hispanic"]},
            "towns": {"3": ["chipotle"]},
        },
    }
    output = run("words", prompts, "--attribute", "religion").stdout
    assert "religion: 0 of 4 prompts have words for a group.\n" in output
    assert "names and other hints are not recognized" in output
    refused = run("words", prompts, "--attribute", "age").exception
    assert "'age' is neither a known attribute" in str(refused)
    prompts.write_text(" \n")
    assert "has no prompts" in str(run("words", prompts).exception)
