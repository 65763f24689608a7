"""How the answers of each group are spread: a histogram a group, one below the other."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from biaswatch.local.run_results import RunResults
from biaswatch.render.figures import COLOURS, INK, label_rows, new_figure, shortened, target_names
from biaswatch.render.figures.facets import share_axes
from biaswatch.services.gateway.runs.measurements import GroupValues
from biaswatch.shared.contracts import Diagnosis
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.group_plots import histogram_edges
from biaswatch.shared.shown_text import visible

ROW_IN, PANEL_IN = 0.3, 0.85
FEW_BINS, MANY_BINS, SMALL = 12, 24, 60
HEIGHT = 0.85
"""How much of a row the highest bar takes."""


def spreads(results: RunResults) -> Figure | None:
    """Draw the answers of each group, for the findings that say the most."""
    found = [
        (each, values) for each in results.diagnoses
        if (values := results.values.get(each.id)) and any(values.values.values())
    ]  # fmt: skip
    if not found:
        return None
    heights = [PANEL_IN + ROW_IN * len(values.values) for _, values in found]
    figure, axes = new_figure(
        f"{results.run.suite}: how the answers are spread",
        0.4 + sum(heights),
        down=len(found),
        heights=heights,
    )
    kinds = [diagnosis.feature for diagnosis, _ in found]
    names = target_names([diagnosis for diagnosis, _ in found])
    for axis, (diagnosis, values), name in zip(axes, found, names, strict=True):
        same = [some for each, some in found if each.feature == diagnosis.feature]
        _panel(axis, diagnosis, values, name, _edges(same))
    share_axes(axes, kinds)
    return figure


def _edges(drawn: Sequence[GroupValues]) -> Any:
    """Return the same bars for all panels of a number: fewer where groups are small."""
    groups = [some for each in drawn for some in each.values.values() if some]
    smallest = min(map(len, groups))
    every = sorted(value for some in groups for value in some)
    return np.array(histogram_edges(every, FEW_BINS if smallest < SMALL else MANY_BINS))


def _panel(axis: Any, diagnosis: Diagnosis, drawn: GroupValues, target: str, edges: Any) -> None:
    groups = {name: some for name, some in drawn.values.items() if some}
    shares = {name: np.histogram(some, edges)[0] / len(some) for name, some in groups.items()}
    most = max(float(each.max()) for each in shares.values())
    ordered = sorted(groups, key=lambda name: (-float(np.median(groups[name])), name))
    for row, name in enumerate(ordered):
        heights = HEIGHT * shares[name] / most
        middles, widths = (edges[:-1] + edges[1:]) / 2, np.diff(edges)
        axis.bar(middles, -heights, widths * 0.92, bottom=row + 0.45, color=COLOURS[0])
        middle = float(np.median(groups[name]))
        axis.plot([middle, middle], [row + 0.45, row - 0.4], color=INK, lw=1, ls=":")
    label_rows(axis, _labels(groups, ordered))
    axis.grid(visible=False)
    of = f"; {drawn.answers:,} of {drawn.of:,} answers" if drawn.answers < drawn.of else ""
    name = shortened(f"{target}: {diagnosis.feature} by {diagnosis.dimension}")
    axis.set_title(visible(name) + of, fontsize=9, loc="left")
    axis.set_xlabel(f"{shortened(diagnosis.feature)}; dotted: median")


def _labels(groups: Mapping[str, Sequence[float]], ordered: Sequence[str]) -> list[str]:
    medians = (number(float(np.median(groups[name]))) for name in ordered)
    return [
        shortened(f"{name} (n={len(groups[name])}, median {median})")
        for name, median in zip(ordered, medians, strict=True)
    ]
