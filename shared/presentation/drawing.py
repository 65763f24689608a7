"""Pictures of gaps as SVG, the same on pages and in reports: forest plots, sparklines, slopes.

Positions are shares of the width, so that words keep their size on every screen. Elements are built
as a tree, which escapes every text.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise
from xml.etree.ElementTree import Element, SubElement, tostring

from biaswatch.shared import presentation
from biaswatch.shared.contracts import Estimate, SummaryWord, Verdict
from biaswatch.shared.formatting import counted, number, shown
from biaswatch.shared.presentation.charts import Axis, padded_axis, ticks
from biaswatch.shared.presentation.tables import words

STRIP_HEIGHT, AXIS_HEIGHT = 22, 18
MARK = 5
"""Half the size of a mark."""
MAX_TICKS = 4
SPARK_WIDTH, SPARK_HEIGHT = 160, 36
SLOPE_HEIGHT, BEFORE, AFTER = 260, "20%", "80%"
LABEL_HEIGHT = 14.0
"""Least distance of the numbers beside a slope, so that none covers another."""
COLORS = {
    SummaryWord.DISPARITY: "#a8231b",
    SummaryWord.NO_DISPARITY: "#27613a",
    SummaryWord.INCONCLUSIVE: "#7a5200",
}
"""For renderers that apply no style sheet inside a picture; pages overrule them."""
PALE, GREY = "#e9ebed", "#5c626a"
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
    """Gaps of one number on one axis, with the gaps that do not matter."""

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


def markup(element: Element) -> str:
    """Return an element as HTML, with all texts escaped."""
    # As XML, also `<` of attributes is escaped; no element ends itself, as HTML wants.
    return tostring(element, encoding="unicode", short_empty_elements=False)


def drawing_style() -> str:
    """Return the style sheet of pictures, for pages that declare its colours."""
    return (files(presentation.__name__) / "drawing.css").read_text(encoding="utf-8")


def gap_text(gap: Estimate) -> str:
    """Return a gap with its sign and its interval: `-0.58 (-0.71 to -0.45)`."""
    if gap.value is None:
        return gap.reason or "not measured"
    value = number(gap.value, signed=True)
    if gap.low is None or gap.high is None:
        return f"{value} (no interval)"
    return f"{value} ({number(gap.low, signed=True)} to {number(gap.high, signed=True)})"


def forest_figure(forest: Forest) -> Element:
    """Draw the gaps of one number, a row each, with their verdicts."""
    axis, figure = forest.axis, Element("figure", {"class": "forest"})
    _add(figure, "figcaption", forest.title)
    label = f"{forest.title}: gaps with their intervals and verdicts"
    rows = _add(figure, "div", **{"class": "rows", "role": "table", "aria-label": shown(label)})
    _axis_row(rows, axis)
    for row in forest.rows:
        _forest_row(rows, row, axis, forest.tolerance)
    _add(figure, "p", _legend(forest), **{"class": "about"})
    return figure


def _legend(forest: Forest) -> str:
    """Return what the marks and the grey band are, and how many comparisons are left out."""
    present = dict.fromkeys(SummaryWord(row.word.value) for row in forest.rows)
    marks = ", ".join(f"{MARKS[word]}: {words(word)}" for word in MARKS if word in present)
    band = f" Grey: gaps up to {number(forest.tolerance)}, which do not matter."
    left = ""
    if forest.left_out:
        weakest = counted(forest.left_out, "comparison")
        left = f" Not shown: the {weakest} with the weakest evidence."
    marks = f"Line: the interval; upright: no gap. {marks.capitalize()}."
    return f"{marks}{band if forest.tolerance else ''}{left}"


def _axis_row(rows: Element, axis: Axis) -> None:
    row = _add(rows, "div", **{"class": "row axis", "aria-hidden": "true"})
    _add(row, "span")
    strip = _strip(_add(row, "span"), AXIS_HEIGHT)
    for value in ticks(axis.low, axis.high, MAX_TICKS):
        anchor = _anchor(axis.at(value))
        _add(
            strip, "text", f"{value:g}", x=_share(axis.at(value)), y="13", **{"text-anchor": anchor}
        )
    _add(row, "span")


def _forest_row(rows: Element, row: ForestRow, axis: Axis, tolerance: float) -> None:
    word = SummaryWord(row.word.value)
    line = _add(rows, "div", **{"class": f"row {word.value}", "role": "row"})
    name = _add(line, "span", role="cell")
    _add(_add(name, "a", href=row.href) if row.href else name, "bdi", row.name)
    if row.note:
        _add(name, "small", row.note)
    strip = _strip(_add(line, "span", role="cell"), STRIP_HEIGHT)
    _draw_gap(strip, row.gap, word, axis, tolerance)
    reading = _add(line, "span", role="cell", **{"class": "said"})
    _add(reading, "span", words(word), **{"class": f"chip {word.value}"})
    _add(reading, "span", gap_text(row.gap))


def _draw_gap(
    strip: Element, gap: Estimate, word: SummaryWord, axis: Axis, tolerance: float
) -> None:
    middle = STRIP_HEIGHT // 2
    if tolerance:
        _bar(strip, "tolerance", PALE, (axis.at(-tolerance), axis.at(tolerance)), 0, STRIP_HEIGHT)
    at = _share(axis.at(0.0))
    kind = {"class": "level", "stroke": GREY}
    _add(strip, "line", x1=at, x2=at, y1="0", y2=f"{STRIP_HEIGHT}", **kind)
    if gap.low is not None and gap.high is not None:
        _bar(strip, "reach", COLORS[word], (axis.at(gap.low), axis.at(gap.high)), middle - 1, 2)
    if gap.value is None:
        return
    inside = "#ffffff" if word is SummaryWord.INCONCLUSIVE else COLORS[word]
    kind = {"class": f"mark {word.value}", "fill": inside, "stroke": COLORS[word]}
    at = _share(axis.at(gap.value))
    if word is SummaryWord.DISPARITY:
        size, shift = f"{2 * MARK}", f"translate(-{MARK},-{MARK})"
        _add(strip, "rect", x=at, y=f"{middle}", width=size, height=size, transform=shift, **kind)
    else:
        _add(strip, "circle", cx=at, cy=f"{middle}", r=f"{MARK}", **kind)


def _bar(
    strip: Element, kind: str, fill: str, ends: tuple[float, float], y: int, height: int
) -> None:
    start, width = ends[0], _share(round(ends[1] - ends[0], 2))
    _add(
        strip, "rect", x=_share(start), y=f"{y}", width=width, height=f"{height}",
        fill=fill, **{"class": kind},
    )  # fmt: skip


def sparkline(
    title: str, gaps: Sequence[Estimate], tolerance: float, word: SummaryWord
) -> Element | None:
    """Draw a gap over time with its interval and the tolerance; None without any gap.

    The first intervals are wide and would hide the rest: they are cut off at the edge.
    """
    known = [gap for gap in gaps if gap.value is not None]
    if not known:
        return None
    later = [end for gap in known[len(known) // 2 :] for end in (gap.low, gap.high)]
    ends = [end for end in (*later, *(gap.value for gap in known)) if end is not None]
    y = padded_axis([*ends, 0.0, tolerance, -tolerance], SPARK_HEIGHT - 1.0, 1.0)
    x = Axis(0.0, float(max(len(known) - 1, 1)), 2.0, SPARK_WIDTH - MARK)
    svg = Element("svg", {
        "class": f"spark {word.value}", "role": "img", "aria-label": shown(title),
        "viewBox": f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}", "preserveAspectRatio": "xMinYMid meet",
    })  # fmt: skip
    top, height = y.at(tolerance), max(round(y.at(-tolerance) - y.at(tolerance), 1), 0.5)
    _add(
        svg, "rect", x="0", y=f"{top}", width=f"{SPARK_WIDTH}", height=f"{height}",
        **{"class": "tolerance"},
    )  # fmt: skip
    places = [(x.at(n), gap) for n, gap in enumerate(known)]
    highs = [(at, y.at(y.high if gap.high is None else gap.high)) for at, gap in places]
    lows = [(at, y.at(y.low if gap.low is None else gap.low)) for at, gap in places]
    _add(svg, "polygon", points=_points([*highs, *reversed(lows)]), **{"class": "band"})
    line = [(at, y.at(gap.value or 0.0)) for at, gap in places]
    _add(svg, "polyline", points=_points(line), **{"class": "line"})
    _add(svg, "circle", cx=f"{line[-1][0]}", cy=f"{line[-1][1]}", r="3", **{"class": "dot"})
    return svg


@dataclass(frozen=True)
class Slope:
    """A gap before and after."""

    name: str
    before: Estimate
    after: Estimate
    words: tuple[SummaryWord, SummaryWord]


def slope_figure(title: str, slopes: Sequence[Slope], tolerance: float) -> Element:
    """Draw gaps before and after as lines between two scales, numbered as in the list below."""
    figure = Element("figure", {"class": "slopes"})
    _add(figure, "figcaption", title)
    svg = _add(
        figure, "svg", width="100%", height=f"{SLOPE_HEIGHT}", role="img",
        **{"aria-label": shown(f"{title}; the list below has the numbers"), "class": "slope"},
    )  # fmt: skip
    ends = [
        end
        for slope in slopes
        for gap in (slope.before, slope.after)
        for end in (gap.low, gap.value, gap.high)
        if end is not None
    ]
    y = padded_axis([*ends, 0.0, tolerance, -tolerance], SLOPE_HEIGHT - 6.0, 24.0)
    if tolerance:
        top, bottom = y.at(tolerance), y.at(-tolerance)
        height = f"{round(bottom - top, 1)}"
        place = {"x": BEFORE, "width": "60%", "y": f"{top}", "height": height}
        _add(svg, "rect", **place, fill=PALE, **{"class": "tolerance"})
    for x, name in ((BEFORE, "before"), (AFTER, "after")):
        _add(svg, "text", name, x=x, y="14", **{"text-anchor": "middle"})
        _add(
            svg,
            "line",
            x1=x,
            x2=x,
            y1="22",
            y2=f"{SLOPE_HEIGHT}",
            stroke=GREY,
            **{"class": "level"},
        )
    for value in ticks(y.low, y.high, MAX_TICKS):
        at = f"{y.at(value) + MARK}"
        _add(svg, "text", f"{value:g}", x="16%", y=at, **{"text-anchor": "end"})
    zero = {"y1": f"{y.at(0.0)}", "y2": f"{y.at(0.0)}", "stroke": GREY, "class": "level"}
    _add(svg, "line", x1=BEFORE, x2=AFTER, **zero)
    for slope in slopes:
        _draw_slope(svg, slope, y)
    _number_slopes(svg, slopes, y)
    lines = _add(figure, "ol")
    for slope in slopes:
        line = _add(lines, "li")
        _add(line, "bdi", slope.name)
        for gap, word in zip((slope.before, slope.after), slope.words, strict=True):
            if gap is slope.after:
                _add(line, "span", "then")
            _add(line, "span", words(word), **{"class": f"chip {word.value}"})
            _add(line, "span", gap_text(gap), **{"class": "said"})
    return figure


def _number_slopes(svg: Element, slopes: Sequence[Slope], y: Axis) -> None:
    """Add the number of each line beside its end, with a leader to a number that is moved."""
    ends = {
        f"{n}": y.at(slope.after.value)
        for n, slope in enumerate(slopes, start=1)
        if slope.before.value is not None and slope.after.value is not None
    }
    places = separated(list(ends.values()), LABEL_HEIGHT, SLOPE_HEIGHT)
    for (name, end), place in zip(ends.items(), places, strict=True):
        leader = {"x1": "81%", "x2": "83.5%", "stroke": GREY, "class": "level"}
        _add(svg, "line", y1=f"{end:g}", y2=f"{place:g}", **leader)
        _add(svg, "text", name, x="84%", y=f"{place + 4:g}")


def separated(positions: Sequence[float], distance: float, end: float) -> list[float]:
    """Return positions at least a distance apart, near to where they were and before an end.

    >>> separated([50, 10, 12, 96], 10, 100)
    [50, 10, 20, 95.0]
    """
    order = sorted(range(len(positions)), key=positions.__getitem__)
    placed = list(positions)
    for one, next_ in pairwise(order):
        placed[next_] = max(placed[next_], placed[one] + distance)
    limit = end - distance / 2
    for n in reversed(order):
        placed[n] = min(placed[n], limit)
        limit = placed[n] - distance
    return placed


def _draw_slope(svg: Element, slope: Slope, y: Axis) -> None:
    word = slope.words[1]
    line = _add(svg, "g", **{"class": f"row-of {word.value}"})
    look = {"stroke": COLORS[word], "class": "reach"}
    for x, gap in ((BEFORE, slope.before), (AFTER, slope.after)):
        if gap.low is not None and gap.high is not None:
            _add(line, "line", x1=x, x2=x, y1=f"{y.at(gap.low)}", y2=f"{y.at(gap.high)}", **look)
        if gap.value is not None:
            _add(line, "circle", cx=x, cy=f"{y.at(gap.value)}", r="4", fill=COLORS[word],
                 **{"class": "mark"})  # fmt: skip
    if slope.before.value is not None and slope.after.value is not None:
        first, second = f"{y.at(slope.before.value)}", f"{y.at(slope.after.value)}"
        _add(line, "line", x1=BEFORE, x2=AFTER, y1=first, y2=second, **look)


def _strip(parent: Element, height: int) -> Element:
    kind = {"class": "strip", "aria-hidden": "true"}
    return _add(parent, "svg", width="100%", height=f"{height}", **kind)


def _add(parent: Element, tag: str, text: str | None = None, **attributes: str) -> Element:
    """Append an element, with its text visible and isolated as everywhere."""
    element = SubElement(parent, tag, attributes)
    element.text = None if text is None else shown(text)
    return element


def _share(position: float) -> str:
    return f"{position:g}%"


def _anchor(position: float) -> str:
    """Return the end of a label that touches its position, so that none is cut off."""
    return "start" if position < MARK else "end" if position > 100 - MARK else "middle"


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
