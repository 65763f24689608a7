"""Missing answers within sets: a test that the group does not decide which twin is missing."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from biaswatch.shared.analysis.findings.observations import Whole
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.missingness import Missingness
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p

MIN_SETS = 2


def within_sets(test: Missingness, missing: Sequence[Floats], sets: Sequence[Whole]) -> Missingness:
    """Return the test of missing answers by sign flips within the sets that groups share.

    The difference of two groups' missing shares within a set is as likely as its opposite where
    the label does not decide what is missing. Twins miss answers together, so that a test that
    takes them as independent is too large or finds too little. Of three groups or more the p-value
    is the smallest of all pairs, corrected (Bonferroni).

    Parameters
    ----------
    test
        The test that takes prompts as independent; returned as it is where groups share no sets.
    missing
        By group, [prompts of the group]: 1 for a missing answer, 0 for any other.
    sets
        By group, the set of each of these prompts, -1 for none.
    """
    shares = [_by_set(*group) for group in zip(missing, sets, strict=True)]
    differences = [_differences(a, b) for a, b in combinations(shares, 2)]
    compared = [pair for pair in differences if len(pair) >= MIN_SETS]
    if test.p_value is None or not compared or len(compared) < len(differences):
        return test
    p_values = [1.0 if (p := sign_flip_p(pair)) is None else p for pair in compared]
    one_missing = sum(int(np.count_nonzero(pair)) for pair in compared)
    of = sum(map(len, compared))
    method = f"sign flips within sets; in {one_missing} of {of} pairs of twins one is missing"
    return replace(test, p_value=min(1.0, min(p_values) * len(compared)), method=method)


def _by_set(missing: Floats, sets: Whole) -> tuple[Whole, Floats]:
    """Return the sets of a group, sorted, and the share of missing answers in each."""
    has = sets >= 0
    names, place = np.unique(sets[has], return_inverse=True)
    counts = np.bincount(place, minlength=len(names))
    sums = np.bincount(place, weights=missing[has], minlength=len(names))
    return names, np.asarray(sums / np.maximum(counts, 1))


def _differences(a: tuple[Whole, Floats], b: tuple[Whole, Floats]) -> Floats:
    _, of_a, of_b = np.intersect1d(a[0], b[0], assume_unique=True, return_indices=True)
    return np.asarray(a[1][of_a] - b[1][of_b])
