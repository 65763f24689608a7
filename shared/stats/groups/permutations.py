"""Permutation tests of gaps and disparities over all groups: labels exchanged at random."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.cells import (
    Codes,
    Floats,
    Reason,
    Table,
    check_domains,
    with_reasons,
)
from biaswatch.shared.stats.groups.exchanges import (
    ANYWHERE,
    DomainSample,
    PermutedDomain,
    permuted,
    unit_means,
)
from biaswatch.shared.stats.groups.spreads import METRICS, against_null


@dataclass(frozen=True)
class PermutationNull:
    """What `permute_labels` found; nan has its reason at the same place."""

    groups: tuple[str, ...]
    domains: tuple[str, ...]
    features: tuple[str, ...]
    metrics: tuple[str, ...]
    permutations: int
    deviation: Floats
    """[groups, features]: a group's mean minus the mean of the rest of its domain."""
    deviation_p: Floats
    """[groups, features]: two-sided."""
    deviation_reasons: Codes
    observed: Floats
    """[metrics, domains, features]: over the means of the domain's groups."""
    null_median: Floats
    """[metrics, domains, features]: the median under the null."""
    p_values: Floats
    """[metrics, domains, features]: towards more disparity."""
    reasons: Codes


def permute_labels(
    table: Table,
    domain_of: NDArray[np.intp],
    domains: Sequence[str],
    rng: np.random.Generator,
    permutations: int = 1000,
    sets: NDArray[np.integer] | None = None,
    units: NDArray[np.integer] | None = None,
) -> PermutationNull:
    """Compare gaps between group means with those under random exchanges of the group labels.

    Labels are exchanged within the sets that groups share, else within the domain; a set that lies
    in one group moves as one (`exchange_units`). Under the null that labels are exchangeable there,
    each p is valid at any sample size: it is (b + 1) / (m + 1), where b of m exchanges reach the
    observed value. An exchange whose metric is undefined counts as reaching it. Missing values move
    with their row.

    Parameters
    ----------
    table
        One row per unit; its baseline is not used.
    domain_of
        [groups]: the domain of each group, an index into `domains`.
    permutations
        m, at least 1; no p is below 1 / (m + 1).
    sets
        [rows]: codes of counterfactual sets, whose rows differ in their group alone, or of families
        of prompts; below 0 for none.
    units
        [rows]: codes of units. Rows of one unit and group are replaced by their mean, and so keep
        together.

    Raises
    ------
    ValueError
        For fewer than one permutation, a group without a domain, or codes of another length.

    References
    ----------
    Phipson and Smyth (2010), Permutation p-values should never be zero.
    """
    if permutations < 1:
        raise ValueError(f"a permutation test needs at least one permutation, not {permutations}")
    check_domains(table.groups, domain_of, domains)
    if any(of is not None and len(of) != len(table.codes) for of in (sets, units)):
        raise ValueError(f"there are {len(table.codes)} rows, but sets or units for another number")
    strata = np.full(len(table.codes), ANYWHERE) if sets is None else sets
    if units is not None:
        table, strata = unit_means(table, units, strata)
    found = _blank(table, domains, permutations)
    for domain in range(len(domains)):
        groups = np.flatnonzero(domain_of == domain)
        rows = np.flatnonzero(domain_of[table.codes] == domain)
        if len(rows):
            sample = DomainSample(table, groups, rows, strata)
            null = permuted(sample, permutations, rng)
            deviation, p_values, reasons = _deviations(sample, null, permutations)
            found.deviation[groups], found.deviation_p[groups] = deviation, p_values
            found.deviation_reasons[groups] = reasons
            observed, median, p_values, reasons = _metrics(sample, null)
            found.observed[:, domain], found.null_median[:, domain] = observed, median
            found.p_values[:, domain], found.reasons[:, domain] = p_values, reasons
    return found


def _blank(table: Table, domains: Sequence[str], permutations: int) -> PermutationNull:
    """Return a result without any number yet."""
    cells = (len(table.groups), len(table.features))
    inner = (len(METRICS), len(domains), len(table.features))
    return PermutationNull(
        groups=table.groups,
        domains=tuple(domains),
        features=table.features,
        metrics=METRICS,
        permutations=permutations,
        deviation=np.full(cells, np.nan),
        deviation_p=np.full(cells, np.nan),
        deviation_reasons=np.full(cells, Reason.NO_VALUES, dtype=np.int8),
        observed=np.full(inner, np.nan),
        null_median=np.full(inner, np.nan),
        p_values=np.full(inner, np.nan),
        reasons=np.full(inner, Reason.NO_GROUPS, dtype=np.int8),
    )


def _deviations(
    sample: DomainSample, found: PermutedDomain, times: int
) -> tuple[Floats, Floats, Codes]:
    """Return each group's deviation from the rest, its p and why there is none."""
    first_of = [
        (np.isnan(found.means), Reason.NO_VALUES),
        ((sample.total == found.counts), Reason.ONE_GROUP),
        (np.broadcast_to(sample.too_large, found.means.shape), Reason.NOT_FINITE),
    ]
    deviation, _ = with_reasons(found.deviation, first_of=first_of)
    return deviation, *with_reasons((found.beyond + 1) / (times + 1), first_of=first_of)


def _metrics(sample: DomainSample, found: PermutedDomain) -> tuple[Floats, Floats, Floats, Codes]:
    """Return each metric, its median under the null, its p and why there is none."""
    observed, median, p_values, codes = against_null(
        found.means, sample.centre, sample.resolution, found.null
    )
    for each in (observed, median, p_values):
        each[:, sample.too_large] = np.nan
    codes[:, sample.too_large] = Reason.NOT_FINITE
    return observed, median, p_values, codes
