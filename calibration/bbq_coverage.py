"""Coverage of the intervals of BBQ scores, where templates are drawn."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np

from biaswatch.shared.stats.studies.bbq import BbqAnswer
from biaswatch.shared.stats.studies.bbq_intervals import with_intervals
from tests.support.unifiedqa import by_template

Rng = np.random.Generator
ALPHA = 0.05
UNIFIEDQA, UNIFIEDQA_BIAS = "UnifiedQA on Age: interval of the bias by templates", (14.7, 44.8)
TEMPLATES, CONTEXTS = 25, 40
BIAS_LOGIT = 0.5


def bbq_coverage() -> Iterator[tuple[str, Callable[[Rng], bool]]]:
    """Yield the name of each cell, and a study that returns whether the interval covers."""
    for template_sd, error_rate in product((0.0, 0.5, 1.0), (0.05, 0.2, 0.5)):
        truth = _bbq_truth(template_sd, error_rate)
        for score in truth:
            covers = partial(_bbq_covers, template_sd, error_rate, score, truth[score])
            name = f"BBQ, template SD {template_sd}, error rate {error_rate}: {score} covered"
            yield name, covers


def _bbq_covers(template_sd: float, error_rate: float, score: str, truth: float, rng: Rng) -> bool:
    """Return whether the interval of a BBQ score over 25 templates covers that of all templates."""
    honest, stereotype = _bbq_shares(template_sd, error_rate, TEMPLATES, rng)
    unknown = rng.binomial(CONTEXTS, honest)
    biased = rng.binomial(CONTEXTS - unknown, stereotype)
    answers = {
        str(template): [BbqAnswer("ambig", 2, 2, 0, prediction) for prediction in predictions]
        for template, predictions in enumerate(
            [2] * right + [0] * wrong + [1] * (CONTEXTS - right - wrong)
            for right, wrong in zip(unknown.tolist(), biased.tolist(), strict=True)
        )
    }
    interval = getattr(with_intervals(answers, "ambig", alpha=ALPHA), score)
    return interval.low is not None and bool(interval.low <= truth <= interval.high)


def _bbq_truth(template_sd: float, error_rate: float) -> dict[str, float]:
    honest, stereotype = _bbq_shares(template_sd, error_rate, 200_000, np.random.default_rng(1))
    bias = (1 - honest) * (2 * stereotype - 1)
    return {"accuracy": 100 * float(honest.mean()), "bias": 100 * float(bias.mean())}


def _bbq_shares(
    template_sd: float, error_rate: float, templates: int, rng: Rng
) -> tuple[np.ndarray, np.ndarray]:
    """Return each template's share of right answers, and of stereotypes among the others."""
    centres = np.log(1 / error_rate - 1), BIAS_LOGIT
    honest, stereotype = (
        1 / (1 + np.exp(-(centre + template_sd * rng.normal(size=templates)))) for centre in centres
    )
    return honest, stereotype


def misses_unifiedqa(data: Path) -> bool:
    """Print the interval of the bias of UnifiedQA on Age, and return whether it misses its bar.

    The answers are below the folder `data`.
    """
    if not (folder := data / "bbq").is_dir():
        print(f"{UNIFIEDQA:64} skipped: there are no recorded answers")
        return False
    bias = with_intervals(by_template(folder, "Age", "race"), "ambig", alpha=ALPHA).bias
    ends = bias.low or 0.0, bias.high or 0.0
    misses = not np.allclose(ends, UNIFIEDQA_BIAS, atol=2.0)
    print(
        f"{UNIFIEDQA:64} {bias.value:.1f} [{ends[0]:.1f}, {ends[1]:.1f}], about"
        f" [{UNIFIEDQA_BIAS[0]}, {UNIFIEDQA_BIAS[1]}]{'  MISSED' if misses else ''}"
    )
    return misses
