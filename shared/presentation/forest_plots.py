"""Forest plots as SVG: a row for each gap with its interval, mark and verdict."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from biaswatch.shared.contracts import Estimate, SummaryWord, Verdict
from biaswatch.shared.foreign_text import shown
from biaswatch.shared.formatting import counted, number
from biaswatch.shared.presentation.charts import Axis, padded_axis, ticks
from biaswatch.shared.presentation.svg import (
    COLORS,
    GREY,
    MARK,
    MAX_TICKS,
    PALE,
    add_element,
    gap_text,
    percent,
)
from biaswatch.shared.presentation.tables import words

STRIP_HEIGHT, AXIS_HEIGHT = 22, 18
MARKS = {
    SummaryWord.DISPARITY: "square",
    SummaryWord.NO_DISPARITY: "filled circle",
    SummaryWord.INCONCLUSIVE: "open circle",
}
"""The mark of each verdict, distinct without colour."""


@dataclass(frozen=True)
class ForestRow:
    """A gap with its interval and verdict."""

    name: str
    gap: Estimate
    word: SummaryWord | Verdict
    note: str = ""
    href: str | None = None


@dataclass(frozen=True)
class Forest:
    """Gaps of one number on one axis, with the tolerance."""

    title: str
    rows: Sequence[ForestRow]
    tolerance: float = 0.0
    left_out: int = 0
    """Comparisons that are only in the tables."""

    @property
    def axis(self) -> Axis:
        """The axis from 0 to 100 % of the width."""
        gaps = [row.gap for row in self.rows]
        ends = [end for gap in gaps for end in (gap.low, gap.value, gap.high) if end is not None]
        return padded_axis([0.0, self.tolerance, -self.tolerance, *ends], 0.0, 100.0)


def forest_figure(forest: Forest) -> Element:
    """Draw the gaps of one number, a row each, with their verdicts."""
    axis, figure = forest.axis, Element("figure", {"class": "forest"})
    add_element(figure, "figcaption", forest.title)
    label = f"{forest.title}: gaps with their intervals and verdicts"
    rows = add_element(
        figure, "div", **{"class": "rows", "role": "table", "aria-label": shown(label)}
    )
    _axis_row(rows, axis)
    for row in forest.rows:
        _forest_row(rows, row, axis, forest.tolerance)
    add_element(figure, "p", _legend(forest), **{"class": "about"})
    return figure


def _legend(forest: Forest) -> str:
    """Return the meaning of the marks, and how many comparisons are left out."""
    present = dict.fromkeys(SummaryWord(row.word.value) for row in forest.rows)
    marks = ", ".join(f"{MARKS[word]}: {words(word)}" for word in MARKS if word in present)
    band = f" Grey: gaps up to {number(forest.tolerance)}, which do not matter."
    weakest = counted(forest.left_out, "comparison")
    left_out = f" Not shown: the {weakest} with the weakest evidence."
    return (
        f"Line: the interval; upright: no gap. {marks.capitalize()}."
        f"{band if forest.tolerance else ''}{left_out if forest.left_out else ''}"
    )


def _axis_row(rows: Element, axis: Axis) -> None:
    """Add the row of ticks."""
    row = add_element(rows, "div", **{"class": "row axis", "aria-hidden": "true"})
    add_element(row, "span")
    strip = _strip(add_element(row, "span"), AXIS_HEIGHT)
    for value in ticks(axis.low, axis.high, MAX_TICKS):
        anchor = _anchor(axis.at(value))
        add_element(
            strip,
            "text",
            f"{value:g}",
            x=percent(axis.at(value)),
            y="13",
            **{"text-anchor": anchor},
        )
    add_element(row, "span")


def _forest_row(rows: Element, row: ForestRow, axis: Axis, tolerance: float) -> None:
    """Add a gap: name, picture, verdict and numbers."""
    word = SummaryWord(row.word.value)
    line = add_element(rows, "div", **{"class": f"row {word.value}", "role": "row"})
    name = add_element(line, "span", role="cell")
    add_element(add_element(name, "a", href=row.href) if row.href else name, "bdi", row.name)
    if row.note:
        add_element(name, "small", row.note)
    strip = _strip(add_element(line, "span", role="cell"), STRIP_HEIGHT)
    _draw_gap(strip, row.gap, word, axis, tolerance)
    reading = add_element(line, "span", role="cell", **{"class": "said"})
    add_element(reading, "span", words(word), **{"class": f"chip {word.value}"})
    add_element(reading, "span", gap_text(row.gap))


def _draw_gap(
    strip: Element, gap: Estimate, word: SummaryWord, axis: Axis, tolerance: float
) -> None:
    """Draw tolerance, zero line, interval and mark of a gap."""
    middle = STRIP_HEIGHT // 2
    if tolerance:
        _bar(strip, "tolerance", PALE, (axis.at(-tolerance), axis.at(tolerance)), 0, STRIP_HEIGHT)
    at = percent(axis.at(0.0))
    add_element(
        strip, "line", x1=at, x2=at, y1="0", y2=f"{STRIP_HEIGHT}", stroke=GREY,
        **{"class": "level"},
    )  # fmt: skip
    if gap.low is not None and gap.high is not None:
        _bar(strip, "reach", COLORS[word], (axis.at(gap.low), axis.at(gap.high)), middle - 1, 2)
    if gap.value is None:
        return
    inside = "#ffffff" if word is SummaryWord.INCONCLUSIVE else COLORS[word]
    kind = {"class": f"mark {word.value}", "fill": inside, "stroke": COLORS[word]}
    at = percent(axis.at(gap.value))
    if word is SummaryWord.DISPARITY:
        size, shift = f"{2 * MARK}", f"translate(-{MARK},-{MARK})"
        add_element(
            strip, "rect", x=at, y=f"{middle}", width=size, height=size, transform=shift, **kind
        )
    else:
        add_element(strip, "circle", cx=at, cy=f"{middle}", r=f"{MARK}", **kind)


def _bar(
    strip: Element, kind: str, fill: str, ends: tuple[float, float], y: int, height: int
) -> None:
    """Draw a horizontal bar between two positions."""
    start, width = ends[0], percent(round(ends[1] - ends[0], 2))
    add_element(
        strip, "rect", x=percent(start), y=f"{y}", width=width, height=f"{height}",
        fill=fill, **{"class": kind},
    )  # fmt: skip


def _strip(parent: Element, height: int) -> Element:
    """Add an empty picture as wide as its column."""
    kind = {"class": "strip", "aria-hidden": "true"}
    return add_element(parent, "svg", width="100%", height=f"{height}", **kind)


def _anchor(position: float) -> str:
    """Return the text anchor of a label, within the width of the plot."""
    return "start" if position < MARK else "end" if position > 100 - MARK else "middle"
