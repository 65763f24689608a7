"""Pictures of a run: there, in both formats, and whatever anybody wrote in them stays text."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from biaswatch.local.run_results import RunResults
from biaswatch.render.figures import draw
from services.gateway.runs.views import Scores, StudyResults
from shared.contracts import (
    Assessment,
    Cell,
    Consistency,
    CriterionGap,
    Deviation,
    Estimate,
    Gap,
    GroupSummary,
    OverallTest,
    Quality,
    Verdict,
)
from shared.errors import UsageError
from tests.support.records import make_assessment, make_diagnosis, make_progress

RUN = make_progress(suite="cv-$\\frac{1}$")
EVERY = {
    *("gaps", "criteria", "quality-and-consistency", "combinations"),
    *("against-anonymised", "bias-and-quality"),
}
HOSTILE = "<script>alert('$x^2$')</script>" * 3
SOME = Estimate(value=-0.5, low=-0.9, high=-0.1)


def assessed(target: str) -> Assessment:
    return make_assessment(
            target=target,
            quality=Quality(value=88.0, mean_absolute_error=0.6, answers=3),
            consistency=Consistency(mean_sd=0.4, one_answer=0.1, prompts=3),
            deviations=(Deviation(dimension="race", group="black", gap=SOME),),
            cells=(Cell(groups={"race": "black"}, mean=SOME, answers=3, missing=0),),
            criteria=(
                CriterionGap(criterion="skill", dimension="race", a="a", b="b", gap=SOME),
                CriterionGap(
                    criterion=HOSTILE, dimension="race", a="a", b="b", p_adjusted=0.01,
                    gap=Estimate(value=1.5),
                ),
            ),
        )  # fmt: skip


def test_every_picture_is_drawn_as_png_and_svg(tmp_path: Path) -> None:
    gap = Gap(a="black", b="white", gap=SOME, verdict=Verdict.DISPARITY)
    outcome = RunResults(
        RUN, [make_diagnosis(gaps=(gap,), target=HOSTILE[:90])],
        [assessed("simulator:a"), assessed(HOSTILE[:90])],
    )  # fmt: skip
    written = draw(outcome, tmp_path / "figures")
    assert {path.name for path in written} == {f"{n}.{e}" for n in EVERY for e in ("png", "svg")}
    for path in written:
        if path.suffix == ".png":
            assert path.read_bytes().startswith(b"\x89PNG")
        else:
            assert not list(ElementTree.parse(path).iter("script"))  # noqa: S314 - our own file
    said = (tmp_path / "figures" / "gaps.svg").read_text()
    assert "\u22120.50" in said
    assert "$\\frac{1}$" in said


def test_all_groups_are_drawn_from_the_largest_down_with_their_ranks(tmp_path: Path) -> None:
    groups = tuple(
        GroupSummary(
            group=f"group {n}", responses=9, missing=0, units=9,
            mean=Estimate(value=n, low=n - 1, high=n + 1),
            shrunken_mean=Estimate(value=n / 2), rank=Estimate(value=21 - n, low=1, high=20),
        )
        for n in range(21)
    )  # fmt: skip
    overall = OverallTest(groups=21, units=189, p_value=0.034, permutations=1000)
    many = make_diagnosis(groups=groups, overall=overall, feature="$x$", target=HOSTILE[:90])
    written = draw(RunResults(RUN, [many, make_diagnosis()]), tmp_path)
    assert {path.stem for path in written} == {"groups", "gaps"}
    said = (tmp_path / "groups.svg").read_text()
    assert said.index("group 20 (n=9)") < said.index("group 0 (n=9)")
    for words in ("all groups together p = 0.034", "7 (1 to 20)", "shrunken", "mean $x$"):
        assert words in said
    assert "<script" not in said


def test_more_gaps_than_can_be_read_are_no_picture(tmp_path: Path) -> None:
    gaps = tuple(Gap(a="a", b=f"b{n}", gap=SOME, verdict=Verdict.NOT_ENOUGH) for n in range(210))
    assert not draw(RunResults(RUN, [make_diagnosis(gaps=gaps)]), tmp_path)


def test_what_is_undefined_is_said_and_what_is_not_there_is_not_drawn(tmp_path: Path) -> None:
    nothing = Gap(a="a", b="b", gap=Estimate(reason="no values"), verdict=Verdict.NOT_ENOUGH)
    outcome = RunResults(RUN, [make_diagnosis(gaps=(nothing,))])
    written = draw(outcome, tmp_path)
    assert [path.name for path in written] == ["gaps.png", "gaps.svg"]
    assert "undefined" in (tmp_path / "gaps.svg").read_text()


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    outcome = RunResults(RUN, [make_diagnosis()])
    with pytest.raises(UsageError, match="cannot be written"):
        draw(outcome, tmp_path / "file" / "figures")


def scores_of(models: int) -> StudyResults:
    given = [
        Scores(
            target=f"openai:model-{model}", scaffold="direct", category=category,
            condition=condition, rows=9, missing=0, unmatched=0, without_target=0, correct=3,
            named=4, biased=3, contexts=5, accuracy=SOME, s_dis=SOME, bias=bias,
        )
        for model in range(models)
        for category in ("Age", HOSTILE)
        for condition, bias in (
            ("ambig", Estimate(value=-48.94, low=-52.1, high=45.8)),
            ("disambig", Estimate(reason="no answer names a person")),
        )
    ]  # fmt: skip
    return StudyResults(alpha=0.05, scores=given, score_gaps=[], pairs=[], pair_gaps=[], judges=[])


def test_bias_scores_are_drawn_by_category_and_model_with_what_is_undefined(tmp_path: Path) -> None:
    draw(RunResults(RUN, [], studies=scores_of(2)), tmp_path)
    said = (tmp_path / "bias-scores.svg").read_text()
    for words in ("Age", "openai:model-1", "\u221248.9", "[\u221252.1, 45.8]", "undefined"):
        assert words in said
    assert "ambiguous contexts" in said
    assert "disambiguated contexts" in said
    draw(RunResults(RUN, [], studies=scores_of(9)), tmp_path)
    many = (tmp_path / "bias-scores.svg").read_text()
    assert "\u221249" in many
    assert "52.1" not in many
