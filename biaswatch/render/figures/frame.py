"""What all pictures share: colours, labels, an empty figure."""

from collections.abc import Sequence
from typing import Any

from matplotlib.figure import Figure

from biaswatch.render.findings import FromTarget, target_name

INK, PALE, ACCENT = "#1f3b57", "#c9d3dd", "#b5482a"
COLOURS = ("#1f6f8b", "#b5482a", "#5b7f3a", "#7a4f8f", "#a8842c", "#4a4a4a", "#c06c84", "#2f4858")
"""Apart for eyes of every kind, also in print; the markers differ as well."""
MARKERS = "osD^vP*X"
MINUS = "\u2212"
QUALITY = f"quality: 100 {MINUS} 20 x mean absolute error"
LONGEST_LABEL = 46
PAGE_WIDTH_IN = 9.0


def new_figure(
    title: str, height_in: float, *, down: int = 1, across: int = 1
) -> tuple[Figure, Any]:
    """Return a figure of a page's width with its title, and its axes in the order they are read."""
    figure = Figure(figsize=(PAGE_WIDTH_IN, height_in), layout="constrained")
    figure.suptitle(title, fontsize=11, x=0.01, ha="left")
    return figure, figure.subplots(down, across, squeeze=False).ravel()


def shortened(label: str) -> str:
    """Cut a label that would push the picture aside."""
    return label if len(label) <= LONGEST_LABEL else label[: LONGEST_LABEL - 1] + "…"


def label_rows(axis: Any, labels: Sequence[str]) -> None:
    """Put names, short already, on the rows of a picture, the first on top."""
    axis.set_yticks(range(len(labels)), labels)
    axis.set_ylim(len(labels) - 0.5, -0.5)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right", "left"]].set_visible(False)
    axis.set_axisbelow(True)
    axis.grid(axis="x", color=PALE, lw=0.5)


def target_names(found: Sequence[FromTarget]) -> list[str]:
    """Return the target and scaffold of each."""
    return [target_name(each) for each in found]
