"""Permutation tests of gaps and disparities over all groups: labels exchanged at random."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from shared.stats.groups.cells import Table, check_domains
from shared.stats.groups.exchanges import (
    GROWING,
    IN_UNITS,
    METRICS,
    TIES,
    DomainSample,
    PermutedDomain,
    permuted,
    spreads,
    unit_means,
    why_undefined,
)
from shared.stats.groups.reasons import Codes, Floats, Reason, with_reasons


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

    Labels are exchanged within the counterfactual set where sets are given, else within the domain.
    Under the null that labels are exchangeable there, each p is valid at any sample size: it is
    (b + 1) / (m + 1), where b of m exchanges reach the observed value. An exchange whose metric is
    undefined counts as reaching it. Missing values move with their row.

    Parameters
    ----------
    table
        One row per unit; its baseline is not used.
    domain_of
        [groups]: the domain of each group, an index into `domains`.
    permutations
        m, at least 1; no p is below 1 / (m + 1).
    sets
        [rows]: codes of counterfactual sets, whose rows differ in their group alone.
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
    strata = np.zeros(len(table.codes), dtype=np.intp) if sets is None else sets
    if units is not None:
        table, strata = unit_means(table, units, strata)
    found = _blank(table, domains, permutations)
    for domain in range(len(domains)):
        groups = np.flatnonzero(domain_of == domain)
        rows = np.flatnonzero(domain_of[table.codes] == domain)
        if len(rows):
            sample = DomainSample.of(table, groups, rows, strata)
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
    stuck = (np.full(deviation.shape, not sample.exchange.strata), Reason.NO_EXCHANGE)
    return deviation, *with_reasons((found.beyond + 1) / (times + 1), first_of=[*first_of, stuck])


def _metrics(sample: DomainSample, found: PermutedDomain) -> tuple[Floats, Floats, Floats, Codes]:
    """Return each metric, its median under the null, its p and why there is none."""
    observed = spreads(found.means[None], sample.centre, sample.resolution)[:, 0]
    codes = why_undefined(found.means, sample.centre, sample.resolution)
    rounding = np.where(IN_UNITS[:, None], sample.resolution, TIES)
    towards = np.where(GROWING, 1.0, -1.0)[:, None]
    # What is undefined is not short of the observed value either: it counts as reaching it.
    short = towards[:, None] * found.null < (towards * observed - rounding)[:, None]
    times = found.null.shape[1]
    p_values = (times - np.count_nonzero(short, axis=1) + 1) / (times + 1)
    codes[:, sample.too_large] = Reason.NOT_FINITE
    undefined = [(codes == reason, reason) for reason in Reason if reason != Reason.DEFINED]
    stuck = (np.full(codes.shape, not sample.exchange.strata), Reason.NO_EXCHANGE)
    defined = codes == Reason.DEFINED
    observed, median = (np.where(defined, x, np.nan) for x in (observed, _median(found.null)))
    return observed, median, *with_reasons(p_values, first_of=[*undefined, stuck])


def _median(null: Floats) -> Floats:
    """Return the median over the exchanges that have a value; nan where none has."""
    ordered = np.sort(null, axis=1)
    count = np.count_nonzero(~np.isnan(null), axis=1)[:, None]
    middles = ((count - 1) // 2, count // 2 - (count == 0))
    middle = [np.take_along_axis(ordered, np.maximum(at, 0), 1) for at in middles]
    return np.asarray(((middle[0] + middle[1]) / 2)[:, 0])
