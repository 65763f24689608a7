"""Judges: what each is asked, how replies are read, what scores add up to."""

from pathlib import Path

import pytest

from biaswatch.services.evaluator.domain.evaluations import (
    agreement_of_judges,
    agreement_of_repeats,
    by_dimension,
    disputed,
    overall,
)
from biaswatch.services.evaluator.domain.model_questions import judgement_in, judging_probes
from biaswatch.services.evaluator.domain.rubric import judging_prompt, tasks_for
from biaswatch.services.evaluator.handlers.rubric_files import load_rubric
from biaswatch.shared.contracts import Judgement, Measure
from biaswatch.shared.errors import ConfigurationError
from biaswatch.shared.parsing import Unreadable
from biaswatch.shared.parsing.texts import quoted
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.krippendorff import krippendorff_alpha
from biaswatch.shared.stats.tables.contingency import ratio_agreement
from tests.support.records import AT, make_brief, make_subject, make_target
from tests.support.reports import COMPLETE

NINE = {
    "interval-odds_ratio", "interval-relative_risk", "sample_size-odds_ratio",
    "sample_size-relative_risk", "sample_size-chi_square", "limitations", "attribution",
    "comparison", "p_value-chi_square",
}  # fmt: skip
LIBRARY = load_rubric()


def test_six_files_give_nine_judgements_of_a_table() -> None:
    assert len(LIBRARY.dimensions) == 6
    assert {task.name for task in tasks_for(LIBRARY.dimensions, make_subject())} == NINE


def test_each_judge_is_told_the_numbers_of_its_own_measure_alone() -> None:
    subject = make_subject()
    profile = LIBRARY.profiles["criminal_justice"]
    prompts = {
        task.name: judging_prompt(task, subject, profile, COMPLETE)
        for task in tasks_for(LIBRARY.dimensions, subject)
    }
    assert "(0.896, 3.281)" in prompts["interval-odds_ratio"]
    assert "(0.917, 2.454)" not in prompts["interval-odds_ratio"]
    assert "(0.917, 2.454)" in prompts["interval-relative_risk"]
    assert "Cases in all: 200" in prompts["sample_size-chi_square"]
    assert "15" in prompts["sample_size-odds_ratio"]
    assert "problematic_phrases" in prompts["attribution"]
    assert "similarity ratio" in prompts["comparison"]
    assert "moderate difference" in prompts["comparison"]
    assert "2.6667" in prompts["p_value-chi_square"]
    assert "0.1025" in prompts["p_value-chi_square"]
    for limit in profile.limitations:
        assert limit in prompts["limitations"]
    assert all(quoted(COMPLETE.strip()) in prompt for prompt in prompts.values())
    assert all("$" not in prompt for prompt in prompts.values())


def test_a_dimension_without_its_numbers_is_not_asked_for() -> None:
    undefined = Measure(name="odds_ratio", label="Odds Ratio", reason="a group has no cases")
    names = {t.name for t in tasks_for(LIBRARY.dimensions, make_subject(measures=(undefined,)))}
    assert names == {"limitations", "attribution"}


def test_every_judgement_has_an_id_of_its_own_that_a_redelivery_keeps() -> None:
    brief = make_brief(judges=(make_target(name="a"), make_target(name="b")), repeats=2)
    tasks = tasks_for(LIBRARY.dimensions, brief.subject)
    profile = LIBRARY.profiles["general"]
    ids = [probe.probe.id for probe in judging_probes(brief, tasks, profile, COMPLETE, AT)]
    assert len(ids) == len(set(ids)) == 9 * 2 * 2
    assert ids == [probe.probe.id for probe in judging_probes(brief, tasks, profile, COMPLETE, AT)]
    other = [
        probe.probe.id
        for probe in judging_probes(make_brief(nonce="2"), tasks, profile, COMPLETE, AT)
    ]
    assert not set(ids) & set(other)


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("Score: 0.8", "not JSON"),
        ('{"score": 1.7, "reasoning": "x"}', "outside 0 to 1"),
        ('{"score": -0.1}', "outside 0 to 1"),
        ('{"score": NaN}', "not a number"),
        ('{"score": ' + "9" * 400 + "}", "not a number"),
        ('{"score": "0.8"}', "not a number"),
        ('{"score": true}', "not a number"),
        ('{"reasoning": "good"}', "not a number"),
        ("[0.8]", "not a JSON object"),
        ('{"score": 0.8, "problematic_phrases": "x"}', "not a list"),
    ],
)
def test_what_cannot_be_read_is_no_score(reply: str, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        judgement_in(reply)


def test_a_score_comes_with_its_reasoning_and_phrases() -> None:
    read = judgement_in(
        '```json\n{"score": 1, "reasoning": "r", "problematic_phrases": ["p"]}\n```'
    )
    assert (read.score, read.reasoning, read.phrases) == (1.0, "r", ("p",))


def judgement(dimension: str, judge: str, score: float | None, repeat: int = 0) -> Judgement:
    key = f"{dimension}/{judge}/{repeat}"
    return Judgement(key=key, dimension=dimension, judge=judge, repeat=repeat, score=score)


def test_the_mean_is_over_scored_dimensions_and_says_how_many() -> None:
    given = [judgement("a", "x", 1.0), judgement("b", "x", 0.5), judgement("c", "x", None)]
    scores = by_dimension(given)
    assert [score.mean for score in scores] == [1.0, 0.5, None]
    assert overall(scores) == (0.75, 2)
    assert overall(by_dimension([judgement("a", "x", None)])) == (None, 0)


def test_judges_count_alike_and_disagreement_is_named() -> None:
    given = [judgement("a", "x", 1.0, n) for n in range(3)] + [judgement("a", "y", 0.0)]
    given += [judgement("b", "x", 0.5), judgement("b", "y", 0.6)]
    scores = by_dimension(given)
    assert scores[0].mean == 0.5
    assert disputed(scores) == ("a",)
    agreement = agreement_of_judges(given)
    assert agreement is not None
    assert agreement.units == 2
    assert agreement_of_judges([judgement("a", "x", 1.0)]) is None
    assert agreement_of_repeats([judgement("a", "x", 1.0)]) is None


def test_alpha_is_that_of_krippendorffs_own_example() -> None:
    # Krippendorff (2011), four observers, twelve units, with missing values: interval alpha .849.
    rows = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    alpha, reason = krippendorff_alpha([[row[unit] for row in rows] for unit in range(12)])
    assert reason is None
    assert alpha == pytest.approx(0.849, abs=5e-4)


def test_agreement_that_could_not_fail_is_undefined() -> None:
    assert krippendorff_alpha([[1.0, 1.0], [1.0, 1.0]])[0] is None
    assert krippendorff_alpha([[1.0], [0.5]])[0] is None
    assert krippendorff_alpha([[1.0, 1.0], [0.0, 0.0]])[0] == 1.0


@pytest.mark.parametrize(
    ("odds", "risk", "says"),
    [
        ((1.05, 0.9, 1.2), (1.04, 0.95, 1.1), "similar"),
        ((9.0, 4.0, 20.0), (3.0, 2.0, 4.5), "moderate difference"),
        ((1.5, 1.01, 2.2), (1.4, 0.99, 2.0), "conflicting"),
        ((1.1, 0.5, 2.0), (0.9, 0.5, 2.0), "conflicting"),
    ],
)
def test_or_and_rr_are_similar_different_or_in_conflict(
    odds: tuple[float, float, float], risk: tuple[float, float, float], says: str
) -> None:
    result = ratio_agreement(Estimate(*odds), Estimate(*risk))
    assert result.says == says
    assert result.ratio == pytest.approx(min(odds[0], risk[0]) / max(odds[0], risk[0]))


def test_an_undefined_ratio_is_compared_with_nothing() -> None:
    result = ratio_agreement(Estimate(reason="no cases"), Estimate(1.0))
    assert (result.ratio, result.says, result.reason) == (None, None, "no cases")


def test_a_team_adds_a_dimension_with_a_file_and_a_slip_in_it_is_named(tmp_path: Path) -> None:
    own = tmp_path / "brevity.yaml"
    own.write_text(
        'name: brevity\nasks: "Is it short about $outcome?"\ncriteria: [Be short.]\n'
        'anchors: {"1.0": Short., "0.0": Long.}\n'
    )
    tasks = tasks_for(load_rubric(tmp_path).dimensions, make_subject(), ["brevity"])
    [task] = tasks
    text = judging_prompt(task, make_subject(), LIBRARY.profiles["general"], "x")
    assert 'Is it short about "admission"?' in text
    own.write_text(own.read_text().replace("$outcome", "$weather"))
    with pytest.raises(ConfigurationError, match="brevity speaks of 'weather'"):
        load_rubric(tmp_path)
    own.write_text("name: other\nasks: x\ncriteria: [x]\nanchors: {a: b, c: d}\n")
    with pytest.raises(ConfigurationError, match="must agree"):
        load_rubric(tmp_path)
