"""Correction of a declared family of comparisons for multiplicity.

Plain Python, because the extractor, which corrects a family too, installs neither numpy nor
statsmodels, and importing statsmodels takes a second. The tests compare every correction with
statsmodels.
"""

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import isnan

PValues = Sequence[float | None]
"""One p-value per comparison of the family; None or NaN without a test."""


def adjust(p_values: PValues, correction: str) -> list[float | None]:
    """Return the adjusted p-values of a family, in the order given.

    Parameters
    ----------
    p_values
        In [0, 1]; None and NaN stay None and are not counted as members of the family.
    correction
        "holm" and "bonferroni" control the family-wise error rate under any dependence. "bh"
        controls the false discovery rate of independent or positively dependent tests (pairwise
        differences among the same groups are not always that), "by" under any dependence.

    Returns
    -------
    list
        Adjusted p-values in [0, 1].

    Raises
    ------
    ValueError
        For an unknown correction, or a p-value outside [0, 1].

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure; Dunn (1961), Multiple
    comparisons among means; Benjamini and Hochberg (1995), Controlling the false discovery rate;
    Benjamini and Yekutieli (2001), The control of the false discovery rate under dependency.

    Examples
    --------
    >>> adjust([0.01, None, 0.04], "holm")
    [0.02, None, 0.04]
    """
    if correction not in CORRECTIONS:
        names = ", ".join(CORRECTIONS)
        raise ValueError(f"there is no correction called {correction!r}: choose one of {names}")
    present = sorted((p, i) for i, p in enumerate(p_values) if p is not None and not isnan(p))
    if outside := [p for p, _ in present if not 0 <= p <= 1]:
        raise ValueError(f"a p-value lies between 0 and 1, not at {outside[0]:g}")
    adjusted: list[float | None] = [None] * len(p_values)
    values = CORRECTIONS[correction]([p for p, _ in present])
    for (_, index), value in zip(present, values, strict=True):
        adjusted[index] = value
    return adjusted


def holm(p_values: PValues) -> list[float | None]:
    """Return Holm's adjusted p-values, as `adjust` does."""
    return adjust(p_values, "holm")


def holm_of_families(families: Sequence[Sequence[float]]) -> list[list[float]]:
    """Return p-values corrected within each family, corrected over families by Holm's method.

    A p-value is multiplied by the number of families that still have a larger one.

    Parameters
    ----------
    families
        The p-values of each family, corrected so that each family errs in at most alpha.

    References
    ----------
    Holm (1979); Marcus, Peritz and Gabriel (1976), On closed testing procedures.

    Examples
    --------
    >>> holm_of_families([[0.01, 0.5], [0.02]])
    [[0.02, 0.5], [0.04]]
    """
    largest = [max(family, default=0.0) for family in families]
    adjusted = []
    for place, family in enumerate(families):
        rest = sorted((*largest[:place], *largest[place + 1 :]), reverse=True)
        steps = list(enumerate([1.0, *rest], 1))
        adjusted.append([min(1.0, max(n * min(p, limit) for n, limit in steps)) for p in family])
    return adjusted


def _bonferroni(ordered: list[float]) -> list[float]:
    return [min(1.0, p * len(ordered)) for p in ordered]


def _holm(ordered: list[float]) -> list[float]:
    left = range(len(ordered), 0, -1)
    return list(accumulate((min(1.0, p * m) for p, m in zip(ordered, left, strict=True)), max))


def _benjamini_hochberg(ordered: list[float], penalty: float = 1.0) -> list[float]:
    raised = [min(1.0, p * penalty * len(ordered) / rank) for rank, p in enumerate(ordered, 1)]
    return list(accumulate(raised[::-1], min))[::-1]


def _benjamini_yekutieli(ordered: list[float]) -> list[float]:
    return _benjamini_hochberg(ordered, sum(1 / rank for rank in range(1, len(ordered) + 1)))


CORRECTIONS: dict[str, Callable[[list[float]], list[float]]] = {
    "holm": _holm,
    "bh": _benjamini_hochberg,
    "by": _benjamini_yekutieli,
    "bonferroni": _bonferroni,
}
"""Adjusted p-values from p-values in ascending order, by the name of the correction."""
