"""Small pictures of one kind side by side, one for each model and scaffold, named above it."""

from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from math import ceil
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

from biaswatch.render.figures import (
    COLORS,
    INK,
    STYLE,
    label_rows,
    new_figure,
    plain_targets,
    shortened,
)
from biaswatch.shared.contracts import Estimate
from biaswatch.shared.presentation.names import HasTarget, ModelNames, scaffold_words

MOST_ACROSS = 4
HEADING_IN, AROUND_IN = 0.42, 1.0
FACET_LABEL = 30
Drawing = Callable[[Any, int], None]
"""Draws the facet of a number, counted from 0, on its axes."""


def facet_titles(found: Sequence[HasTarget]) -> list[str]:
    """Return what stands above each facet: the scaffold below its target, where there are some."""
    plain = plain_targets(found)
    if not ModelNames.among(found).with_scaffold:
        return [_cut(plain[each.target]) for each in found]
    return [f"{_cut(plain[each.target])}\n{scaffold_words(each.scaffold)}" for each in found]


def _cut(name: str) -> str:
    name = shortened(name)
    return name if len(name) <= FACET_LABEL else f"{name[: FACET_LABEL - 1]}…"


def across_of(found: Sequence[HasTarget]) -> int:
    """Return how many facets stand side by side: a row a target where its scaffolds fit."""
    scaffolds = len({each.scaffold for each in found})
    targets = len({each.target for each in found})
    whole = scaffolds * targets == len(found)
    if whole and 1 < scaffolds <= MOST_ACROSS:
        return scaffolds
    return min(len(found), MOST_ACROSS)


def facet_grid(
    title: str, found: Sequence[HasTarget], height_in: float, draw: Drawing, *, axis_label: str
) -> Figure:
    """Draw a facet for each that was found, on common axes whose labels stand at the edges."""
    across = across_of(found)
    down = ceil(len(found) / across)
    height = AROUND_IN + down * (height_in + HEADING_IN)
    figure, axes = new_figure(title, height, down=down, across=across, shared=True)
    for place, axis in enumerate(axes):
        if place >= len(found):
            axis.set_visible(False)
            continue
        draw(axis, place)
        axis.set_title(facet_titles(found)[place], fontsize=8, loc="left")
        axis.tick_params(labelleft=place % across == 0)
        axis.tick_params(labelbottom=place + across >= len(found))
    figure.supxlabel(axis_label, fontsize=9)
    return figure


def interval_facets(
    title: str,
    found: Sequence[HasTarget],
    series: Sequence[Mapping[str, Estimate]],
    *,
    row_in: float,
    axis_label: str,
    zero: bool = False,
) -> Figure:
    """Draw one row a group with its mean and interval, in a facet for each series."""
    labels = list(dict.fromkeys(label for some in series for label in some))

    def draw(axis: Any, place: int) -> None:
        for row, label in enumerate(labels):
            draw_interval(axis, row, series[place].get(label))
        label_rows(axis, [shortened(label) for label in labels])
        if zero:
            axis.axvline(0, color=INK, lw=0.8)

    return facet_grid(title, found, row_in * len(labels), draw, axis_label=axis_label)


def draw_interval(
    axis: Any, row: float, estimate: Estimate | None, colour: str = COLORS[0], marker: str = "o"
) -> None:
    """Draw a number with its interval; what is undefined is not drawn."""
    if estimate is None or estimate.value is None:
        return
    if estimate.low is not None and estimate.high is not None:
        axis.plot(
            [estimate.low, estimate.high], [row, row],
            color=colour, lw=1.4, solid_capstyle="butt",
        )  # fmt: skip
    axis.plot(estimate.value, row, marker, color=colour, ms=4.5)


def share_axes(axes: Sequence[Any], kinds: Sequence[str]) -> None:
    """Set one scale across for all axes of a kind, so that they compare at a glance."""
    for kind in set(kinds):
        some = [axis for axis, own in zip(axes, kinds, strict=True) if own == kind]
        ends = [axis.get_xlim() for axis in some]
        for axis in some:
            axis.set_xlim(min(low for low, _ in ends), max(high for _, high in ends))


SCREEN_DPI = 100


class ShownFigure(Figure):
    """A figure of matplotlib that is its own picture at the end of a cell."""

    def _repr_png_(self) -> bytes:
        held = BytesIO()
        with rc_context(STYLE):
            self.savefig(held, format="png", dpi=SCREEN_DPI)
        return held.getvalue()
