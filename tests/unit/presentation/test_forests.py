"""Pictures of gaps: what is drawn, in which direction, and that texts stay texts."""

from itertools import pairwise
from xml.etree.ElementTree import Element

import pytest

from biaswatch.shared.contracts import Estimate, Gap, SummaryWord, Verdict
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.findings import comparisons
from biaswatch.shared.presentation.forest_plots import Forest, ForestRow, forest_figure
from biaswatch.shared.presentation.forests import against, checked_against, run_forests
from biaswatch.shared.presentation.run_summary import run_summary
from biaswatch.shared.presentation.slopes import (
    LABEL_HEIGHT,
    SLOPE_HEIGHT,
    Slope,
    separated,
    slope_figure,
    sparkline,
)
from biaswatch.shared.presentation.svg import gap_text, markup
from tests.support.records import make_diagnosis

NASTY = "<script>taken=1</script>"
LOW = Estimate(value=-0.5, low=-0.8, high=-0.2)


def gap(a: str, b: str, estimate: Estimate, verdict: Verdict) -> Gap:
    return Gap(a=a, b=b, gap=estimate, effect_size=estimate, verdict=verdict)


def parts(figure: Element, kind: str) -> list[Element]:
    return [part for part in figure.iter() if kind in (part.get("class") or "").split()]


def test_marks_lie_where_the_numbers_say_and_the_band_covers_the_tolerance() -> None:
    forest = Forest("rating", [ForestRow("a minus b", LOW, SummaryWord.DISPARITY)], 0.2)
    axis, figure = forest.axis, forest_figure(forest)
    [reach], [band], [mark] = (parts(figure, kind) for kind in ("reach", "tolerance", "mark"))
    start = float(str(reach.get("x")).rstrip("%"))
    assert start == axis.at(-0.8)
    assert start + float(str(reach.get("width")).rstrip("%")) == pytest.approx(axis.at(-0.2))
    assert float(str(band.get("x")).rstrip("%")) == axis.at(-0.2)
    assert float(str(mark.get("x")).rstrip("%")) == axis.at(-0.5)
    assert mark.tag == "rect"


def test_names_are_never_markup() -> None:
    forest = Forest(NASTY, [ForestRow(NASTY, LOW, Verdict.INCONCLUSIVE, NASTY, f"/{NASTY}")])
    slope = slope_figure(NASTY, [Slope(NASTY, LOW, LOW, (SummaryWord.DISPARITY,) * 2)], 0.0)
    spark = sparkline(f'"{NASTY}', [LOW, LOW], 0.1, SummaryWord.DISPARITY)
    assert spark is not None
    for element in (forest_figure(forest), slope, spark):
        assert "<script" not in markup(element)
        assert "style=" not in markup(element)


def test_a_reference_group_turns_every_number_and_no_verdict() -> None:
    diagnosis = make_diagnosis(gaps=(gap("a", "b", LOW, Verdict.DISPARITY),))
    [turned] = against([diagnosis], "a")
    assert (turned.gaps[0].a, turned.gaps[0].b) == ("b", "a")
    assert turned.gaps[0].gap == turned.gaps[0].effect_size
    assert turned.gaps[0].gap == Estimate(value=0.5, low=0.2, high=0.8)
    assert run_summary([turned]).lead == run_summary([diagnosis]).lead
    assert against([diagnosis], "b") == [diagnosis]
    with pytest.raises(UsageError, match="No comparison has the group 'c'; it has a, b"):
        checked_against([diagnosis], "c")


def test_unmeasured_comparisons_are_not_drawn_and_the_rest_is_counted() -> None:
    many = [gap(f"g{n:02}", "rest", LOW, Verdict.INCONCLUSIVE) for n in range(12)]
    [forest] = run_forests(comparisons([make_diagnosis(gaps=tuple(many))]), "/runs/r")
    assert (len(forest.rows), forest.left_out) == (10, 2)
    assert "Not shown: the 2 comparisons with the weakest evidence." in "".join(
        forest_figure(forest).itertext()
    )


def test_a_gap_is_written_with_its_sign_or_its_reason() -> None:
    assert gap_text(LOW) == "-0.5 (-0.8 to -0.2)"
    assert gap_text(Estimate(value=0.5)) == "+0.5 (no interval)"
    assert gap_text(Estimate(reason="no answer was read")) == "no answer was read"


def test_a_line_over_time_without_any_gap_is_not_drawn() -> None:
    assert sparkline("none", [Estimate(reason="none")], 0.1, SummaryWord.INCONCLUSIVE) is None


def test_numbers_beside_slopes_do_not_cover_each_other() -> None:
    close, same = Estimate(value=0.1), (SummaryWord.INCONCLUSIVE, SummaryWord.INCONCLUSIVE)
    slopes = [Slope(f"gap {n}", close, close, same) for n in range(8)]
    labels = [
        float(text.get("y", "0"))
        for text in slope_figure("Gap", slopes, 0.0).iter("text")
        if text.get("x") == "84%"
    ]
    assert len(labels) == 8
    assert min(b - a for a, b in pairwise(sorted(labels))) >= LABEL_HEIGHT
    assert max(labels) < SLOPE_HEIGHT


def test_positions_are_separated_within_the_picture() -> None:
    assert separated([50.0, 10.0, 12.0, 96.0], 10.0, 100.0) == [50.0, 10.0, 20.0, 95.0]
    assert separated([], 10.0, 100.0) == []
