"""Families of e-values: which comparisons may be flagged, at a look and for ever."""

from collections.abc import Sequence
from math import exp, expm1, log

from shared.stats.comparisons.multiplicity import benjamini_yekutieli
from shared.stats.estimate import check_alpha

LogEs = Sequence[float]
"""One log e-value per comparison of the family; a comparison without data has 0."""

SMALL = 1e-2
LARGE = 40.0


def bonferroni_on_suprema(log_suprema: LogEs, alpha: float) -> list[bool]:
    """Flag comparisons whose e-value has ever reached the number of comparisons over alpha.

    The one for alarms: any false flag, ever, has a probability of at most alpha, whatever the
    dependence and however often anyone looks (Ville's inequality).
    """
    check_alpha(alpha)
    return [value >= log(len(log_suprema) / alpha) for value in log_suprema]


def e_bh(log_es: LogEs, alpha: float) -> list[bool]:
    """Flag by Benjamini and Hochberg's procedure on e-values.

    For the view at one moment, with e-values *of that moment*: the false discovery rate is at
    most alpha under any dependence. Running suprema are no e-values: adjust them first
    (`log_adjusted`). The union of what is flagged over many looks has no such bound.

    References
    ----------
    Wang and Ramdas (2022), False discovery rate control with e-values.
    """
    check_alpha(alpha)
    ordered, k = sorted(log_es, reverse=True), len(log_es)
    largest = max(
        (rank for rank in range(1, k + 1) if ordered[rank - 1] >= log(k / (alpha * rank))),
        default=0,
    )
    return [largest > 0 and value >= ordered[largest - 1] for value in log_es]


def log_adjusted(log_supremum: float) -> float:
    """Return the log e-value that a running supremum of an e-process is worth.

    (s - 1 - ln s) / (ln s)^2: what is paid for having looked for the best moment.

    Parameters
    ----------
    log_supremum
        At least 0: an e-process starts at 1.

    References
    ----------
    Shafer et al. (2011), Test martingales, Bayes factors and p-values; Tavyrikov, Goeman and
    de Heide (2025), Carefree multiple testing with e-processes.
    """
    x = log_supremum
    if not x >= 0:
        raise ValueError(f"a running supremum is at least 1, its logarithm at least 0, not {x:g}")
    if x < SMALL:  # the quotient of two small numbers, as its series
        return log(0.5 + x * (1 / 6 + x * (1 / 24 + x * (1 / 120 + x / 720))))
    if x > LARGE:  # what exp would overflow on
        return x - 2 * log(x)
    return log(expm1(x) - x) - 2 * log(x)


def e_bh_on_suprema(log_suprema: LogEs, alpha: float) -> list[bool]:
    """Flag for ever with a false discovery rate of at most alpha: e-BH on adjusted suprema."""
    return e_bh([log_adjusted(value) for value in log_suprema], alpha)


def by_on_suprema(log_suprema: LogEs, alpha: float) -> list[bool]:
    """Flag for ever with a false discovery rate of at most alpha.

    Benjamini and Yekutieli's procedure on 1 / supremum, which is a p-value at every moment.
    """
    check_alpha(alpha)
    adjusted = benjamini_yekutieli([anytime_p(value) for value in log_suprema])
    return [p is not None and p <= alpha for p in adjusted]


def anytime_p(log_supremum: float) -> float:
    """Return the p-value, valid at every moment, of a running supremum: at most 1."""
    return exp(-log_supremum) if log_supremum > 0 else 1.0
