"""Gaps as fields of colour: every model and scaffold at a glance, and criterion by criterion."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from biaswatch.local.run_results import RunResults
from biaswatch.render.figures import INK, MINUS, PALE, new_figure, shortened, target_names
from shared.contracts import CriterionGap, Gap, Verdict
from shared.shown_text import visible

Field = Mapping[tuple[str, str], tuple[float | None, bool]]
"""(row, column) -> value, and whether it is a conclusion."""
ROW_IN, PANEL_IN = 0.42, 0.9
MOST_GAPS = 21
"""With more, no label can be read; the picture of all groups shows what they are made of."""
DARK = 0.6
"""From this share of the strongest colour on, words on it are white."""


def gaps(results: RunResults) -> Figure | None:
    """Draw every gap; those concluded to be disparities are outlined."""
    found = [each for each in results.diagnoses if 0 < len(each.gaps) <= MOST_GAPS]
    if not found:
        return None
    first = found[0]
    panels = []
    for feature in dict.fromkeys(each.feature for each in found):
        of_feature = [each for each in found if each.feature == feature]
        field: Field = {
            (name, _against(gap)): (gap.gap.value, gap.verdict is Verdict.DISPARITY)
            for each, name in zip(of_feature, target_names(of_feature), strict=True)
            for gap in each.gaps
        }
        sizes = sorted({group.responses for each in of_feature for group in each.groups})
        size = str(sizes[0]) if len(sizes) == 1 else f"{sizes[0]} to {sizes[-1]}"
        panels.append((f"{feature}; {size} answers a group", field, _largest([field])))
    return _panels(
        f"{results.run.suite}: gaps between groups (outlined: disparity at level"
        f" {first.alpha:g}, Bonferroni over {first.family})",
        panels,
    )


def criteria(results: RunResults) -> Figure | None:
    """Draw the gaps of each criterion, a field for each target and scaffold that judged them."""
    found = [each for each in results.assessments if each.criteria]
    if not found:
        return None
    fields = [_by_criterion(each.criteria, each.alpha) for each in found]
    reach = _largest(fields)  # one scale for all, or a model without gaps would look like one with
    panels = [
        (f"{shortened(name)}; {each.answers} answers", field, reach)
        for name, each, field in zip(target_names(found), found, fields, strict=True)
    ]
    return _panels(
        f"{results.run.suite}: gaps by criterion (outlined: at level {found[0].alpha:g},"
        " Holm over a field)",
        panels,
    )


def _by_criterion(judged: Sequence[CriterionGap], alpha: float) -> Field:
    return {
        (each.criterion, _against(each)): (each.gap.value, _is_disparity(each, alpha))
        for each in judged
    }


def _against(pair: Gap | CriterionGap) -> str:
    return f"{pair.a} {MINUS} {pair.b}"


def _panels(title: str, panels: Sequence[tuple[str, Field, float]]) -> Figure:
    heights = [ROW_IN * len({row for row, _ in field}) for _, field, _ in panels]
    figure, axes = new_figure(title, 0.5 + sum(heights) + PANEL_IN * len(panels), down=len(panels))
    for axis, (about, field, reach) in zip(axes, panels, strict=True):
        _field(figure, axis, field, reach)
        axis.set_title(visible(about), fontsize=9, loc="left")
    return figure


def _largest(fields: Sequence[Field]) -> float:
    """Return the largest distance from 0 in any of the fields."""
    distances = [abs(v) for field in fields for v, _ in field.values() if v is not None]
    return max(distances, default=0.0) or 1.0


def _field(figure: Figure, axis: Any, field: Field, reach: float) -> None:
    across = list(dict.fromkeys(column for _, column in field))
    down = list(dict.fromkeys(row for row, _ in field))
    nothing: tuple[float | None, bool] = (None, False)
    values = np.array(
        [[field.get((row, column), nothing)[0] for column in across] for row in down], dtype=float
    )
    norm = TwoSlopeNorm(0, -reach, reach)
    image = axis.imshow(np.ma.masked_invalid(values), cmap="RdBu_r", norm=norm, aspect="auto")
    axis.set_facecolor("#eeeeee")
    axis.set_xticks(range(len(across)), [shortened(each) for each in across])
    axis.set_yticks(range(len(down)), [shortened(each) for each in down])
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    for (row, column), value in np.ndenumerate(values):
        text = _signed(value)
        colour = "white" if abs(value) > DARK * reach else INK
        axis.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
        if field.get((down[row], across[column]), nothing)[1]:
            axis.add_patch(
                Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, fill=False, ec=colour, lw=2)
            )
    bar = figure.colorbar(image, ax=axis, label="gap, points", shrink=0.9, aspect=12)
    bar.outline.set_edgecolor(PALE)


def _signed(value: float) -> str:
    """Return a gap with its sign, to two decimals as in every field; what rounds to 0 has none."""
    if np.isnan(value):
        return "undefined"
    text = f"{value:+.2f}"
    return "0.00" if text in ("+0.00", "-0.00") else text.replace("-", MINUS)


def _is_disparity(judged: CriterionGap, alpha: float) -> bool:
    return judged.p_adjusted is not None and judged.p_adjusted <= alpha
