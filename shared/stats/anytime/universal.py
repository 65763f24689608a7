"""Universal inference on the rates of k groups: two whole numbers per group, any order."""

from collections.abc import Sequence

import numpy as np
from scipy.special import betaln, xlogy


def log_e_of_rates(selected: Sequence[int], n: Sequence[int]) -> float:
    """Return the log e-value against all groups having the same selection rate.

    Each group's likelihood mixed by Jeffreys' prior, over the highest likelihood of one common
    rate. Simple, and slow: three to four times the units of the fixed-size test.

    References
    ----------
    Wasserman, Ramdas and Balakrishnan (2020), Universal inference.
    """
    cases, sizes = np.asarray(selected, dtype=np.float64), np.asarray(n, dtype=np.float64)
    if cases.shape != sizes.shape or (cases < 0).any() or (cases > sizes).any():
        raise ValueError("each group has from 0 to n selected")
    mixed = betaln(0.5 + cases, 0.5 + sizes - cases) - betaln(0.5, 0.5)
    total, everyone = cases.sum(), sizes.sum()
    rate = total / everyone if everyone else 0.5
    pooled = xlogy(total, rate) + xlogy(everyone - total, 1 - rate)
    return float(mixed.sum() - pooled)
