"""Totals of answers by group, under exchanges of all labels within sets."""

from collections.abc import Iterator
from itertools import permutations

import numpy as np
from scipy import sparse

from biaswatch.shared.stats.arrays import Bools, Floats

ROUNDING_RTOL = 1e-12
"""Relative to the largest answer: smaller deviations are rounding."""
_BLOCK_VALUES = 2**20


def centred_sets(values: Floats) -> tuple[Floats, Bools]:
    """Return deviations from the mean of each set, 0 where missing, and where groups answered."""
    present = np.isfinite(values)
    counts = present.sum(axis=1, keepdims=True)
    means = np.where(present, values, 0.0).sum(axis=1, keepdims=True) / np.maximum(counts, 1)
    centred = np.where(present & (counts > 1), values - means, 0.0)
    answered: Bools = np.asarray(present.any(axis=2))
    used = answered.sum(axis=1) > 1
    centred, answered = centred[used], answered[used]
    rounding = ROUNDING_RTOL * np.abs(np.where(present, values, 0.0)).max(axis=(0, 1), initial=0.0)
    return np.where(np.abs(centred) <= rounding, 0.0, centred), answered


def all_totals(centred: Floats, answered: Bools, fixed: int) -> Floats:
    """Return [exchanges, groups, features]: totals under all exchanges, `fixed` sets left out."""
    totals: Floats = centred[:fixed].sum(axis=0)[None]
    for answers, pattern in zip(centred[fixed:], answered[fixed:], strict=True):
        members = np.flatnonzero(pattern)
        ways = np.array(list(permutations(members)))
        moved = np.zeros((len(ways), *answers.shape))
        moved[:, members] = answers[ways]
        totals = (totals[:, None] + moved[None]).reshape(-1, *answers.shape)
    return totals


def random_totals(
    centred: Floats, answered: Bools, rng: np.random.Generator, exchanges: int
) -> Iterator[Floats]:
    """Yield blocks [exchanges, groups, features] of totals under random exchanges."""
    groups = centred.shape[1]
    patterns, of_set = np.unique(answered, axis=0, return_inverse=True)
    size = max(1, _BLOCK_VALUES // max(1, centred.shape[1] * max(len(centred), centred.shape[2])))
    for start in range(0, exchanges, size):
        times = min(size, exchanges - start)
        totals = np.zeros((times, groups, centred.shape[2]))
        for place, pattern in enumerate(patterns):
            members = np.flatnonzero(pattern)
            answers = centred[of_set.reshape(-1) == place][:, members]
            totals[:, members] += _exchanged(answers, rng, times)
        yield totals


def _exchanged(answers: Floats, rng: np.random.Generator, times: int) -> Floats:
    """Return [times, groups, features]: totals of complete sets under random exchanges."""
    sets, groups, features = answers.shape
    places = np.argsort(rng.random((times, sets, groups)), axis=2)
    places += np.arange(sets)[:, None] * groups
    moved = np.moveaxis(places, 2, 0).reshape(groups * times, sets)
    flat = answers.reshape(sets * groups, features)
    ends = np.arange(0, moved.size + 1, max(sets, 1))
    one_hot = sparse.csr_array((np.ones(moved.size), moved.ravel(), ends), (len(moved), len(flat)))
    return np.asarray(one_hot @ flat).reshape(groups, times, features).transpose(1, 0, 2)
