"""Bias scores by category and model, in ambiguous and in disambiguated contexts."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.figure import Figure

from biaswatch.local.run_results import RunResults
from biaswatch.render.figures import DARK, MINUS, PALE, WORDS, new_figure, shortened, target_names
from biaswatch.shared.contracts import Estimate

CONDITIONS = {
    "ambig": "ambiguous contexts: (1 - accuracy) x s_DIS",
    "disambig": "disambiguated contexts: s_DIS",
}
REACH = 100.0
"""The scores' own limits, so that pictures of different runs compare."""
ROW_IN, AROUND_IN = 0.46, 1.25
LETTERS_ACROSS, LINE_IN = 52, 0.18
MOST_INTERVALS = 4
"""With more models a side, a cell has no room for its interval."""
Field = Mapping[tuple[str, str], Estimate]
"""(category, model) -> score."""


def bias_scores(results: RunResults) -> Figure | None:
    """Draw the bias scores of a study, a field of colour for each condition; None without any."""
    scores = results.studies.scores if results.studies else []
    conditions = [name for name in CONDITIONS if any(each.condition == name for each in scores)]
    if not conditions:
        return None
    models = list(dict.fromkeys(target_names(scores)))
    categories = sorted({each.category for each in scores})
    height = AROUND_IN + ROW_IN * len(categories) + _label_height(models)
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


def _draw(axis: Any, field: Field, categories: Sequence[str], models: Sequence[str]) -> Any:
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
