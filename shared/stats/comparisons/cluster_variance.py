"""The variance of a gap over the clusters of several random factors, and its degrees of freedom."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from biaswatch.shared.stats.arrays import Bools, Indices
from biaswatch.shared.stats.samples import Vector


def distinct(codes: Indices) -> Indices:
    """Return codes from 0; each one below 0 becomes a value of its own."""
    own = codes < 0
    if own.any():
        codes = np.where(own, codes.max(initial=-1) + 1 + np.arange(len(codes)), codes)
    return np.asarray(np.unique(codes, return_inverse=True)[1], dtype=np.intp).reshape(-1)


def joined(codes: Sequence[Indices]) -> Indices:
    """Return one code for each combination of values."""
    joined = codes[0]
    for code in codes[1:]:
        joined = distinct(joined * (int(code.max()) + 1) + code)
    return joined


def total_variance(
    influence: Vector, shares: Vector, of_a: Bools, codes: list[Indices], single: list[float]
) -> float:
    """Return the variance over the clusters of all factors, not below that of any single one."""
    total = sum(single)
    for size in range(2, len(codes) + 1):
        sign = 1.0 if size % 2 else -1.0
        for subset in combinations(codes, size):
            parts, _ = clustered(influence, shares, of_a, joined(subset))
            total += sign * float(parts.sum())
    return float(max(total, *single))


def clustered(
    influence: Vector, shares: Vector, of_a: Bools, code: Indices
) -> tuple[Vector, Vector]:
    """Return the variance by one factor, and its degrees of freedom.

    Both are for clusters with answers of a and b, of a alone, and of b alone. With effects u of
    the clusters and weights w of sum 1, the squared residual of u has the expectation 1 - 2 w +
    sum(w^2), which it is divided by: k / (k - 1) for k equal weights.
    """
    squares = np.square(np.bincount(code, weights=influence))
    in_a = np.bincount(code[of_a], minlength=len(squares)) > 0
    in_b = np.bincount(code[~of_a], minlength=len(squares)) > 0
    weights = np.where(in_a, np.bincount(code, shares * of_a), np.bincount(code, shares))
    parts = [
        _class_variance(squares[cluster], np.abs(weights[cluster]))
        for cluster in (in_a & in_b, in_a & ~in_b, ~in_a & in_b)
        if cluster.any()
    ]
    variances, dofs = zip(*parts, strict=True)
    return np.array(variances), np.array(dofs)


def _class_variance(squares: Vector, weights: Vector) -> tuple[float, float]:
    """Return the variance of the clusters of one class, and its degrees (Satterthwaite)."""
    if len(squares) == 1:
        return float(squares[0]), 1.0
    w = weights / weights.sum()
    total = float(w @ w)
    expected = 1 - 2 * w + total
    a = w * w / expected
    a0, a1, a2 = float(a.sum()), float(a @ w), float(a @ (w * w))
    trace = float((a * a) @ (expected**2 - (total - 2 * w) ** 2))
    trace += total**2 * a0**2 + 2 * a2 * a0 - 4 * total * a1 * a0 + 2 * a1**2
    return float((squares / expected).sum()), total**2 / trace


def effective_dof(variances: Vector, dofs: Vector) -> float:
    """Return the degrees of freedom of a sum of variances (Welch and Satterthwaite)."""
    return float(variances.sum() ** 2 / max(float((variances**2 / dofs).sum()), 1e-300))
