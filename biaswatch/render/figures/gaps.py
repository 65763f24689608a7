"""Gaps of a diagnosis as a figure."""

from collections.abc import Mapping, Sequence
from typing import Any

from biaswatch.render.figures import STYLE, check_can_draw
from biaswatch.shared.contracts import SummaryWord
from biaswatch.shared.errors import UsageError


def gap_figure(compared: Sequence[Mapping[str, Any]]) -> Any:
    """Draw gaps with their intervals, ranked by effect, as in a run's report.

    Shape and colour show the verdict.

    Raises
    ------
    UsageError
        matplotlib is not installed, or no gap is defined.
    """
    check_can_draw()
    from matplotlib import rc_context

    from biaswatch.render.figures.forest import ForestLine, forest

    lines = []
    for row in (row for row in compared if row["gap"] is not None):
        low, high = row["ci"] or (None, None)
        verdict = SummaryWord(row["summary"]) if row["summary"] else None
        label = ", ".join(filter(None, [row["domain"], f"{row['a']} - {row['b']}"]))
        lines.append(ForestLine(row["feature"], label, row["gap"], low, high, verdict))
    if not lines:
        raise UsageError("There is no gap to draw.")
    with rc_context(STYLE):
        return forest(lines, "Gaps between groups, ranked")
