"""Draw heatmaps: cells in colors around 0, with texts and outlines."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from biaswatch.render.figures.drawing import DARK_SHARE, INK_ON_COLOR, MINUS, PALE, shortened

GAP_LABEL = "gap, points"


@dataclass(frozen=True)
class HeatmapCell:
    """One value with its text, outlined if it is a disparity."""

    value: float | None
    text: str = ""
    outlined: bool = False


LINE_CHARS, LEAST_LABEL_CHARS = 80, 10
"""Characters that fit below a heatmap, and the least of a column's label, which may break."""
Heatmap = Mapping[tuple[str, str], HeatmapCell]
"""Cells by row and column."""


def rounded(number: float, decimals: int) -> str:
    """Return a rounded number with a minus sign, without one for 0."""
    return f"{round(number, decimals) + 0.0:.{decimals}f}".replace("-", MINUS)


def signed(value: float, decimals: int) -> str:
    """Return a number with its sign; 0 has none."""
    text = rounded(value, decimals)
    return f"+{text}" if value > 0 and float(text) else text


def gap_cell(value: float | None, *, outlined: bool = False) -> HeatmapCell:
    """Return a cell with a signed number."""
    return HeatmapCell(value, "undefined" if value is None else signed(value, 2), outlined)


def largest_value(heatmaps: Sequence[Heatmap]) -> float:
    """Return the largest distance from 0."""
    values = (cell.value for heatmap in heatmaps for cell in heatmap.values())
    return max((abs(value) for value in values if value is not None), default=0.0) or 1.0


def color_bar(
    figure: Figure,
    image: Any,
    axes: Any,
    *,
    aspect: int = 12,
    location: str = "right",
    label: str = GAP_LABEL,
) -> None:
    """Draw the legend of a heatmap's colors."""
    bar = figure.colorbar(image, ax=axes, label=label, shrink=0.9, aspect=aspect, location=location)
    bar.outline.set_edgecolor(PALE)


def draw_heatmap(axis: Any, heatmap: Heatmap, limit: float, font_size: float = 8) -> Any:
    """Draw cells in colors around 0, with their texts and outlines."""
    columns = list(dict.fromkeys(column for _, column in heatmap))
    rows = list(dict.fromkeys(row for row, _ in heatmap))
    empty = HeatmapCell(None, "undefined")
    cells = [[heatmap.get((row, column), empty) for column in columns] for row in rows]
    values = np.array([[cell.value for cell in row] for row in cells], dtype=float)
    norm = TwoSlopeNorm(0, -limit, limit)
    image = axis.imshow(np.ma.masked_invalid(values), cmap="RdBu_r", norm=norm, aspect="auto")
    axis.set_facecolor("#eeeeee")
    width = max(LEAST_LABEL_CHARS, LINE_CHARS // len(columns))
    axis.set_xticks(range(len(columns)), [fill(shortened(column), width) for column in columns])
    axis.set_yticks(range(len(rows)), list(map(shortened, rows)))
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    for (y, x), value in np.ndenumerate(values):
        cell = cells[y][x]
        color = "white" if abs(value) > DARK_SHARE * limit else INK_ON_COLOR
        axis.text(x, y, cell.text, ha="center", va="center", color=color, fontsize=font_size)
        if cell.outlined:  # within the cell: at its edge, a white frame would shrink it
            box = Rectangle((x - 0.46, y - 0.42), 0.92, 0.84, fill=False, ec=color, lw=1.6)
            axis.add_patch(box)
    return image
