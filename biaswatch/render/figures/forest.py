"""Gaps with their intervals, ranked by effect: the same picture in a report and in a notebook."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biaswatch.local.runs import RunResults
from biaswatch.render.figures import (
    COLOURS,
    INK,
    MINUS,
    label_rows,
    new_figure,
    plain_targets,
    shortened,
)
from biaswatch.shared.contracts import Verdict
from biaswatch.shared.formatting import VERDICT_WORDS, coverage, visible
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.run_summary import strongest_first

MOST_ROWS, MOST_FEATURES = 30, 4
ROW_IN, PANEL_IN = 0.25, 0.85
LOOKS = {
    Verdict.DISPARITY: (COLOURS[1], "s", COLOURS[1]),
    Verdict.NO_DISPARITY: (COLOURS[2], "D", COLOURS[2]),
    Verdict.NOT_ENOUGH: (COLOURS[5], "o", "white"),
}
"""Line, marker and filling of each verdict: apart without colour too."""


@dataclass(frozen=True)
class ForestLine:
    """One comparison."""

    feature: str
    label: str
    value: float
    low: float | None
    high: float | None
    verdict: Verdict | None


def comparisons(results: RunResults) -> Figure | None:
    """Draw the comparisons that say the most, ranked by effect, a panel for each number."""
    ranges = results.provenance.ranges if results.provenance else {}
    plain, names = plain_targets(results.diagnoses), ModelNames.among(results.diagnoses)
    pairs = sorted(((d, gap) for d in results.diagnoses for gap in d.gaps), key=strongest_first)
    several = len({(each.target, each.scaffold) for each, _ in pairs}) > 1
    lines = []
    for each, gap in pairs:
        if gap.gap.value is None:
            continue
        low, high = _possible(gap.gap.low, gap.gap.high, ranges.get(each.feature))
        where = ""
        if several:
            where = f" · {names.of(each, plain[each.target])}"
        label = f"{gap.a} {MINUS} {gap.b}{where}"
        lines.append(ForestLine(each.feature, label, gap.gap.value, low, high, gap.verdict))
    if not lines:
        return None
    first = pairs[0][0]
    return forest(
        lines,
        f"{results.run.suite}: gaps, ranked; {coverage(first.alpha)} intervals of all"
        f" {first.family} together",
    )


def _possible(
    low: float | None, high: float | None, range_: tuple[float, float] | None
) -> tuple[float | None, float | None]:
    """Return the part of a gap's interval that the number's range allows."""
    if range_ is None or low is None or high is None:
        return low, high
    reach = range_[1] - range_[0]
    return max(low, -reach), min(high, reach)


def forest(lines: Sequence[ForestLine], title: str) -> Figure:
    """Draw the first lines of some features, each feature on an axis of its own."""
    features = list(dict.fromkeys(line.feature for line in lines))[:MOST_FEATURES]
    some = [line for line in lines if line.feature in features][:MOST_ROWS]
    panels = [[line for line in some if line.feature == name] for name in features]
    panels = [sorted(each, key=lambda line: -line.value) for each in panels if each]
    heights = [PANEL_IN + ROW_IN * len(each) for each in panels]
    left = len(lines) - len(some)
    more = f"; the {len(some)} of {len(lines)} that say the most" if left else ""
    figure, axes = new_figure(title + more, 0.7 + sum(heights), down=len(panels), heights=heights)
    for axis, each in zip(axes, panels, strict=True):
        _panel(axis, each)
    seen = dict.fromkeys(line.verdict for line in some if line.verdict)
    figure.legend(
        handles=list(_legend(seen)), loc="outside lower left", ncols=3, frameon=False, fontsize=8
    )
    return figure


def _panel(axis: Any, lines: Sequence[ForestLine]) -> None:
    for row, line in enumerate(lines):
        colour, marker, inside = LOOKS[line.verdict or Verdict.NOT_ENOUGH]
        if line.low is not None and line.high is not None:
            axis.plot([line.low, line.high], [row, row], color=colour, lw=1.3)
        axis.plot(line.value, row, marker, color=colour, mfc=inside, ms=5)
    label_rows(axis, [shortened(line.label) for line in lines])
    axis.axvline(0, color=INK, lw=0.8)
    axis.set_xlabel(visible(f"gap in {lines[0].feature.replace('_', ' ')}"))


def _legend(verdicts: Iterable[Verdict]) -> Iterable[Line2D]:
    for verdict in verdicts:
        colour, marker, inside = LOOKS[verdict]
        words = VERDICT_WORDS[verdict]
        yield Line2D([], [], color=colour, marker=marker, mfc=inside, ms=5, label=words)
