"""Figures of a run in both formats; names in them stay text."""

from itertools import combinations
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from biaswatch.local.runs import RunResults
from biaswatch.render.figures import draw
from biaswatch.render.figures.distributions import groups as groups_picture
from biaswatch.render.figures.drawing import target_names
from biaswatch.render.figures.forest import comparisons
from biaswatch.shared.contracts import (
    Assessment,
    Cell,
    Consistency,
    CriterionGap,
    Deviation,
    ErrorGap,
    Estimate,
    Gap,
    GroupSummary,
    OverallTest,
    Quality,
    Verdict,
)
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.run_sources import GroupValues
from biaswatch.shared.requests.run_views import Scores, StudyResults
from tests.support.records import make_assessment, make_diagnosis, make_progress, make_provenance

RUN = make_progress(suite="cv-$\\frac{1}$")
EVERY = {
    *("comparisons", "gaps", "criteria", "quality-and-consistency", "combinations"),
    *("against-anonymised", "quality-without-names", "bias-and-quality"),
}
HOSTILE = "<script>alert('$x^2$')</script>" * 3
SOME = Estimate(value=-0.5, low=-0.9, high=-0.1)


def assessed(target: str) -> Assessment:
    return make_assessment(
            target=target,
            quality=Quality(
                value=88.0, mean_absolute_error=0.6, answers=3,
                against_anonymised=ErrorGap(identified=0.6, anonymised=0.5, gap=SOME),
            ),
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
    svg = (tmp_path / "figures" / "gaps.svg").read_text()
    assert "\u22120.50" in svg
    assert "$\\frac{1}$" in svg


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
    rows = make_diagnosis(groups=groups, overall=overall, feature="$x$", target=HOSTILE[:90])
    written = draw(RunResults(RUN, [rows, make_diagnosis()]), tmp_path)
    assert {path.stem for path in written} == {"groups", "gaps", "comparisons"}
    svg = (tmp_path / "groups.svg").read_text()
    assert svg.index("group 20 (n=9)") < svg.index("group 0 (n=9)")
    for words in ("all groups together p = 0.034", "7 (1 to 20)", "shrunken", "mean $x$"):
        assert words in svg
    assert "<script" not in svg


def test_of_more_gaps_than_can_be_read_those_that_say_the_most_are_drawn(tmp_path: Path) -> None:
    gaps = tuple(
        Gap(
            a="a", b=f"b{n:03}", gap=Estimate(value=n / 100, low=n / 100 - 9, high=n / 100 + 9),
            p_adjusted=1 - n / 1000,
            verdict=Verdict.DISPARITY if n == 3 else Verdict.INCONCLUSIVE,
        )
        for n in range(210)
    )  # fmt: skip
    written = draw(RunResults(RUN, [make_diagnosis(gaps=gaps)]), tmp_path)
    assert {path.stem for path in written} == {"comparisons"}
    svg = (tmp_path / "comparisons.svg").read_text()
    assert "the 30 of 210 that say the most" in svg
    assert "b003" in svg
    assert svg.index("b209") < svg.index("b181") < svg.index("b003")
    assert "b180" not in svg


def test_means_of_groups_are_drawn_by_model_where_there_are_several(tmp_path: Path) -> None:
    groups = [
        (GroupSummary(group="Peru", responses=9, missing=0, units=9, mean=Estimate(value=mean),
                      selection_rate=Estimate(value=mean - 0.04)),
         GroupSummary(group="Chile", responses=0, missing=9, units=0, mean=Estimate(reason="none")))
        for mean in (0.25, 0.75)
    ]  # fmt: skip
    rows = [
        make_diagnosis(target=f"simulator:{n}", groups=g, gaps=()) for n, g in enumerate(groups)
    ]
    draw(RunResults(RUN, rows), tmp_path / "two")
    svg = (tmp_path / "two" / "means.svg").read_text()
    expected = {"0.25", "0.75", "undefined", "Chile", "0.21", "0.71", "selection rate of"}
    assert {word for word in expected if word in svg} == expected
    draw(RunResults(RUN, rows[:1]), tmp_path / "one")
    assert not (tmp_path / "one" / "means.svg").exists()


def test_four_groups_in_pairs_are_a_square_and_gaps_with_the_rest_are_none(tmp_path: Path) -> None:
    names = "wxyz"
    groups = tuple(
        GroupSummary(group=name, responses=9, missing=2, units=9, mean=Estimate(value=n))
        for n, name in enumerate(names)
    )
    pairs = tuple(
        Gap(a=a, b=b, gap=Estimate(value=0.25), verdict=Verdict.INCONCLUSIVE)
        for a, b in combinations(names, 2)
    )
    diagnosis = make_diagnosis(groups=groups, gaps=pairs)
    written = draw(RunResults(RUN, [diagnosis]), tmp_path)
    assert "pairs-of-groups" in {path.stem for path in written}
    svg = (tmp_path / "pairs-of-groups.svg").read_text()
    assert "7 readable answers a group" in svg
    assert svg.count("+0.25") == svg.count("\u22120.25") == len(pairs)
    rest = tuple(gap.model_copy(update={"b": "the rest"}) for gap in pairs)
    alone = draw(RunResults(RUN, [make_diagnosis(groups=groups, gaps=rest)]), tmp_path / "rest")
    assert "pairs-of-groups" not in {path.stem for path in alone}


def test_intervals_are_drawn_inside_the_range_that_the_suite_declares() -> None:
    groups = tuple(
        GroupSummary(
            group=f"g{n}", responses=9, missing=0, units=9,
            mean=Estimate(value=3.5, low=0.5, high=4.8),
        )
        for n in range(3)
    )  # fmt: skip
    gap = Gap(a="g0", b="g1", gap=Estimate(value=2, low=-7, high=9), verdict=Verdict.INCONCLUSIVE)
    diagnosis = make_diagnosis(groups=groups, gaps=(gap,))
    results = RunResults(RUN, [diagnosis], provenance=make_provenance(ranges={"words": (1.0, 4.0)}))
    for picture, ends in ((groups_picture, (1.0, 4.0)), (comparisons, (-3.0, 3.0))):
        figure = picture(results)
        assert figure is not None
        drawn = [
            float(x) for line in figure.axes[0].get_lines() for x in np.ravel(line.get_xdata())
        ]
        assert (min(drawn), max(drawn)) == ends


def test_the_spread_of_answers_is_drawn_by_group_with_how_many_there_are(tmp_path: Path) -> None:
    diagnosis = make_diagnosis()
    values = GroupValues(values={"a": [1.0, 2.0, 2.0], "b": [3.0]}, answers=4, of=9)
    written = draw(RunResults(RUN, [diagnosis], values={diagnosis.id: values}), tmp_path)
    assert "spreads" in {path.stem for path in written}
    svg = (tmp_path / "spreads.svg").read_text()
    for words in ("a (n=3, median 2)", "b (n=1, median 3)", "4 of 9 answers"):
        assert words in svg


@pytest.mark.slow
def test_two_dozen_models_and_scaffolds_have_a_facet_each_with_their_names(tmp_path: Path) -> None:
    rows = [
        assessed(f"simulator:{n}").model_copy(update={"scaffold": scaffold})
        for n in range(6)
        for scaffold in ("direct", "chain_of_thought", "decomposed", "reason_and_choose")
    ]
    draw(RunResults(RUN, [], rows), tmp_path)
    for name in ("combinations", "against-anonymised", "criteria"):
        svg = (tmp_path / f"{name}.svg").read_text()
        assert svg.count("chain of thought") == 6
        assert svg.count("simulator:5") == 4
    svg = (tmp_path / "bias-and-quality.svg").read_text()
    assert svg.count("chain of thought") == 6
    assert svg.count("simulator:5") == 1


def test_a_recording_is_called_by_its_file_unless_two_would_be_called_the_same() -> None:
    arc, other = "replay:arc-0123456789ab.jsonl", "replay:arc-ba9876543210.jsonl"
    assert target_names([make_diagnosis(target=arc)]) == ["replay:arc"]
    both = [make_diagnosis(target=arc), make_diagnosis(target=other)]
    assert target_names(both) == [arc, other]


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
            named=4, biased=3, clusters=5, accuracy=SOME, s_dis=SOME, bias=bias,
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
    svg = (tmp_path / "bias-scores.svg").read_text()
    for words in ("Age", "openai:model-1", "\u221248.9", "[\u221252.1, 45.8]", "undefined"):
        assert words in svg
    assert "ambiguous contexts" in svg
    assert "disambiguated contexts" in svg
    draw(RunResults(RUN, [], studies=scores_of(9)), tmp_path)
    rows = (tmp_path / "bias-scores.svg").read_text()
    assert "\u221249" in rows
    assert "52.1" not in rows
