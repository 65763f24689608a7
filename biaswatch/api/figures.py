"""Pictures of results for a notebook."""

from collections.abc import Mapping, Sequence
from typing import Any

from biaswatch.shared.contracts import Verdict
from biaswatch.shared.errors import UsageError


def gap_figure(compared: Sequence[Mapping[str, Any]]) -> Any:
    """Return gaps with their intervals, ranked by effect; shape and colour are the verdict.

    It is drawn as that of a run's report.

    Raises
    ------
    UsageError
        matplotlib is not installed, or there is no gap.
    """
    try:
        from matplotlib import rc_context

        from biaswatch.render.figures import STYLE
        from biaswatch.render.figures.forest import ForestLine, forest
    except ModuleNotFoundError:
        raise UsageError(
            "Figures need matplotlib: install biaswatch with the extra `figures`."
        ) from None
    lines = []
    for row in (row for row in compared if row["gap"] is not None):
        low, high = row["ci"] or (None, None)
        verdict = Verdict(row["verdict"]) if row["verdict"] else None
        label = ", ".join(filter(None, [row["domain"], f"{row['a']} - {row['b']}"]))
        lines.append(ForestLine(row["feature"], label, row["gap"], low, high, verdict))
    if not lines:
        raise UsageError("There is no gap to draw.")
    with rc_context(STYLE):
        return forest(lines, "Gaps between groups, ranked")
