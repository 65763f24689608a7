"""What a run's page says of how sure its findings are, and of an extractor that may be biased."""

from typing import Any

from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, Verdict
from biaswatch.shared.presentation.bias_scores import score_headline, score_lead, scores_table
from biaswatch.shared.presentation.conclusions import certainty
from biaswatch.shared.presentation.overview import RunScored, runs_table
from biaswatch.shared.presentation.run_summary import run_summary
from biaswatch.shared.requests.run_views import RunProgress, RunVerdicts, Scores
from tests.support.records import make_diagnosis, make_progress


def gap(low: float, high: float, **more: Any) -> Gap:
    return Gap(
        a="women", b="men", gap=Estimate(value=(low + high) / 2, low=low, high=high),
        verdict=Verdict.DISPARITY, reason="", **more,
    )  # fmt: skip


def found(*gaps: Gap) -> Diagnosis:
    return make_diagnosis(extractor="toxic", feature="toxicity", tolerance=0.1, gaps=gaps)


def test_findings_larger_than_what_the_extractor_makes_of_names_are_counted() -> None:
    own = Estimate(value=0.2, low=0.1, high=0.3)
    said = " ".join(
        certainty([found(gap(0.5, 0.9, instrument=own), gap(0.35, 0.9, instrument=own))])
    )
    assert "1 of the 2 disparities is larger than the extractor's own gap" in said
    assert "was not tested" not in said


def test_a_gap_the_other_way_is_held_against_the_worst_end_too() -> None:
    own = Estimate(value=-0.2, low=-0.3, high=-0.1)
    said = " ".join(certainty([found(gap(-0.9, -0.45, instrument=own))]))
    assert "The disparity is larger than the extractor's own gap" in said
    said = " ".join(certainty([found(gap(-0.9, -0.35, instrument=own))]))
    assert "The disparity is not shown to be larger" in said


def test_an_extractor_that_nobody_tried_is_named() -> None:
    said = " ".join(certainty([found(gap(0.5, 0.9))]))
    assert "Bias of toxic itself was not tested" in said


def test_missing_answers_that_could_undo_a_finding_are_said() -> None:
    said = " ".join(certainty([found(gap(0.5, 0.9, survives_missing=False), gap(1, 2))]))
    assert "The missing answers could undo 1 of the 2 disparities." in said


def test_the_overview_says_what_each_run_found() -> None:
    shown = []
    for disparities in (0, 1, 3):
        verdicts = RunVerdicts(comparisons=8, disparities=disparities, undecided=disparities)
        run = make_progress().model_copy(update={"found": verdicts})
        [row] = runs_table([run], {}, {}).rows
        shown.append((row[2].text, row[2].note))
    assert shown == [
        ("no disparities", "of 8"),
        ("1 disparity", "of 8, 1 undecided"),
        ("3 disparities", "of 8, 3 undecided"),
    ]


def scored(low: float, high: float) -> Scores:
    some = Estimate(value=(low + high) / 2, low=low, high=high)
    counts = dict.fromkeys(
        (
            "rows",
            "missing",
            "unmatched",
            "without_target",
            "correct",
            "named",
            "biased",
            "contexts",
        ),
        4,
    )
    return Scores(
        target="m", scaffold="direct", category="Age", condition="ambig", accuracy=some,
        s_dis=some, bias=some, **counts,
    )  # fmt: skip


def test_bias_scores_begin_with_what_lies_farthest_from_0() -> None:
    near, far = scored(-3, 4), scored(10, 20)
    assert score_lead([near]) == "The bias score does not lie apart from 0, by its own interval."
    assert score_lead([near, far]).startswith("1 of 2 bias scores lies apart from 0")
    assert [row[3].plain for row in scores_table([near, far]).rows] == [15, 0.5]


def without_interval(reason: str) -> Scores:
    value = Estimate(value=3.0, reason=reason)
    return scored(0, 6).model_copy(update={"bias": value})


def test_scores_without_intervals_are_never_said_to_be_near_0() -> None:
    few = without_interval("fewer than 10 contexts")
    assert score_lead([few, few]) == "No bias score has an interval: fewer than 10 contexts."
    assert score_lead([few]) == "The bias score has no interval: fewer than 10 contexts."
    assert score_lead([few, scored(1, 2)]).endswith("each by its own interval; 1 has none.")


def test_the_headline_names_one_score_for_each_context() -> None:
    told = scored(-3, 4).model_copy(update={"condition": "disambig"})
    assert score_headline([scored(10, 20), told]) == (
        "15.0 [10.0, 20.0] where the context leaves it open; 0.5 [-3.0, 4.0] where the context"
        " tells"
    )


def test_of_several_models_the_headline_names_the_score_farthest_from_0() -> None:
    other = scored(-30, -20).model_copy(update={"target": "n", "category": "Religion"})
    assert score_headline([scored(10, 20), other]) == (
        "farthest: -25.0 [-30.0, -20.0] where the context leaves it open (Religion, n)"
    )


def test_the_overview_says_in_words_why_a_run_has_no_headline() -> None:
    many = RunScored((), "of more questions than a page computes")
    cases: tuple[tuple[RunProgress, dict[str, RunScored], str, str | None], ...] = (
        (make_progress(state="running"), {}, "nothing yet", None),
        (make_progress(), {}, "no groups compared", None),
        (make_progress(archived="moved"), {}, "no groups compared", "its answers are archived"),
        (make_progress(), {make_progress().run_id: many}, "bias scores", many.reason),
    )
    for run, scores, said, note in cases:
        [row] = runs_table([run], {}, scores).rows
        assert (row[2].text, row[2].note) == (said, note)


def test_a_run_with_comparisons_and_scores_says_both() -> None:
    verdicts = RunVerdicts(comparisons=8, disparities=1, undecided=0)
    run = make_progress().model_copy(update={"found": verdicts})
    [row] = runs_table([run], {}, {run.run_id: RunScored([scored(10, 20)])}).rows
    assert row[2].text == "1 disparity"
    assert row[2].note is not None
    assert row[2].note.startswith("of 8; 1 of 1 bias score apart from 0; 15.0 [10.0, 20.0]")


def test_a_run_in_which_no_answer_gave_a_number_shows_no_null_finding() -> None:
    missing = {"missing": 5, "responses": 5, "missing_reasons": {"no answer: unreachable": 5}}
    groups = tuple(each.model_copy(update=missing) for each in make_diagnosis().groups)
    unmeasured = make_diagnosis().model_copy(update={"groups": groups})
    said = "No answer gave a number (no answer: unreachable), so there are no findings."
    assert run_summary([unmeasured]).unmeasured_reason == said
    assert run_summary([unmeasured]).lead == said
    assert run_summary([unmeasured, make_diagnosis()]).unmeasured_reason is None
