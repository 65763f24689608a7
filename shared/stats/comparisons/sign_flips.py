"""Exact test of paired differences by flipping their signs.

Fisher's sharp null: the label changes nothing, so the two answers of a set could have been swapped.
The test needs neither a distribution nor a large sample, and no random numbers.
"""

from math import ceil, exp, sqrt

import numpy as np
from scipy import fft

from biaswatch.shared.stats.arrays import Ints
from biaswatch.shared.stats.samples import Vector

MAX_ENUMERATED_SETS = 24
"""Sets up to which all signs are enumerated, as two halves of at most 4,096 sums."""
TIE_RTOL = 1e-12
"""Relative to the sum of absolute differences: closer sums are equal."""
MAX_DIVISOR = 12
"""Largest divisor of the smallest difference that is tried as the step of a lattice."""
STEPS_PER_MEDIAN = 6
"""Steps to the median absolute difference where values are rounded to a lattice."""
TAIL_SDS = 9.0
"""Standard deviations beyond which the sum has less than 1e-17 of its distribution."""
MAX_COSINES = 2**18
"""Cosines computed for one test (about 3 ms)."""
MIN_FFT_P = 1e-12
"""P-value below which the transform has too few correct digits: a bound takes its place."""
_LEAST_COSINE = 1e-300


def sign_flip_p(differences: Vector) -> float | None:
    """Return the exact two-sided p-value of the mean of paired differences.

    The share of all sign patterns with a mean at least as far from 0 as the observed one. Up to 24
    nonzero differences are enumerated. More are counted on a lattice: whole numbers, or multiples
    of a step, by the product of the cosines that is the characteristic function of their sum. Other
    values are rounded to a lattice of at most 6 steps to their median; rounding treats opposite
    differences alike, so the test remains exact. Below 1e-12 the result is Hoeffding's upper bound.

    Parameters
    ----------
    differences
        [sets], finite: the answer of one twin minus that of the other, in any unit.

    Returns
    -------
    float or None
        In (0, 1], 1 where all differences are 0; None without sets.

    References
    ----------
    Fisher (1935), The Design of Experiments, section 21; Horowitz and Sahni (1974) for sums of two
    halves; Pagano and Tritchler (1983), On obtaining permutation distributions in polynomial time;
    Hoeffding (1963).

    Examples
    --------
    >>> sign_flip_p(np.array([1.0, 1.0, 1.0, 1.0, 1.0, 1.0]))
    0.03125
    """
    moved = differences[differences != 0]
    if not len(moved):
        return 1.0 if len(differences) else None
    if (moved > 0).all() or (moved < 0).all():
        return float(2.0 ** (1 - len(moved)))
    if len(moved) <= MAX_ENUMERATED_SETS:
        return _enumerated_p(moved)
    return _lattice_p(lattice_steps(moved))


def _enumerated_p(moved: Vector) -> float:
    slack = TIE_RTOL * float(np.abs(moved).sum())
    total = abs(float(moved.sum())) - slack
    if total <= 0:
        return 1.0
    half = len(moved) // 2
    left, right = _signed_sums(moved[:half]), np.sort(_signed_sums(moved[half:]))
    as_large = len(left) * len(right) - int(np.searchsorted(right, total - left).sum())
    return min(1.0, as_large / float(2 ** (len(moved) - 1)))


def _signed_sums(values: Vector) -> Vector:
    """Return the sums of the values under all patterns of signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def lattice_steps(moved: Vector) -> Ints:
    """Return nonzero differences as whole steps of their lattice, or of one they are rounded to."""
    smallest = float(np.abs(moved).min())
    for divisor in range(1, MAX_DIVISOR + 1):
        scaled = moved * (divisor / smallest)
        steps = np.rint(scaled)
        if np.abs(scaled - steps).max() <= 1e-9 * divisor and np.abs(steps).max() < MAX_COSINES:
            whole: Ints = np.asarray(steps, dtype=np.int64)
            whole //= np.gcd.reduce(np.abs(whole))
            if len(np.unique(np.abs(whole))) * TAIL_SDS * _norm(whole) <= MAX_COSINES:
                return whole
            break
    shares = moved / np.abs(moved).max()  # the squares of very large values would overflow
    finest = sqrt(TAIL_SDS * _norm(shares) / MAX_COSINES)
    step = max(float(np.median(np.abs(shares))) / STEPS_PER_MEDIAN, finest)
    return np.asarray(np.rint(shares / step), dtype=np.int64)


def _norm(values: Vector | Ints) -> float:
    return sqrt(float(np.square(values, dtype=np.float64).sum()))


def _lattice_p(steps: Ints) -> float:
    total, norm = abs(int(steps.sum())), _norm(steps)
    if not total:
        return 1.0
    bound = min(MIN_FFT_P, 2 * exp(-((total / norm) ** 2) / 2))
    top = min(int(np.abs(steps).sum()), ceil(TAIL_SDS * norm))
    if total > top:
        return bound
    tail = float(_sum_distribution(steps, top)[total : top + 1].sum())
    return min(1.0, 2 * tail) if 2 * tail > MIN_FFT_P else bound


def _sum_distribution(steps: Ints, top: int) -> Vector:
    """Return the distribution of the signed sum, modulo a length above twice `top`."""
    length = int(fft.next_fast_len(2 * top + 2, real=True))
    cosines = np.cos(2 * np.pi / length * np.arange(length))
    logs = np.log(np.maximum(np.abs(cosines), _LEAST_COSINE))
    frequencies = np.arange(length // 2 + 1)
    log_size, negative = np.zeros(len(frequencies)), np.zeros(len(frequencies), dtype=np.bool_)
    sizes, counts = np.unique(np.abs(steps), return_counts=True)
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        places = frequencies * size % length
        log_size += count * logs[places]
        if count % 2:
            negative ^= cosines[places] < 0
    characteristic = np.where(negative, -1.0, 1.0) * np.exp(log_size)
    return np.asarray(fft.irfft(characteristic, length))
