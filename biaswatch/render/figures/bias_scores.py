"""Bias scores by category and model, a heatmap for each condition."""

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

from matplotlib.figure import Figure

from biaswatch.local.runs import RunResults
from biaswatch.render.figures.drawing import MINUS, new_figure, shortened, target_names
from biaswatch.render.figures.heatmap_drawing import HeatmapCell, color_bar, draw_heatmap, rounded
from biaswatch.shared.contracts import Estimate

CONDITIONS = {
    "ambig": "ambiguous contexts: (1 - accuracy) x s_DIS",
    "disambig": "disambiguated contexts: s_DIS",
}
SCORE_LIMIT = 100.0
"""The scores' own limits, so that figures of different runs compare."""
SCORE_ROW_IN, SCORE_MARGIN_IN = 0.46, 1.25
LABEL_CHARS, LABEL_LINE_IN, LABEL_CHAR_IN = 52, 0.18, 0.08
MAX_MODELS_WITH_INTERVALS = 4


def bias_scores(results: RunResults) -> Figure | None:
    """Draw the bias scores of a study, a heatmap for each condition."""
    scores = results.studies.scores if results.studies else []
    conditions = [name for name in CONDITIONS if any(row.condition == name for row in scores)]
    if not conditions:
        return None
    models = list(dict.fromkeys(target_names(scores)))
    categories = sorted({row.category for row in scores})
    has_intervals = len(models) <= MAX_MODELS_WITH_INTERVALS
    shown = "each 95 % interval by itself" if has_intervals else "rounded"
    labels = _wrapped_labels(models)
    height = SCORE_MARGIN_IN + SCORE_ROW_IN * len(categories)
    if labels:
        height += LABEL_LINE_IN * max(label.count("\n") for label in labels)
    else:
        height += LABEL_CHAR_IN * max(len(shortened(model)) for model in models)
    title = f"{results.run.suite}: bias scores ({shown})"
    figure, axes = new_figure(title, height, across=len(conditions))
    image: Any = None
    for axis, condition in zip(axes, conditions, strict=True):
        rows = [row for row in scores if row.condition == condition]
        heatmap: dict[tuple[str, str], HeatmapCell] = {
            (category, model): HeatmapCell(None) for category in categories for model in models
        }
        for row, model in zip(rows, target_names(rows), strict=True):
            text = _score_text(row.bias, with_interval=has_intervals)
            heatmap[row.category, model] = HeatmapCell(row.bias.value, text)
        image = draw_heatmap(axis, heatmap, SCORE_LIMIT, 7.5)
        names = labels or [shortened(model) for model in models]
        axis.set_xticks(range(len(models)), names, rotation=0 if labels else 90)
        axis.set_title(CONDITIONS[condition].replace("-", MINUS), fontsize=9, loc="left")
    for axis in axes[1:]:
        axis.set_yticklabels([])
    label = f"{MINUS}100 always against the stereotype, 100 always with it"
    color_bar(figure, image, list(axes), aspect=40, location="bottom", label=label)
    return figure


def _wrapped_labels(models: Sequence[str]) -> list[str] | None:
    """Return labels wrapped to fit side by side, or None."""
    if len(models) > MAX_MODELS_WITH_INTERVALS:
        return None
    width = LABEL_CHARS // len(models) - 2
    lines = [wrap(shortened(model), width, break_long_words=False) for model in models]
    fits = all(len(line) <= width for label in lines for line in label)
    return ["\n".join(label) for label in lines] if fits else None


def _score_text(score: Estimate, *, with_interval: bool) -> str:
    """Return a score above its interval, to one decimal, or alone without decimals."""
    if score.value is None:
        return "undefined" if with_interval else "?"
    if not with_interval:
        return rounded(score.value, 0)
    if score.low is None or score.high is None:
        return rounded(score.value, 1)
    return f"{rounded(score.value, 1)}\n[{rounded(score.low, 1)}, {rounded(score.high, 1)}]"
