"""Pictures of results for a notebook."""

from collections.abc import Mapping, Sequence
from typing import Any

from shared.contracts import Verdict
from shared.errors import UsageError

MOST_SHOWN = 40
COLOURS = {Verdict.DISPARITY.value: "#b3261e", Verdict.NO_DISPARITY.value: "#2e7d32"}
UNDECIDED = "#5f6368"


def gap_figure(compared: Sequence[Mapping[str, Any]]) -> Any:
    """Return gaps with their intervals, the strongest above; the colour is the verdict.

    Raises
    ------
    UsageError
        matplotlib is not installed, or there is no gap.
    """
    try:
        from matplotlib.figure import Figure
    except ModuleNotFoundError:
        raise UsageError(
            "Figures need matplotlib: install biaswatch with the extra `figures`."
        ) from None
    rows = [row for row in compared if row["gap"] is not None][:MOST_SHOWN]
    if not rows:
        raise UsageError("There is no gap to draw.")
    figure = Figure(figsize=(7, 1 + 0.35 * len(rows)), layout="constrained")
    axis = figure.subplots()
    for number, row in enumerate(rows):
        low, high = row["ci"] or (row["gap"], row["gap"])
        colour = COLOURS.get(row["verdict"], UNDECIDED)
        axis.plot([low, high], [number, number], color=colour)
        axis.plot([row["gap"]], [number], "o", color=colour)
    axis.axvline(0, color="#9aa0a6", linewidth=0.8)
    axis.set_yticks(
        range(len(rows)), [f"{row['feature']}: {row['a']} - {row['b']}" for row in rows]
    )
    axis.invert_yaxis()
    axis.set_xlabel("gap")
    return figure
