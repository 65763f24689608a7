"""Coverage of the intervals of rates that are corrected by a judge's errors on controls."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from biaswatch.shared.stats.judges.corrected_rates import corrected_rate

SENSITIVITY, SPECIFICITY, CONTROLS = 0.8, 0.9, 40
PREVALENCES, SIZES = (0.0, 0.05, 0.2, 0.5), (60, 300, 2000)
TEMPLATES = 30
OWN_SHARE = 0.1
"""Intraclass correlation of true flags within a template."""
ALPHA = 0.05
MIN_COVERAGE = 0.93


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


def _covers(prevalence: float, pairs: int, templates: int, rng: np.random.Generator) -> bool:
    sensitivity = (int(rng.binomial(CONTROLS, SENSITIVITY)), CONTROLS)
    specificity = (int(rng.binomial(CONTROLS, SPECIFICITY)), CONTROLS)
    sizes = np.full(templates, pairs // templates) if templates else np.array([pairs])
    rates = np.full(len(sizes), prevalence)
    if templates and prevalence:
        weight = 1 / OWN_SHARE - 1
        rates = rng.beta(prevalence * weight, (1 - prevalence) * weight, templates)
    true = rng.binomial(sizes, rates)
    flagged = rng.binomial(true, SENSITIVITY) + rng.binomial(sizes - true, 1 - SPECIFICITY)
    clusters = list(zip(flagged.tolist(), sizes.tolist(), strict=True))
    rate = corrected_rate(clusters, sensitivity=sensitivity, specificity=specificity, alpha=ALPHA)
    low, high = rate.low, rate.high
    return low is not None and high is not None and low <= prevalence <= high
