"""Disparity of any statistic under random exchanges of the group labels."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.cells import (
    Codes,
    Columns,
    Floats,
    Integers,
    Measurements,
    Reason,
)
from biaswatch.shared.stats.groups.exchanges import (
    ANYWHERE,
    DomainMeans,
    LabelExchange,
    NullColumns,
    check_exchange,
    exchange_units,
    exchanged_rows,
)
from biaswatch.shared.stats.groups.registry import SelectionRate
from biaswatch.shared.stats.groups.spreads import (
    MEAN_RTOL,
    NULL_METRICS,
    TIE_RTOL,
    against_null,
    spreads,
)
from biaswatch.shared.stats.groups.summary import Mean, Statistic, summarise

MIN_EXCHANGES = 199
"""Exchanges for statistics that are recomputed after each one, however large the table is."""
MAX_SUMMARISED_VALUES = 1 << 23
"""Beyond the minimum, exchanges stop when this many values have been summarised."""
MAX_BLOCK_EXCHANGES = 50
MAX_BLOCK_VALUES = 1 << 20
"""Values of exchanges that are summarised together, unless a single exchange has more."""
Progress = Callable[[int, int], None]
"""Takes the number of exchanges done, and the number of all."""


@dataclass(frozen=True)
class DisparityNull:
    """Disparities under exchanged labels; each nan has its reason at the same place."""

    metrics: tuple[str, ...]
    statistics: tuple[str, ...]
    permutations: tuple[int, ...]
    """[statistics]: the number of exchanges."""
    null_median: Floats
    """[metrics, domains, statistics, features]: the median over the exchanges."""
    p_values: Floats
    """The same shape: towards more disparity."""
    reasons: Codes
    """The same shape."""

    @classmethod
    def empty(
        cls, table: Measurements, statistics: Sequence[Statistic], domains: int, permutations: int
    ) -> "DisparityNull":
        """Return a result without any number yet."""
        shape = (len(NULL_METRICS), domains, len(statistics), len(table.features))
        return cls(
            NULL_METRICS,
            tuple(statistic.name for statistic in statistics),
            tuple(
                _exchanges(statistic, statistics, table, permutations) for statistic in statistics
            ),
            np.full(shape, np.nan),
            np.full(shape, np.nan),
            np.full(shape, Reason.NO_GROUPS, dtype=np.int8),
        )

    def save(self, domain: int, statistics: int | list[int], columns: NullColumns) -> None:
        """Write the columns of one domain and some statistics."""
        self.null_median[:, domain, statistics] = columns[0]
        self.p_values[:, domain, statistics] = columns[1]
        self.reasons[:, domain, statistics] = columns[2]

    def save_means(
        self,
        statistic: int,
        means: Measurements,
        strata: NDArray[np.integer],
        domain_of: NDArray[np.intp],
        permutations: int,
        rng: np.random.Generator,
    ) -> None:
        """Exchange the labels of unit means within each domain, and write the columns."""
        for domain in range(self.p_values.shape[1]):
            rows = np.flatnonzero(domain_of[means.codes] == domain)
            if len(rows):
                groups = np.flatnonzero(domain_of == domain)
                null = DomainMeans(means, groups, rows, strata).null(permutations, rng)
                self.save(domain, statistic, null)


def disparity_null(
    table: Measurements,
    statistics: Sequence[Statistic],
    domain_of: NDArray[np.intp],
    domains: Sequence[str],
    rng: np.random.Generator,
    permutations: int = 1000,
    sets: NDArray[np.integer] | None = None,
    units: NDArray[np.integer] | None = None,
    ddof: int = 0,
    progress: Progress = lambda done, total: None,
) -> DisparityNull:
    """Return the disparity of each statistic under random exchanges of the group labels.

    Labels move as `exchange_units` says. Means and selection rates are over units, each the mean of
    its rows, and take all `permutations`. Any other statistic is recomputed from the rows of each
    group after whole units have moved; on large tables that takes fewer exchanges, at least 199.
    p = (b + 1) / (m + 1), b of m exchanges reaching the observed value: valid at any sample size
    where labels are exchangeable. An exchange whose metric is undefined counts as reaching it.
    Missing values, and a baseline, move with their row.

    Parameters
    ----------
    table
        One row per response.
    statistics
        As `summarise` takes them.
    domain_of
        [groups]: the domain of each group, an index into `domains`.
    rng
        Draws the exchanges.
    permutations
        m, at least 1; no p-value is below 1 / (m + 1).
    sets
        [rows]: codes of counterfactual sets, whose rows differ in their group alone, or of families
        of prompts; below 0 for none.
    units
        [rows]: codes of units; rows of one unit and group move together.
    ddof
        As `summarise` takes it.
    progress
        Called after each block of recomputed statistics.

    Raises
    ------
    ValueError
        For fewer than one permutation, a group without a domain, codes of another length, or rows
        of one unit in different sets.

    References
    ----------
    Phipson and Smyth (2010), Permutation p-values should never be zero.
    """
    check_exchange(table, domain_of, domains, permutations, (sets, units))
    null = DisparityNull.empty(table, statistics, len(domains), permutations)
    recomputed = []
    for place, statistic in enumerate(statistics):
        averaged = _averaged(statistic, table)
        if averaged is None:
            recomputed.append(place)
            continue
        rows_of = exchanged_rows(replace(table, values=averaged), sets, units)
        del averaged  # each copy of a million rows counts
        null.save_means(place, *rows_of, domain_of, permutations, rng)
        del rows_of
    if recomputed:
        chosen = [statistics[place] for place in recomputed]
        observed = summarise(table, chosen, ddof).values
        parts = {
            domain: _AnyStatistic(table, np.flatnonzero(domain_of == domain), observed, sets, units)
            for domain in np.unique(domain_of[table.codes]).tolist()
        }
        times = null.permutations[recomputed[0]]
        _exchange(table, chosen, list(parts.values()), rng, times, ddof, progress)
        for domain, part in parts.items():
            null.save(domain, recomputed, part.null())
    return null


def _averaged(statistic: Statistic, table: Measurements) -> Floats | None:
    """Return the values whose mean the statistic is, or None."""
    if isinstance(statistic, Mean):
        return table.values
    return statistic.selected(table.values) if isinstance(statistic, SelectionRate) else None


def _exchanges(
    statistic: Statistic, statistics: Sequence[Statistic], table: Measurements, permutations: int
) -> int:
    if isinstance(statistic, Mean | SelectionRate):
        return permutations
    recomputed = sum(not isinstance(other, Mean | SelectionRate) for other in statistics)
    affordable = MAX_SUMMARISED_VALUES // max(table.values.size * recomputed, 1)
    return min(permutations, max(affordable, MIN_EXCHANGES))


class _AnyStatistic:
    """Groups of one domain whose statistics are recomputed after each exchange."""

    def __init__(
        self,
        table: Measurements,
        groups: Integers,
        observed: Floats,
        sets: NDArray[np.integer] | None,
        units: NDArray[np.integer] | None,
    ) -> None:
        self.groups = groups
        self.rows = np.flatnonzero(np.isin(table.codes, groups))
        labels = np.searchsorted(groups, table.codes[self.rows])
        strata = np.full(len(table.codes), ANYWHERE) if sets is None else np.asarray(sets)
        own = None if units is None else units[self.rows]
        self.units = exchange_units(labels, strata[self.rows], own)
        self.exchange = LabelExchange.within(self.units.strata, self.units.labels)
        values = observed[:, groups]
        count = np.count_nonzero(~np.isnan(values), axis=1)
        self.centre = np.nansum(values, axis=1) / np.maximum(count, 1)
        self.values = values - self.centre[:, None]
        largest = np.nan_to_num(np.fmax.reduce(np.abs(self.values), axis=1))
        self.resolution = np.maximum(TIE_RTOL * largest, MEAN_RTOL * np.abs(self.centre))
        self.spreads: list[Floats] = []

    def codes(self, times: int, rng: np.random.Generator) -> Integers:
        """Return [times, rows]: the group of each row after each exchange."""
        places = self.exchange.draw(times, rng)
        labels = np.empty(places.shape, dtype=np.intp)
        np.put_along_axis(labels, places.astype(np.intp), self.units.labels[None], axis=1)
        return np.asarray(self.groups[labels[:, self.units.of_row]])

    def add(self, values: Floats) -> None:
        """Add statistics after exchanges: [exchanges, statistics, all groups, features]."""
        own = values[:, :, self.groups] - self.centre[:, None]
        times, statistics, groups, features = own.shape
        tables = (np.tile(array, (times, 1)) for array in (self.centre, self.resolution))
        metrics = spreads(own.reshape(-1, groups, features), *tables)
        self.spreads.append(metrics.reshape(-1, times, statistics, features))

    def null(self) -> NullColumns:
        """Return [metrics, statistics, features] arrays."""
        null = np.concatenate(self.spreads, axis=1)
        shape = (len(NULL_METRICS), *self.centre.shape)
        median, p_values, reasons = against_null(
            self.values.transpose(1, 0, 2).reshape(len(self.groups), -1),
            self.centre.ravel(),
            self.resolution.ravel(),
            null.reshape(*null.shape[:2], -1),
        )
        return median.reshape(shape), p_values.reshape(shape), reasons.reshape(shape)


def _exchange(
    table: Measurements,
    statistics: Sequence[Statistic],
    domains: Sequence[_AnyStatistic],
    rng: np.random.Generator,
    times: int,
    ddof: int,
    progress: Progress,
) -> None:
    """Recompute the statistics of every group after each exchange in all domains."""
    block = max(1, min(MAX_BLOCK_EXCHANGES, MAX_BLOCK_VALUES // max(table.values.size, 1)))
    columns = Columns(table.values)
    for start in range(0, times, block):
        size = min(block, times - start)
        codes = np.repeat(table.codes[None], size, axis=0)
        for domain in domains:
            codes[:, domain.rows] = domain.codes(size, rng)
        values = summarise(_side_by_side(table, codes), statistics, ddof, columns).values
        shape = (len(statistics), size, len(table.groups), len(table.features))
        for domain in domains:
            domain.add(values.reshape(shape).swapaxes(0, 1))
        progress(start + size, times)


def _side_by_side(table: Measurements, codes: Integers) -> Measurements:
    """Return one table that holds a copy of the rows and groups for each row of codes."""
    times, groups = len(codes), len(table.groups)
    return Measurements(
        np.tile(table.values, (times, 1)),
        (codes + groups * np.arange(times)[:, None]).ravel(),
        tuple(map(str, range(times * groups))),
        table.features,
        None if table.baseline is None else np.tile(table.baseline, (times, 1)),
        table.baseline_name,
    )
