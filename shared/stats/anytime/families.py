"""Families of e-values: which comparisons may be flagged at one look."""

from collections.abc import Sequence
from math import log

from shared.stats.estimate import check_alpha

LogEs = Sequence[float]
"""One log e-value per comparison of the family; a comparison without data has 0."""


def e_bh(log_es: LogEs, alpha: float) -> list[bool]:
    """Flag by Benjamini and Hochberg's procedure on e-values.

    For the view at one moment, with e-values *of that moment*: the false discovery rate is at
    most alpha under any dependence. Running suprema are not e-values, and the union of what is
    flagged over many looks has no such bound.

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
