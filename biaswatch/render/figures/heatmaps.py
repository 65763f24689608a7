"""Fields of color: gaps by model, pairs of groups, criteria, bias scores."""

from collections.abc import Mapping, Sequence
from math import ceil
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from biaswatch.local.runs import RunResults
from biaswatch.render.figures import DARK, MINUS, PALE, WORDS, new_figure, shortened, target_names
from biaswatch.render.figures.facets import facet_titles
from biaswatch.shared.contracts import CriterionGap, Diagnosis, Estimate, Gap, Verdict
from biaswatch.shared.formatting import visible
from biaswatch.shared.presentation.names import ModelNames

Field = Mapping[tuple[str, str], tuple[float | None, bool]]
"""(row, column) -> value, and whether it is a conclusion."""
ROW_IN, PANEL_IN = 0.34, 0.9
CRITERIA_ACROSS, FACET_IN = 2, 0.5
LEAST_SQUARE, MOST_SQUARES, MOST_WORDS = 4, 3, 10
"""A square shows more than a row does from so many groups on; with more, not all its numbers."""
SQUARE_ROW_IN, SQUARE_PANEL_IN = 0.3, 1.6
MOST_COLUMNS = 6
"""With more comparisons than this and fewer models, comparisons stand below each other."""
MOST_GAPS = 21
"""With more, no label can be read; the picture of all groups shows what they are made of."""


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
        if len({column for _, column in field}) > max(MOST_COLUMNS, len(of_feature)):
            field = {(column, row): cell for (row, column), cell in field.items()}
        panels.append((f"{feature}; {readable(of_feature)}", field, _largest([field])))
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
    across = min(len(found), CRITERIA_ACROSS)
    down = ceil(len(found) / across)
    rows = max(len({row for row, _ in field}) for field in fields)
    figure, axes = new_figure(
        f"{results.run.suite}: gaps by criterion (outlined: at level {found[0].alpha:g},"
        " Holm over a field)",
        1.4 + down * (ROW_IN * rows + FACET_IN),
        down=down,
        across=across,
    )
    for axis in axes[len(found) :]:
        axis.set_visible(False)
    image: Any = None
    for place, axis in enumerate(axes[: len(found)]):
        image = _field(axis, fields[place], reach)
        read = found[place].answers - found[place].missing
        axis.set_title(f"{facet_titles(found)[place]}; n={read}", fontsize=8, loc="left")
        if place % across:
            axis.set_yticklabels([])
        below = place + across < len(found)
        words = [
            each.get_text().replace(f" {MINUS} ", f" {MINUS}\n") for each in axis.get_xticklabels()
        ]
        axis.set_xticklabels([] if below else words, fontsize=7.5)
    _colour_bar(figure, image, list(axes), aspect=40, location="bottom")
    return figure


def pairs_of_groups(results: RunResults) -> Figure | None:
    """Draw every group less every other as a square, for the findings that say the most."""
    found = [
        each for each in results.diagnoses
        if len(each.groups) >= LEAST_SQUARE and len(_pairs(each)) == len(each.gaps)
        and each.gaps
    ]  # fmt: skip
    if not found:
        return None
    shown = sorted(found, key=_strongest)[:MOST_SQUARES]
    sides = [SQUARE_ROW_IN * len(each.groups) for each in shown]
    figure, axes = new_figure(
        f"{results.run.suite}: every group less every other (outlined: disparity at level"
        f" {shown[0].alpha:g}, Bonferroni over {shown[0].family})",
        0.5 + sum(sides) + SQUARE_PANEL_IN * len(shown),
        down=len(shown),
        heights=sides,
    )
    names = ModelNames.among(results.diagnoses)
    for axis, each in zip(axes, shown, strict=True):
        field = _square(each)
        image = _field(axis, field, _largest([field]), decimals=len(each.groups) <= MOST_WORDS)
        axis.set_xticklabels(axis.get_xticklabels(), rotation=90)
        name = shortened(f"{names.of(each)}: {each.feature} by {each.dimension}")
        axis.set_title(visible(f"{name}; {readable([each])}"), fontsize=9, loc="left")
        _colour_bar(figure, image, axis)
    return figure


def _pairs(diagnosis: Diagnosis) -> list[Gap]:
    """Return the gaps between two groups; one with all others is none."""
    names = {group.group for group in diagnosis.groups}
    return [gap for gap in diagnosis.gaps if {gap.a, gap.b} <= names]


def _strongest(diagnosis: Diagnosis) -> float:
    ps = (gap.comparable_p(gap.p_adjusted) for gap in diagnosis.gaps)
    return min((p for p in ps if p is not None), default=1.0)


def _square(diagnosis: Diagnosis) -> Field:
    """Return each pair twice, with opposite signs; groups are ranked by their means."""
    known = {(gap.a, gap.b): (gap.gap.value, gap.verdict is Verdict.DISPARITY)
             for gap in diagnosis.gaps}  # fmt: skip
    ranked = sorted(diagnosis.groups, key=lambda group: -(group.mean.value or 0.0))
    names = [group.group for group in ranked]
    field: dict[tuple[str, str], tuple[float | None, bool]] = {}
    for a in names:
        for b in names:
            value, found = known.get((a, b), (None, False))
            if (b, a) in known:
                other, found = known[b, a]
                value = None if other is None else -other
            field[a, b] = (0.0 if a == b else value, found)
    return field


def _by_criterion(judged: Sequence[CriterionGap], alpha: float) -> Field:
    return {
        (each.criterion, _against(each)): (each.gap.value, _is_disparity(each, alpha))
        for each in judged
    }


def readable(diagnoses: Sequence[Diagnosis]) -> str:
    """Say how many answers of a group gave a number."""
    read = sorted({g.responses - g.missing for each in diagnoses for g in each.groups})
    amount = str(read[0]) if len(read) == 1 else f"{read[0]} to {read[-1]}"
    return f"{amount} readable answers a group"


def _against(pair: Gap | CriterionGap) -> str:
    return f"{pair.a} {MINUS} {pair.b}"


def _panels(title: str, panels: Sequence[tuple[str, Field, float]]) -> Figure:
    heights = [ROW_IN * len({row for row, _ in field}) for _, field, _ in panels]
    figure, axes = new_figure(
        title, 0.5 + sum(heights) + PANEL_IN * len(panels), down=len(panels), heights=heights
    )
    for axis, (about, field, reach) in zip(axes, panels, strict=True):
        _colour_bar(figure, _field(axis, field, reach), axis)
        axis.set_title(visible(about), fontsize=9, loc="left")
    return figure


def _colour_bar(
    figure: Figure, image: Any, axes: Any, aspect: int = 12, location: str = "right"
) -> None:
    bar = figure.colorbar(
        image, ax=axes, label="gap, points", shrink=0.9, aspect=aspect, location=location
    )
    bar.outline.set_edgecolor(PALE)


def _largest(fields: Sequence[Field]) -> float:
    """Return the largest distance from 0 in any of the fields."""
    distances = [abs(v) for field in fields for v, _ in field.values() if v is not None]
    return max(distances, default=0.0) or 1.0


def _field(axis: Any, field: Field, reach: float, *, decimals: bool = True) -> Any:
    """Draw a field of colour with its numbers; with many rows, only those of disparities."""
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
        found = field.get((down[row], across[column]), nothing)[1]
        colour = "white" if abs(value) > DARK * reach else WORDS
        if decimals or found:
            text = _signed(value, short=not decimals)
            axis.text(
                column, row, text, ha="center", va="center", color=colour,
                fontsize=8 if decimals else 6,
            )  # fmt: skip
        if found:
            # Within the cell: a white frame at its edge would look like a smaller cell.
            axis.add_patch(
                Rectangle((column - 0.46, row - 0.42), 0.92, 0.84, fill=False, ec=colour, lw=1.6)
            )
    return image


def _signed(value: float, *, short: bool) -> str:
    """Return a gap with its sign, to two decimals as in every field; what rounds to 0 has none."""
    if np.isnan(value):
        return "?" if short else "undefined"
    text = f"{value:+.1f}" if short else f"{value:+.2f}"
    return text[1:] if float(text) == 0 else text.replace("-", MINUS)


def _is_disparity(judged: CriterionGap, alpha: float) -> bool:
    return judged.p_adjusted is not None and judged.p_adjusted <= alpha


CONDITIONS = {
    "ambig": "ambiguous contexts: (1 - accuracy) x s_DIS",
    "disambig": "disambiguated contexts: s_DIS",
}
REACH = 100.0
"""The scores' own limits, so that pictures of different runs compare."""
SCORE_ROW_IN, AROUND_IN = 0.46, 1.25
LETTERS_ACROSS, LINE_IN = 52, 0.18
MOST_INTERVALS = 4
"""With more models a side, a cell has no room for its interval."""
ScoreField = Mapping[tuple[str, str], Estimate]
"""(category, model) -> score."""


def bias_scores(results: RunResults) -> Figure | None:
    """Draw the bias scores of a study, a field of colour for each condition; None without any."""
    scores = results.studies.scores if results.studies else []
    conditions = [name for name in CONDITIONS if any(each.condition == name for each in scores)]
    if not conditions:
        return None
    models = list(dict.fromkeys(target_names(scores)))
    categories = sorted({each.category for each in scores})
    height = AROUND_IN + SCORE_ROW_IN * len(categories) + _label_height(models)
    shown = "each 95 % interval by itself" if len(models) <= MOST_INTERVALS else "rounded"
    title = f"{results.run.suite}: bias scores ({shown})"
    figure, axes = new_figure(title, height, across=len(conditions))
    images = []
    for axis, condition in zip(axes, conditions, strict=True):
        some = [each for each in scores if each.condition == condition]
        field = {
            (each.category, model): each.bias
            for each, model in zip(some, target_names(some), strict=True)
        }
        images.append(_draw(axis, field, categories, models))
        axis.set_title(CONDITIONS[condition].replace("-", MINUS), fontsize=9, loc="left")
    for axis in axes[1:]:
        axis.set_yticklabels([])
    words = f"{MINUS}100 always against the stereotype, 100 always with it"
    bar = figure.colorbar(images[0], ax=list(axes), label=words, location="bottom", aspect=40)
    bar.outline.set_edgecolor(PALE)
    return figure


def _label_height(models: Sequence[str]) -> float:
    """Return the room that the models' names need: upright where there are several."""
    if (lines := _lines(models)) is not None:
        return LINE_IN * max(each.count("\n") for each in lines)
    return 0.08 * max(len(shortened(model)) for model in models)


def _lines(models: Sequence[str]) -> list[str] | None:
    """Return the models' names in lines that have room side by side; None where they have none."""
    if len(models) > MOST_INTERVALS:
        return None
    room = LETTERS_ACROSS // len(models) - 2
    lines = [wrap(shortened(each), room, break_long_words=False) for each in models]
    fit = all(len(line) <= room for each in lines for line in each)
    return ["\n".join(each) for each in lines] if fit else None


def _draw(axis: Any, field: ScoreField, categories: Sequence[str], models: Sequence[str]) -> Any:
    cells = [[field.get((category, model)) for model in models] for category in categories]
    values = np.array([[cell.value if cell else None for cell in row] for row in cells], float)
    image = axis.imshow(
        np.ma.masked_invalid(values), cmap="RdBu_r", norm=TwoSlopeNorm(0, -REACH, REACH),
        aspect="auto",
    )  # fmt: skip
    axis.set_facecolor("#eeeeee")
    lines = _lines(models)
    names = lines or [shortened(each) for each in models]
    axis.set_xticks(range(len(models)), names, rotation=0 if lines else 90)
    axis.set_yticks(range(len(categories)), [shortened(each) for each in categories])
    axis.tick_params(length=0)
    axis.spines[:].set_visible(False)
    for (row, column), value in np.ndenumerate(values):
        words = _words(cells[row][column], with_interval=len(models) <= MOST_INTERVALS)
        colour = "white" if abs(value) > DARK * REACH else WORDS
        axis.text(column, row, words, ha="center", va="center", color=colour, fontsize=7.5)
    return image


def _words(score: Estimate | None, *, with_interval: bool) -> str:
    """Return a score above its interval, to one decimal; without it, to none."""
    if score is None:
        return ""
    if score.value is None:
        return "undefined" if with_interval else "?"
    if not with_interval:
        return _number(score.value, 0)
    if score.low is None or score.high is None:
        return _number(score.value, 1)
    return f"{_number(score.value, 1)}\n[{_number(score.low, 1)}, {_number(score.high, 1)}]"


def _number(value: float, decimals: int) -> str:
    """Return a rounded number; what rounds to 0 has no sign."""
    rounded = round(value, decimals) + 0.0
    return f"{rounded:.{decimals}f}".replace("-", MINUS)
