"""Missing answers by group, and a test that every group misses the same share."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.relabelling import TIE_RTOL
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.tables.risks import wilson_limits

LEAST_EXPECTED = 5
"""Cochran's rule: below, the chi-square approximation is not relied on."""
RESAMPLES = 9999
_Counts = np.ndarray[tuple[int, ...], np.dtype[np.int64]]
_Statistics = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


@dataclass(frozen=True)
class GroupMissing:
    """Missing answers of one group."""

    missing: int
    total: int
    share: Estimate


@dataclass(frozen=True)
class Missingness:
    """Missing answers of every group, and the test that their share is the same in all."""

    groups: dict[str, GroupMissing]
    statistic: float | None
    """Pearson's chi-square, without Yates; also with an exact or permuted p-value."""
    p_value: float | None
    min_expected: float | None
    method: str
    reason: str | None = None


def missingness(
    groups: Mapping[str, tuple[int, int]],
    alpha: float,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Missingness:
    """Return each group's share of missing answers and test that the shares are equal.

    Parameters
    ----------
    groups
        Per group: the number of missing answers (refused, cut off, not parsed, failed), and of all.
        Count units where repeats of a prompt tend to go missing together: the test and the
        intervals take counts as independent.
    alpha
        1 minus the coverage of the Wilson intervals.
    rng, resamples
        For more than two groups with an expected count below 5: tables with the same margins are
        drawn and p is (b + 1) / (m + 1).

    Returns
    -------
    Missingness
        The test is chi-square where every expected count is at least 5, else Fisher's for two
        groups, else the permuted chi-square. Undefined where no or every answer is missing, or
        fewer than two groups have answers. Groups without any are listed and not tested.

    Raises
    ------
    ValueError
        Where a count is negative, or larger than the number of answers.

    References
    ----------
    Pearson (1900); Fisher (1935); Wilson (1927).
    """
    check_alpha(alpha)
    listed = {name: _share(name, *counts, alpha) for name, counts in groups.items()}
    counts = [(group.missing, group.total) for group in listed.values() if group.total]
    if reason := _no_test(counts):
        return Missingness(listed, None, None, None, "", reason)
    missing, total = np.array(sorted(counts), dtype=np.int64).T  # sorted: the order changes nothing
    statistic = float(_chi_square(missing[None], total)[0])
    rarer = min(missing.sum(), total.sum() - missing.sum())
    smallest = float(total.min() * rarer / total.sum())
    if smallest >= LEAST_EXPECTED:
        p_value = float(special.chdtrc(len(total) - 1, statistic))
        return Missingness(listed, statistic, p_value, smallest, "chi-square without Yates")
    if len(total) == 2:
        from scipy import stats  # slow to load

        test = stats.fisher_exact(np.column_stack([missing, total - missing]))
        return Missingness(listed, statistic, float(test.pvalue), smallest, "Fisher exact")
    drawn = rng.multivariate_hypergeometric(total, int(missing.sum()), size=resamples)
    beyond = int((_chi_square(drawn, total) >= statistic * (1 - TIE_RTOL)).sum())
    p_value = (beyond + 1) / (resamples + 1)
    return Missingness(listed, statistic, p_value, smallest, "chi-square, random tables")


def _share(name: str, missing: int, total: int, alpha: float) -> GroupMissing:
    """Return a group's share of missing answers."""
    if not 0 <= missing <= total:
        raise ValueError(f"group {name!r} cannot miss {missing} of {total} answers")
    method = "Wilson"
    if not total:
        return GroupMissing(0, 0, undefined("the group was asked nothing", method=method))
    share = Estimate(missing / total, *wilson_limits(missing, total, alpha), method)
    return GroupMissing(missing, total, share)


def _no_test(counts: list[tuple[int, int]]) -> str | None:
    if len(counts) < 2:
        return "fewer than two groups were asked"
    if not any(missing for missing, _ in counts):
        return "nothing is missing"
    if all(missing == total for missing, total in counts):
        return "every answer is missing"
    return None


def _chi_square(missing: _Counts, total: _Counts) -> _Statistics:
    """Return Pearson's statistic of each row of missing counts; both columns in one formula."""
    share = missing.sum(axis=1, keepdims=True) / total.sum()
    return np.asarray(((missing - total * share) ** 2 / (total * share * (1 - share))).sum(axis=1))
