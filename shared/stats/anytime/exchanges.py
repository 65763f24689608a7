"""E-values of exchanged labels: whether twins are treated differently, in one comparison or any."""

from functools import lru_cache
from itertools import permutations
from math import gcd

import numpy as np

from biaswatch.shared.stats.anytime.bets import both_ways, log_mean_exp
from biaswatch.shared.stats.arrays import Floats, Ints

EXCHANGE_STAKES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""Bets on a difference, in its inverse units; any size is safe."""
MAX_FULLY_EXCHANGED = 4
"""Labels of a set up to which all permutations are averaged."""


def exchange_log_factors(scores: Floats) -> Floats:
    """Return log(exp(score) / mean of exp(score) over the exchanges of the set's labels).

    The mean of the factor over the exchanges is 1, so that it is an e-value against the sharp null
    (no label changes any answer) whatever the spread and the skewness of the answers. A product
    over disjoint sets is an e-process if each bet depends on earlier sets alone.

    Parameters
    ----------
    scores
        [..., exchanges]: bet times difference under every exchange; the first is the observed one.
        The exchanges form a group, such as `exchange_group` returns.

    Returns
    -------
    Floats
        [...]; at most the logarithm of the number of exchanges.

    References
    ----------
    Fisher (1935), The design of experiments; Ramdas, Grünwald, Vovk and Shafer (2023),
    Game-theoretic statistics and safe anytime-valid inference.

    Examples
    --------
    >>> twins = np.array([[0.4, -0.4]])  # two groups: the label flips the sign
    >>> exchange_log_factors(2 * twins).round(3)
    array([0.509])
    """
    return np.asarray(scores[..., 0] - log_mean_exp(scores), dtype=np.float64)


def log_wealth_of_differences(
    differences: Floats, stakes: tuple[float, ...] = EXCHANGE_STAKES
) -> Floats:
    """Return [bets]: the log wealth of each bet on the differences of sets.

    Parameters
    ----------
    differences
        [sets, exchanges], the observed one first: of two groups, the difference and its opposite.

    Examples
    --------
    >>> wealth = log_wealth_of_differences(np.array([[1.0, -1.0]] * 6))
    >>> bool(wealth.max() <= 6 * np.log(2))
    True
    """
    bets = both_ways(stakes)[:, None, None]
    return np.asarray(exchange_log_factors(bets * differences).sum(axis=1), dtype=np.float64)


@lru_cache
def exchange_group(labels: int) -> Ints:
    """Return [exchanges, labels]: permutations that form a group, the identity first.

    All permutations of up to four labels; of more, the maps i -> a i + b (mod labels) with a prime
    to the number of labels. Averages over a subgroup are as valid as those over all permutations.

    Examples
    --------
    >>> exchange_group(2).tolist()
    [[0, 1], [1, 0]]
    >>> exchange_group(8).shape
    (32, 8)
    """
    if labels <= MAX_FULLY_EXCHANGED:
        return np.array(list(permutations(range(labels))), dtype=np.int64).reshape(-1, labels)
    places = np.arange(labels)
    factors = [factor for factor in range(1, labels) if gcd(factor, labels) == 1]
    rows = [(factor * places + shift) % labels for factor in factors for shift in range(labels)]
    return np.array(rows, dtype=np.int64)


def vector_scores(weights: Floats, answers: Floats, exchanges: Ints) -> Floats:
    """Return [bets, exchanges]: weighted sums of one set's answers under exchanges of labels.

    One exchange moves all features of an answer together.

    Parameters
    ----------
    weights
        [bets, labels, features]: the bet on each label's answer.
    answers
        [labels, features]
    exchanges
        [exchanges, labels]
    """
    return np.asarray(np.einsum("blf,elf->be", weights, answers[exchanges]), dtype=np.float64)
