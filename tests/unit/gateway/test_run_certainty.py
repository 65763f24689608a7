"""What a run's page says of how sure its findings are, and of an extractor that may be biased."""

from typing import Any

from services.gateway.dashboard.operation_tables import runs_table
from services.gateway.dashboard.run_certainty import certainty
from services.gateway.dashboard.score_tables import score_lead, scores_table
from services.gateway.runs.views import RunVerdicts, Scores
from shared.contracts import Diagnosis, Estimate, Gap, Verdict
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
    assert "1 of the 2 disparities is larger than what the extractor makes of" in said
    assert "was not tried" not in said


def test_a_gap_the_other_way_is_held_against_the_worst_end_too() -> None:
    own = Estimate(value=-0.2, low=-0.3, high=-0.1)
    said = " ".join(certainty([found(gap(-0.9, -0.45, instrument=own))]))
    assert "The disparity is larger than what the extractor makes" in said
    said = " ".join(certainty([found(gap(-0.9, -0.35, instrument=own))]))
    assert "The disparity is not shown to be larger" in said


def test_an_extractor_that_nobody_tried_is_named() -> None:
    said = " ".join(certainty([found(gap(0.5, 0.9))]))
    assert "Whether toxic reads answers about all groups alike was not tried" in said


def test_missing_answers_that_could_undo_a_finding_are_said() -> None:
    said = " ".join(certainty([found(gap(0.5, 0.9, survives_missing=False), gap(1, 2))]))
    assert "1 of the 2 disparities could be undone by the missing answers." in said


def test_the_overview_says_what_each_run_found() -> None:
    shown = []
    for disparities in (0, 1, 3):
        verdicts = RunVerdicts(comparisons=8, disparities=disparities, undecided=0)
        run = make_progress().model_copy(update={"found": verdicts})
        [row] = runs_table([run], {}).rows
        shown.append((row[2].text, row[2].note))
    assert shown == [("no disparities", "of 8"), ("1 disparity", "of 8"), ("3 disparities", "of 8")]


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
