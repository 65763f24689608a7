"""Gaps with their intervals, ranked by effect, for reports and notebooks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf
from textwrap import fill
from typing import Any

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from biaswatch.local.runs import RunResults
from biaswatch.render.figures.drawing import (
    COLORS,
    INK,
    MINUS,
    label_rows,
    new_figure,
    plain_targets,
    shortened,
)
from biaswatch.shared.contracts import SummaryWord
from biaswatch.shared.foreign_text import visible
from biaswatch.shared.formatting import VERDICT_WORDS, coverage
from biaswatch.shared.presentation.conclusions import families_of
from biaswatch.shared.presentation.findings import ComparisonView
from biaswatch.shared.presentation.findings import comparisons as comparisons_of
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.plots import clip_interval
from biaswatch.shared.presentation.tables import words

MAX_ROWS, MAX_FEATURES = 30, 4
ROW_IN, PANEL_IN, MARGIN_IN, NOTE_LINE_IN, EDGE_IN = 0.3, 0.85, 1.0, 0.15, 0.12
MAX_TITLE_CHARS, MAX_NOTE_CHARS, MAX_SIDE_CHARS = 100, 140, 24
LOOKS = {
    SummaryWord.DISPARITY: (COLORS[1], "s", COLORS[1]),
    SummaryWord.NO_DISPARITY: (COLORS[2], "D", COLORS[2]),
    SummaryWord.INCONCLUSIVE: (COLORS[5], "o", "white"),
}
"""Line, marker and filling of each verdict, distinct without color too."""


@dataclass(frozen=True)
class ForestLine:
    """One comparison."""

    feature: str
    a: str
    b: str
    where: str
    """The model or the domain; "" where it needs no name."""
    value: float
    low: float | None
    high: float | None
    verdict: SummaryWord | None

    @property
    def label(self) -> str:
        """Both groups, and where they are compared."""
        return " · ".join(filter(None, [f"{self.a} {MINUS} {self.b}", self.where]))


def comparisons(results: RunResults) -> Figure | None:
    """Draw the strongest comparisons, ranked by effect, a panel for each feature."""
    ranges = results.provenance.ranges if results.provenance else {}
    plain, names = plain_targets(results.diagnoses), ModelNames.among(results.diagnoses)
    rows = [row for row in comparisons_of(results.diagnoses) if row.gap.gap.value is not None]
    several = len({row.model for row in rows}) > 1
    if not rows:
        return None
    lines = [
        _line(
            row,
            names.of(row.diagnosis, plain[row.diagnosis.target]) if several else "",
            ranges.get(row.diagnosis.feature),
        )
        for row in rows
    ]
    first = rows[0].diagnosis
    family = families_of([row.diagnosis for row in rows])
    corrected = f"of all {family} together"
    if any(row.gap.twin_shift for row in rows):
        corrected = f"at the level of their p-values, corrected over {family}"
    title = f"{results.run.suite}: gaps, ranked; {coverage(first.alpha)} intervals {corrected}"
    return forest(lines, title)


def _line(row: ComparisonView, model: str, limits: tuple[float, float] | None) -> ForestLine:
    """Return a comparison to draw; its interval ends where the range of the values does."""
    gap, reach = row.gap, limits[1] - limits[0] if limits else inf
    shown = clip_interval(gap.summary_gap, (-reach, reach))
    return ForestLine(
        row.diagnosis.feature, gap.a, gap.b, model,
        shown.value or 0.0, shown.low, shown.high, gap.summary,
    )  # fmt: skip


def forest(lines: Sequence[ForestLine], title: str, note: str = "") -> Figure:
    """Draw the strongest lines, an axis for each feature, above a note."""
    features = list(dict.fromkeys(line.feature for line in lines))[:MAX_FEATURES]
    shown = [line for line in lines if line.feature in features][:MAX_ROWS]
    panels = [[line for line in shown if line.feature == name] for name in features]
    panels = [sorted(panel, key=lambda line: -line.value) for panel in panels if panel]
    heights = [PANEL_IN + ROW_IN * len(panel) for panel in panels]
    if len(shown) < len(lines):
        note = f"Drawn: the {len(shown)} of {len(lines)} that say the most. {note}"
    title, note = fill(title, MAX_TITLE_CHARS), fill(note, MAX_NOTE_CHARS)
    height = MARGIN_IN + NOTE_LINE_IN * note.count("\n") + sum(heights)
    figure, axes = new_figure(title, height, down=len(panels), heights=heights)
    figure.set_layout_engine("constrained", w_pad=EDGE_IN, h_pad=EDGE_IN)
    for axis, panel in zip(axes, panels, strict=True):
        _draw_panel(axis, panel)
    verdicts = dict.fromkeys(line.verdict for line in shown if line.verdict)
    handles = list(_legend(verdicts))
    figure.legend(
        handles=handles, loc="outside lower left", ncols=3, frameon=False, fontsize=8,
        title=visible(note), title_fontsize=8, alignment="left",
    )  # fmt: skip
    return figure


def _draw_panel(axis: Any, lines: Sequence[ForestLine]) -> None:
    for row, line in enumerate(lines):
        color, marker, inside = LOOKS[line.verdict or SummaryWord.INCONCLUSIVE]
        if line.low is not None and line.high is not None:
            axis.plot([line.low, line.high], [row, row], color=color, lw=1.3)
        axis.plot(line.value, row, marker, color=color, mfc=inside, ms=5)
    label_rows(axis, [shortened(line.label) for line in lines])
    axis.axvline(0, color=INK, lw=0.8)
    lower, higher = _sides(lines)
    sides = (f"\u2190 {lower}", f"gap in {words(lines[0].feature)}", f"{higher} \u2192")
    axis.set_xlabel(visible((" " * 6).join(sides)))


def _sides(lines: Sequence[ForestLine]) -> tuple[str, str]:
    """Return the meaning of both sides of 0, naming a group common to all lines."""
    firsts, seconds = {line.a for line in lines}, {line.b for line in lines}
    second = shortened(lines[0].b, MAX_SIDE_CHARS)
    if len(firsts) == len(seconds) == 1:
        return f"{second} higher", f"{shortened(lines[0].a, MAX_SIDE_CHARS)} higher"
    if len(seconds) == 1:
        return f"lower than {second}", f"higher than {second}"
    return "second group higher", "first group higher"


def _legend(verdicts: Iterable[SummaryWord]) -> Iterable[Line2D]:
    for verdict in verdicts:
        color, marker, inside = LOOKS[verdict]
        label = VERDICT_WORDS[verdict]
        yield Line2D([], [], color=color, marker=marker, mfc=inside, ms=5, label=label)
