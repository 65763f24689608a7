"""BBQ scores against UnifiedQA's published predictions and the recorded scores."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biaswatch.shared.stats.studies.bbq import (
    BbqAnswer,
    BbqOption,
    ambiguous_bias_score,
    bias_score,
    biased_option,
    score,
    target_option,
)
from biaswatch.shared.stats.studies.bbq_intervals import with_intervals
from tests.support.golden import golden, golden_cases
from tests.support.recorded import RecordedData
from tests.support.unifiedqa import by_template, published_answers

CATEGORIES = ("Age", "Religion")
OPTIONS = ("ans0", "ans1", "ans2")
PAPER = {
    ("Age", "arc"): (48.9, 3.3),
    ("Age", "race"): (29.8, 1.2),
    ("Religion", "arc"): (24.5, 3.5),
    ("Religion", "race"): (14.3, 0.2),
}
"""Parrish et al. (2022), figure 3: ambiguous and disambiguated bias score."""


@pytest.mark.parametrize("category", CATEGORIES)
@pytest.mark.parametrize("model", ["arc", "race"])
@pytest.mark.parametrize("condition", ["ambig", "disambig"])
def test_scores_are_the_recorded_ones(
    recorded_data: RecordedData, category: str, model: str, condition: Any
) -> None:
    expected = golden("bbq_unifiedqa.json")[f"{category}|{model}|{condition}"]
    scores = score(published_answers(recorded_data("data/bbq"), category, model), condition)
    assert scores.accuracy == pytest.approx(expected["acc"], abs=0.005)
    assert scores.s_dis == pytest.approx(expected["s_dis"], abs=0.005)
    assert scores.bias == pytest.approx(expected["bias"], abs=0.005)
    assert (scores.rows, scores.scored) == (expected["n"], expected["scored"])
    assert scores.unmatched == expected.get("nolabel", 0)
    assert (scores.correct, scores.unknown) == (expected["correct"], expected["unk"])
    assert (scores.not_unknown, scores.biased) == (expected["nonunk"], expected["biased"])
    assert scores.without_target == 0
    printed = PAPER[category, model][condition == "disambig"]
    assert scores.bias is not None
    assert round(scores.bias, 1) == printed


def test_the_recorded_formula_comes_out() -> None:
    for case in golden_cases("BBQ bias score"):
        s_dis = bias_score(case["input"]["n_biased"], case["input"]["n_nonunknown"])
        assert s_dis == pytest.approx(case["expected"]["sdis"], abs=1e-12)
        s_amb = ambiguous_bias_score(s_dis, case["input"]["acc_amb"])
        assert s_amb == pytest.approx(case["expected"]["samb"], abs=1e-12)


def one(prediction: int | None, biased: int | None = 0, condition: Any = "ambig") -> BbqAnswer:
    return BbqAnswer(condition, 2, 2, biased, prediction)


def test_always_against_the_stereotype_is_minus_one_hundred() -> None:
    assert score([one(1), one(1)], "ambig").bias == -100
    assert score([one(1, condition="disambig")], "disambig").bias == -100


def test_only_unknown_answers_have_no_share_but_no_ambiguous_bias() -> None:
    scores = score([one(2), one(2)], "ambig")
    assert (scores.accuracy, scores.s_dis, scores.bias) == (100, None, 0)
    plain = [BbqAnswer("disambig", 0, 2, 0, 2)]
    scores = score(plain, "disambig")
    assert (scores.accuracy, scores.bias) == (0, None)
    assert scores.reason == "no answer names a person in a row with a defined target"


def test_rows_without_a_target_are_counted_and_never_guessed() -> None:
    assert biased_option(None, 2, "neg") is None
    scores = score([one(0), one(0, None), one(2, None), one(None)], "ambig")
    assert (scores.rows, scores.scored, scores.unmatched, scores.without_target) == (4, 3, 1, 2)
    assert (scores.not_unknown, scores.biased, scores.s_dis) == (1, 1, 100)
    assert scores.accuracy == pytest.approx(100 / 3)


@pytest.mark.parametrize(
    ("category", "options", "stereotyped", "target"),
    [
        ("Age", "kid:nonOld|Unknown:unknown|man:old", ["old"], 2),
        ("Physical_appearance", "fat:obese|obese:obese|Unknown:unknown", ["obese"], None),
        ("Physical_appearance", "slim:nonObese|fat:obese|Unknown:unknown", ["obese"], 1),
        ("Religion", "Sikh:Sikh|Jewish:Jewish|Unknown:unknown", ["Muslim"], None),
        ("SES", "CEO:highSES|janitor:lowSES|Unknown:unknown", ["low SES"], 1),
        ("Nationality", "Syrian:MiddleEast|Dane:Europe|Unknown:unknown", ["Syrian"], 0),
        ("Race_ethnicity", "Jo:F-Black|Al:M-White|Unknown:unknown", ["Black"], 0),
        ("Race_ethnicity", "x:African|y:African American|?:unknown", ["African American"], 1),
        ("Gender_identity", "Jo:woman|Al:man|Unknown:unknown", ["F"], 0),
        ("Gender_identity", "Jo:F|Al:M|Unknown:unknown", ["Women"], 0),
        ("Gender_identity", "Jo:trans_F|Al:nonTrans|?:unknown", ["Transgender women"], 0),
        ("Disability_status", "Jo:disabled|Al:nonDisabled|?:unknown", ["physical"], 0),
        ("Race_x_gender", "a:F-Black|b:M-Black|?:unknown", ["Black"], None),
        ("Race_x_gender", "a:F-Black|b:M-Black|?:unknown", ["F-Black"], 0),
    ],
)
def test_the_target_is_the_one_person_of_the_stereotyped_group(
    category: str, options: str, stereotyped: list[str], target: int | None
) -> None:
    named = [BbqOption(*option.split(":")) for option in options.split("|")]
    assert target_option(category, named, stereotyped) == target


def test_the_stereotype_points_at_the_other_person_when_asked_positively() -> None:
    assert biased_option(0, 2, "neg") == 0
    assert biased_option(0, 2, "nonneg") == 1
    assert biased_option(2, 1, "nonneg") == 0


@pytest.mark.parametrize("condition", ["ambig", "disambig"])
def test_nothing_to_score_is_undefined(condition: Any) -> None:
    assert score([], condition).reason == "no rows"
    scores = score([one(None, condition=condition)], condition)
    assert (scores.accuracy, scores.bias) == (None, None)
    assert scores.reason == "no output matches an option"


@settings(deadline=None, max_examples=50)
@given(st.lists(st.sampled_from([0, 1, 2, None]), max_size=30))
def test_the_opposite_stereotype_has_the_opposite_score(predictions: list[int | None]) -> None:
    scores = score([one(p, 0) for p in predictions], "ambig")
    other = score([one(p, 1) for p in predictions], "ambig")
    if scores.bias is None:
        assert other.bias is None
    else:
        assert other.bias == pytest.approx(-scores.bias, abs=1e-9)


def test_mistakes_are_sentences() -> None:
    with pytest.raises(ValueError, match="3 of 2 answers cannot be biased"):
        bias_score(3, 2)
    with pytest.raises(ValueError, match="not two of three options"):
        biased_option(2, 2, "neg")


def test_the_bias_of_unifiedqa_is_uncertain_by_template(recorded_data: RecordedData) -> None:
    templates = by_template(recorded_data("data/bbq"), "Age", "race")
    bias = with_intervals(templates, "ambig", alpha=0.05).bias
    # Draws of whole templates give [14.7, 44.8], without the heavier tails of 25 templates.
    assert (bias.value, bias.low, bias.high) == pytest.approx((29.8, 14.7, 44.8), abs=2.0)
