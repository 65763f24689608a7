"""Rows are read whole, paired by context, and shown alike in both questions of a pair."""

import json
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from biaswatch.bbq.rows import ROWS, BbqRow, read_folder
from biaswatch.bbq.suite import paired, recording_of, suite_of
from biaswatch.shared.contracts import Run, parse_target, probes_of
from biaswatch.shared.errors import UsageError
from tests.support.bbq_rows import make_bbq_row
from tests.support.recorded import RecordedData


def row(number: int, **fields: Any) -> BbqRow:
    return BbqRow.model_validate(make_bbq_row(number, **fields))


def test_rows_that_share_a_context_are_a_pair_with_the_negative_question_first() -> None:
    result = paired([row(n) for n in (1, 0, 2, 3)])
    assert [(p.a.example_id, p.b.example_id) for p in result.pairs] == [(0, 1), (2, 3)]
    assert {p.a.question_polarity for p in result.pairs} == {"neg"}
    assert result.unpaired == ()


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([row(0)], "1 rows share the context"),
        ([row(0), row(1), row(4, context=row(0).context)], "3 rows share the context"),
        ([row(0), row(2, context=row(0).context, context_condition="ambig")], "same way"),
        ([row(0), row(1, ans0="Somebody else")], "different options"),
    ],
)
def test_what_makes_no_pair_is_reported_and_still_asked(rows: list[BbqRow], reason: str) -> None:
    result = paired(rows)
    assert result.pairs == ()
    assert [reason in item.reason for item in result.unpaired] == [True]
    suite = suite_of(rows)
    assert len(suite.probes) == len(rows)
    assert {probe.set for probe in suite.probes} == {None}


def test_both_questions_of_a_pair_show_the_same_options_in_the_same_order() -> None:
    info = row(1).answer_info
    mixed = {
        "ans0": row(1).ans1,
        "ans1": row(1).ans0,
        "answer_info": {"ans0": info["ans1"], "ans1": info["ans0"], "ans2": info["ans2"]},
    }
    a, b = suite_of([row(0), row(1, **mixed)]).probes
    options = [{k: v for k, v in p.variables.items() if k.startswith("option")} for p in (a, b)]
    assert options[0] == options[1]
    assert a.set == b.set
    assert a.facts["unknown"] == b.facts["unknown"] == a.expected
    assert {a.facts["biased"], b.facts["biased"]} | {a.facts["unknown"]} == set("ABC")
    assert (a.facts["side"], b.facts["side"]) == ("a", "b")


def test_the_place_of_an_option_is_drawn_by_seed_and_every_place_is_drawn() -> None:
    rows = [row(2 * n) for n in range(0, 600, 2)]
    places = Counter(probe.facts["unknown"] for probe in suite_of(rows, seed=1).probes)
    assert all(60 <= places[mark] <= 140 for mark in "ABC")
    assert suite_of(rows, seed=1).hash == suite_of(rows, seed=1).hash
    assert suite_of(rows, seed=1).hash != suite_of(rows, seed=2).hash


def test_a_row_without_a_defined_target_has_no_biased_option() -> None:
    assert "biased" in suite_of([row(0)]).probes[0].facts
    both = row(0, additional_metadata={"stereotyped_groups": ["south", "north"]})
    assert "biased" not in suite_of([both]).probes[0].facts


def test_gender_and_race_asked_by_names_are_scored_apart() -> None:
    named = {"ans0": ["Jo", "F-Black"], "ans1": ["Al", "F-White"], "ans2": ["?", "unknown"]}
    assert row(0, category="Race_ethnicity", answer_info=named).scored_as.endswith("(names)")
    assert row(0, category="Race_ethnicity").scored_as == "Race_ethnicity"


def written(folder: Path, name: str, rows: list[dict[str, Any]]) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows))
    return path


def test_slips_in_a_folder_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="holds no"):
        read_folder(tmp_path)
    written(tmp_path, "Regions", [make_bbq_row(0), {**make_bbq_row(1), "label": 7}])
    with pytest.raises(UsageError, match=r"Regions.jsonl, line 2, label: this must be 0, 1 or 2"):
        read_folder(tmp_path)
    with pytest.raises(UsageError, match=r"has no Age.jsonl, only Regions"):
        read_folder(tmp_path, ["Age"])
    written(tmp_path, "Religion", [make_bbq_row(0, category="Religion")])
    with pytest.raises(UsageError, match="holds 1 rows, the published Religion has 1200"):
        read_folder(tmp_path, ["Religion"])


@pytest.mark.parametrize(("category", "pairs"), [("Age", 1840), ("Religion", 600)])
def test_published_categories_are_pairs_throughout(
    recorded_data: RecordedData, category: str, pairs: int
) -> None:
    rows = read_folder(recorded_data("data/bbq"), [category])
    result = paired(rows)
    assert (len(rows), len(result.pairs), result.unpaired) == (ROWS[category], pairs, ())
    conditions = Counter(pair.a.context_condition for pair in result.pairs)
    assert conditions == {"ambig": pairs // 2, "disambig": pairs // 2}


def test_a_prediction_that_names_no_option_is_recorded_as_it_is(tmp_path: Path) -> None:
    rows = [
        {**make_bbq_row(0), "said": "the NORTHERN one "},
        {**make_bbq_row(1), "said": "the old one"},
        {**make_bbq_row(2), "said": "The nor"},
        {**make_bbq_row(3), "said": "The"},
    ]
    path = written(tmp_path, "predictions", rows)
    first, second, begun, ambiguous = map(json.loads, recording_of(path, "said"))
    probe = suite_of([row(0)]).probes[0]
    assert probe.variables[f"option:{first['text'][-1]}"] == "The northern one"
    assert second == {"key": "Regions-1", "text": "the old one"}
    assert begun["text"].startswith("Answer: ")
    assert begun["beginning"] == "The nor"
    assert ambiguous == {"key": "Regions-3", "text": "The"}
    with pytest.raises(UsageError, match="line 1: column 'told' is missing"):
        list(recording_of(path, "told"))


@pytest.mark.slow
def test_the_whole_of_bbq_is_planned(tmp_path: Path) -> None:
    for category, number in ROWS.items():
        written(tmp_path, category, [make_bbq_row(n, category=category) for n in range(number)])
    suite = suite_of(read_folder(tmp_path))
    run = Run(
        at=datetime(2026, 1, 2, tzinfo=UTC),
        suite=suite.name,
        suite_hash=suite.hash,
        targets=(parse_target("simulator:unbiased"),),
    )
    assert len({probe.id for probe in probes_of(run, suite, run.at)}) == 58_492


def test_options_become_continuations_of_the_question_for_likelihoods() -> None:
    row = BbqRow.model_validate(make_bbq_row(0))
    suite = suite_of([row], scored=True)
    [probe] = suite.probes
    assert probe.variables["context"] == f"{row.context}\n\nQ: {row.question}\nA:"
    assert sorted(probe.variables[f"continuation:{mark}"] for mark in "ABC") == sorted(
        f" {answer}" for answer in row.answers
    )
    assert probe.variables[f"continuation:{probe.expected}"] == f" {row.answers[row.label]}"
    assert (suite.scaffolds, suite.extractors) == (("likelihood",), ("choice", "likelihood"))
