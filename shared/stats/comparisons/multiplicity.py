"""Correction of a declared family of comparisons."""

from collections.abc import Callable, Sequence
from itertools import accumulate
from math import isnan

PValues = Sequence[float | None]
"""One p-value per comparison of the family; None (or NaN) where there is none."""


def bonferroni(p_values: PValues) -> list[float | None]:
    """Return p times the number of comparisons, at most 1, in the order given.

    Controls the family-wise error rate under any dependence. None stays None and is not counted.

    References
    ----------
    Dunn (1961), Multiple comparisons among means.
    """
    return _spread(p_values, lambda ordered: [min(1.0, p * len(ordered)) for p in ordered])


def holm(p_values: PValues) -> list[float | None]:
    """Return Holm's adjusted p-values in the order given; None stays None and is not counted.

    Controls the family-wise error rate under any dependence.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure.
    """

    def stepped(ordered: list[float]) -> list[float]:
        left = range(len(ordered), 0, -1)
        return list(accumulate((min(1.0, p * m) for p, m in zip(ordered, left, strict=True)), max))

    return _spread(p_values, stepped)


def benjamini_hochberg(p_values: PValues) -> list[float | None]:
    """Return Benjamini and Hochberg's adjusted p-values in the order given; None stays None.

    Controls the false discovery rate where the tests are independent or positively dependent
    (PRDS); pairwise differences among the same groups are not always that.

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate.
    """
    return _spread(p_values, lambda ordered: _stepped_up(ordered, 1.0))


def benjamini_yekutieli(p_values: PValues) -> list[float | None]:
    """Return Benjamini and Yekutieli's adjusted p-values in the order given; None stays None.

    Controls the false discovery rate under any dependence; larger than Benjamini and Hochberg's
    by the factor 1 + 1/2 + ... + 1/m.

    References
    ----------
    Benjamini and Yekutieli (2001), The control of the false discovery rate under dependency.
    """

    def stepped(ordered: list[float]) -> list[float]:
        return _stepped_up(ordered, sum(1 / rank for rank in range(1, len(ordered) + 1)))

    return _spread(p_values, stepped)


CORRECTIONS: dict[str, Callable[[PValues], list[float | None]]] = {
    "holm": holm,
    "bh": benjamini_hochberg,
    "by": benjamini_yekutieli,
    "bonferroni": bonferroni,
}


def adjust(p_values: PValues, correction: str) -> list[float | None]:
    """Return the adjusted p-values of a family, by the name of the correction.

    Parameters
    ----------
    p_values
        In [0, 1]; None and NaN stay None and are not counted as members of the family.
    correction
        holm, bh, by or bonferroni.

    Raises
    ------
    ValueError
        For an unknown correction, or a p-value outside [0, 1].
    """
    if correction not in CORRECTIONS:
        known = ", ".join(CORRECTIONS)
        raise ValueError(f"there is no correction called {correction!r}: choose one of {known}")
    return CORRECTIONS[correction](p_values)


def _spread(
    p_values: PValues, adjusted: Callable[[list[float]], list[float]]
) -> list[float | None]:
    """Adjust the present p-values in ascending order; return them at their places."""
    present = sorted((p, i) for i, p in enumerate(p_values) if p is not None and not isnan(p))
    if outside := [p for p, _ in present if not 0 <= p <= 1]:
        raise ValueError(f"a p-value lies between 0 and 1, not at {outside[0]:g}")
    result: list[float | None] = [None] * len(p_values)
    for (_, index), value in zip(present, adjusted([p for p, _ in present]), strict=True):
        result[index] = value
    return result


def _stepped_up(ordered: list[float], penalty: float) -> list[float]:
    raised = [min(1.0, p * penalty * len(ordered) / rank) for rank, p in enumerate(ordered, 1)]
    return list(accumulate(raised[::-1], min))[::-1]
