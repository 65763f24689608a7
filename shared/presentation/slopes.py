"""Changes of gaps as SVG: slopes from one run to another, and sparklines over time."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from xml.etree.ElementTree import Element

from biaswatch.shared.contracts import Estimate, SummaryWord
from biaswatch.shared.foreign_text import shown
from biaswatch.shared.presentation.charts import Axis, gap_axis_values, padded_axis, ticks
from biaswatch.shared.presentation.svg import (
    COLORS,
    GREY,
    MARK,
    MAX_TICKS,
    PALE,
    add_element,
    gap_text,
)
from biaswatch.shared.presentation.tables import words

SPARK_WIDTH, SPARK_HEIGHT = 160, 36
SLOPE_HEIGHT, BEFORE, AFTER = 260, "20%", "80%"
LABEL_HEIGHT = 14.0
"""Least distance of the numbers beside a slope, so that none covers another."""


@dataclass(frozen=True)
class Slope:
    """A gap before and after."""

    name: str
    before: Estimate
    after: Estimate
    words: tuple[SummaryWord, SummaryWord]


def slope_figure(title: str, slopes: Sequence[Slope], tolerance: float) -> Element:
    """Draw gaps before and after as lines, numbered as in the list below."""
    figure = Element("figure", {"class": "slopes"})
    add_element(figure, "figcaption", title)
    svg = add_element(
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
    _add_scales(svg, y, tolerance)
    for slope in slopes:
        _draw_slope(svg, slope, y)
    _number_slopes(svg, slopes, y)
    items = add_element(figure, "ol")
    for slope in slopes:
        _add_item(items, slope)
    return figure


def _add_scales(svg: Element, y: Axis, tolerance: float) -> None:
    """Add both scales with ticks, the line of no gap and the tolerance."""
    if tolerance:
        add_element(
            svg, "rect", x=BEFORE, width="60%", y=f"{y.at(tolerance)}",
            height=f"{round(y.at(-tolerance) - y.at(tolerance), 1)}", fill=PALE,
            **{"class": "tolerance"},
        )  # fmt: skip
    for x, name in ((BEFORE, "before"), (AFTER, "after")):
        add_element(svg, "text", name, x=x, y="14", **{"text-anchor": "middle"})
        add_element(
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
        add_element(svg, "text", f"{value:g}", x="16%", y=at, **{"text-anchor": "end"})
    zero = {"y1": f"{y.at(0.0)}", "y2": f"{y.at(0.0)}", "stroke": GREY, "class": "level"}
    add_element(svg, "line", x1=BEFORE, x2=AFTER, **zero)


def _add_item(items: Element, slope: Slope) -> None:
    """Add a line of the numbered list: the gap and its verdict before and after."""
    item = add_element(items, "li")
    add_element(item, "bdi", slope.name)
    for gap, word in zip((slope.before, slope.after), slope.words, strict=True):
        if gap is slope.after:
            add_element(item, "span", "then")
        add_element(item, "span", words(word), **{"class": f"chip {word.value}"})
        add_element(item, "span", gap_text(gap), **{"class": "said"})


def _draw_slope(svg: Element, slope: Slope, y: Axis) -> None:
    """Draw the line between both gaps, their intervals and marks."""
    word = slope.words[1]
    line = add_element(svg, "g", **{"class": f"row-of {word.value}"})
    look = {"stroke": COLORS[word], "class": "reach"}
    for x, gap in ((BEFORE, slope.before), (AFTER, slope.after)):
        if gap.low is not None and gap.high is not None:
            add_element(
                line, "line", x1=x, x2=x, y1=f"{y.at(gap.low)}", y2=f"{y.at(gap.high)}", **look
            )
        if gap.value is not None:
            add_element(line, "circle", cx=x, cy=f"{y.at(gap.value)}", r="4", fill=COLORS[word],
                 **{"class": "mark"})  # fmt: skip
    if slope.before.value is not None and slope.after.value is not None:
        first, second = f"{y.at(slope.before.value)}", f"{y.at(slope.after.value)}"
        add_element(line, "line", x1=BEFORE, x2=AFTER, y1=first, y2=second, **look)


def _number_slopes(svg: Element, slopes: Sequence[Slope], y: Axis) -> None:
    """Add the number of each line beside its end, with a leader."""
    ends = {
        f"{n}": y.at(slope.after.value)
        for n, slope in enumerate(slopes, start=1)
        if slope.before.value is not None and slope.after.value is not None
    }
    places = separated(list(ends.values()), LABEL_HEIGHT, SLOPE_HEIGHT)
    for (name, end), place in zip(ends.items(), places, strict=True):
        leader = {"x1": "81%", "x2": "83.5%", "stroke": GREY, "class": "level"}
        add_element(svg, "line", y1=f"{end:g}", y2=f"{place:g}", **leader)
        add_element(svg, "text", name, x="84%", y=f"{place + 4:g}")


def separated(positions: Sequence[float], distance: float, end: float) -> list[float]:
    """Return positions at least a distance apart, moved as little as possible.

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


def sparkline(
    title: str, gaps: Sequence[Estimate], tolerance: float, word: SummaryWord
) -> Element | None:
    """Draw a gap over time with its interval and the tolerance; None without any gap."""
    known = [gap for gap in gaps if gap.value is not None]
    if not known:
        return None
    y = padded_axis(gap_axis_values(known, tolerance), SPARK_HEIGHT - 1.0, 1.0)
    x = Axis(0.0, float(max(len(known) - 1, 1)), 2.0, SPARK_WIDTH - MARK)
    svg = Element("svg", {
        "class": f"spark {word.value}", "role": "img", "aria-label": shown(title),
        "viewBox": f"0 0 {SPARK_WIDTH} {SPARK_HEIGHT}", "preserveAspectRatio": "xMinYMid meet",
    })  # fmt: skip
    top, height = y.at(tolerance), max(round(y.at(-tolerance) - y.at(tolerance), 1), 0.5)
    add_element(
        svg, "rect", x="0", y=f"{top}", width=f"{SPARK_WIDTH}", height=f"{height}",
        **{"class": "tolerance"},
    )  # fmt: skip
    places = [(x.at(n), gap) for n, gap in enumerate(known)]
    highs = [(at, y.at(y.high if gap.high is None else gap.high)) for at, gap in places]
    lows = [(at, y.at(y.low if gap.low is None else gap.low)) for at, gap in places]
    add_element(svg, "polygon", points=_points([*highs, *reversed(lows)]), **{"class": "band"})
    line = [(at, y.at(gap.value or 0.0)) for at, gap in places]
    add_element(svg, "polyline", points=_points(line), **{"class": "line"})
    add_element(svg, "circle", cx=f"{line[-1][0]}", cy=f"{line[-1][1]}", r="3", **{"class": "dot"})
    return svg


def _points(points: Iterable[tuple[float, float]]) -> str:
    return " ".join(f"{x:g},{y:g}" for x, y in points)
