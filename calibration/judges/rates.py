"""Coverage of rates corrected by a judge's errors on controls, and by labels of texts."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.judges.corrected_rates import corrected_rate
from biaswatch.shared.stats.judges.labelled_rates import labelled_rate
from biaswatch.shared.stats.labels.corrected_values import DrawnLabels

SENSITIVITY, SPECIFICITY, CONTROLS = 0.8, 0.9, 40
PREVALENCES, SIZES = (0.0, 0.05, 0.2, 0.5), (60, 300, 2000)
TEMPLATES = 30
OWN_SHARE = 0.1
"""Intraclass correlation of true flags within a template."""
ALPHA = 0.05
MIN_COVERAGE = 0.93
LABELS = 60
"""Pairs that people label at random; those of the smallest study are all labelled."""


@dataclass(frozen=True)
class Coverage:
    """Share of intervals that hold the true rate."""

    prevalence: float
    pairs: int
    templates: int
    covered: float


def coverages(draws: int, seed: int) -> Iterator[Coverage]:
    """Yield the coverage at each prevalence and size, of independent and of clustered flags."""
    rng = np.random.default_rng(seed)
    for templates in (0, TEMPLATES):
        for prevalence in PREVALENCES:
            for pairs in SIZES:
                covered = sum(_covers(prevalence, pairs, templates, rng) for _ in range(draws))
                yield Coverage(prevalence, pairs, templates, covered / draws)


def labelled_coverages(draws: int, seed: int) -> Iterator[Coverage]:
    """Yield the coverage by labels, of a judge that errs more on texts than on controls."""
    rng = np.random.default_rng(seed)
    for templates in (0, TEMPLATES):
        for prevalence in PREVALENCES[1:]:
            for pairs in SIZES[1:]:
                covered = sum(
                    _covers_by_labels(prevalence, pairs, templates, rng) for _ in range(draws)
                )
                yield Coverage(prevalence, pairs, templates, covered / draws)


def _covers_by_labels(
    prevalence: float, pairs: int, templates: int, rng: np.random.Generator
) -> bool:
    families = np.arange(pairs) % templates if templates else np.full(pairs, -1)
    rates = _rates(prevalence, templates or 1, rng) if templates else np.array([prevalence])
    true = rng.random(pairs) < rates[np.maximum(families, 0)]
    readings = rng.random(pairs) < np.where(true, SENSITIVITY, 1 - SPECIFICITY)
    rows = np.sort(rng.choice(pairs, LABELS, replace=False))
    share = np.full(LABELS, LABELS / pairs)
    drawn = DrawnLabels(
        rows, true[rows].astype(float), share, np.zeros(pairs, np.intp), np.array([share[0]] * 2)
    )
    rate = labelled_rate(readings.astype(float), drawn, families, ALPHA)
    return rate.low is not None and rate.high is not None and rate.low <= prevalence <= rate.high


def _rates(prevalence: float, templates: int, rng: np.random.Generator) -> np.ndarray:
    """Return the true rate of each template."""
    weight = 1 / OWN_SHARE - 1
    return rng.beta(prevalence * weight, (1 - prevalence) * weight, templates)


def _covers(prevalence: float, pairs: int, templates: int, rng: np.random.Generator) -> bool:
    sensitivity = (int(rng.binomial(CONTROLS, SENSITIVITY)), CONTROLS)
    specificity = (int(rng.binomial(CONTROLS, SPECIFICITY)), CONTROLS)
    sizes = np.full(templates, pairs // templates) if templates else np.array([pairs])
    rates = np.full(len(sizes), prevalence)
    if templates and prevalence:
        rates = _rates(prevalence, templates, rng)
    true = rng.binomial(sizes, rates)
    flagged = rng.binomial(true, SENSITIVITY) + rng.binomial(sizes - true, 1 - SPECIFICITY)
    clusters = list(zip(flagged.tolist(), sizes.tolist(), strict=True))
    rate = corrected_rate(clusters, sensitivity=sensitivity, specificity=specificity, alpha=ALPHA)
    low, high = rate.low, rate.high
    return low is not None and high is not None and low <= prevalence <= high
