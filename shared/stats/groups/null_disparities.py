"""What chance alone gives for the disparity of any statistic: labels are exchanged at random."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.groups.cells import (
    Codes,
    Columns,
    Floats,
    Integers,
    Reason,
    Table,
    check_domains,
)
from biaswatch.shared.stats.groups.descriptive import Mean
from biaswatch.shared.stats.groups.exchanges import ANYWHERE, LabelExchange, exchange_units
from biaswatch.shared.stats.groups.permutations import permute_labels
from biaswatch.shared.stats.groups.registry import SelectionRate
from biaswatch.shared.stats.groups.spreads import METRICS, ROUNDING, TIES, against_null, spreads
from biaswatch.shared.stats.groups.summary import Statistic, summarise

LEAST_EXCHANGES = 199
"""For statistics that are computed anew after each exchange, however large the table is."""
MOST_VALUES = 1 << 23
"""Beyond the least number, exchanges go on until so many values have been summarised."""
AT_ONCE = 50
VALUES_AT_ONCE = 1 << 20
"""Exchanges that are summarised together hold at most so many values, or are one."""
Progress = Callable[[int, int], None]
"""Takes the number of exchanges that are done, and of all."""


@dataclass(frozen=True)
class DisparityNull:
    """What `disparity_null` found; nan has its reason at the same place."""

    metrics: tuple[str, ...]
    statistics: tuple[str, ...]
    permutations: tuple[int, ...]
    """[statistics]: how many exchanges there were."""
    null_median: Floats
    """[metrics, domains, statistics, features]: what half of the exchanges give at most."""
    p_values: Floats
    """The same shape: towards more disparity."""
    reasons: Codes
    """The same shape."""


def disparity_null(
    table: Table,
    statistics: Sequence[Statistic],
    domain_of: NDArray[np.intp],
    domains: Sequence[str],
    rng: np.random.Generator,
    permutations: int = 1000,
    sets: NDArray[np.integer] | None = None,
    units: NDArray[np.integer] | None = None,
    ddof: int = 0,
    progress: Progress = lambda done, of: None,
) -> DisparityNull:
    """Return, for each statistic, what its disparity is where labels are exchanged at random.

    Labels move as `exchange_units` says. Means and selection rates are over units, each the mean of
    its rows (`permute_labels`), and take all `permutations`. Any other statistic is computed anew
    from the rows of each group after whole units have moved; on large tables that takes fewer
    exchanges, at least 199. p = (b + 1) / (m + 1), b of m exchanges giving at least as much.

    Parameters
    ----------
    table, domain_of, domains, permutations, sets, units
        As `permute_labels` takes them; a baseline stays with its row.
    ddof
        As `summarise` takes it.

    Raises
    ------
    ValueError
        As `permute_labels` does.

    References
    ----------
    Phipson and Smyth (2010), Permutation p-values should never be zero.
    """
    check_domains(table.groups, domain_of, domains)
    shape = (len(METRICS), len(domains), len(statistics), len(table.features))
    found = DisparityNull(
        METRICS,
        tuple(each.name for each in statistics),
        tuple(_exchanges(each, statistics, table, permutations) for each in statistics),
        np.full(shape, np.nan),
        np.full(shape, np.nan),
        np.full(shape, Reason.NO_GROUPS, dtype=np.int8),
    )
    others = []
    for place, statistic in enumerate(statistics):
        values = _averaged(statistic, table)
        if values is None:
            others.append(place)
            continue
        of = replace(table, values=values)
        null = permute_labels(of, domain_of, domains, rng, permutations, sets, units)
        found.null_median[:, :, place] = null.null_median
        found.p_values[:, :, place], found.reasons[:, :, place] = null.p_values, null.reasons
    if others:
        again = [statistics[place] for place in others]
        observed = summarise(table, again, ddof).values
        parts = {
            domain: _DomainNull(table, np.flatnonzero(domain_of == domain), observed, sets, units)
            for domain in np.unique(domain_of[table.codes]).tolist()
        }
        times = found.permutations[others[0]]
        _exchange(table, again, list(parts.values()), rng, times, ddof, progress)
        for domain, part in parts.items():
            median, p_values, reasons = part.found()
            found.null_median[:, domain, others] = median
            found.p_values[:, domain, others], found.reasons[:, domain, others] = p_values, reasons
    return found


def _averaged(statistic: Statistic, table: Table) -> Floats | None:
    """Return what the statistic is the mean of, where it is one."""
    if isinstance(statistic, Mean):
        return table.values
    return statistic.selected(table.values) if isinstance(statistic, SelectionRate) else None


def _exchanges(
    statistic: Statistic, statistics: Sequence[Statistic], table: Table, permutations: int
) -> int:
    if isinstance(statistic, Mean | SelectionRate):
        return permutations
    others = sum(not isinstance(each, Mean | SelectionRate) for each in statistics)
    affordable = MOST_VALUES // max(table.values.size * others, 1)
    return min(permutations, max(affordable, LEAST_EXCHANGES))


class _DomainNull:
    """The groups of one domain: where labels may go, and the disparities they have led to."""

    def __init__(
        self,
        table: Table,
        groups: Integers,
        observed: Floats,
        sets: NDArray[np.integer] | None,
        units: NDArray[np.integer] | None,
    ) -> None:
        self.groups = groups
        self.rows = np.flatnonzero(np.isin(table.codes, groups))
        labels = np.searchsorted(groups, table.codes[self.rows])
        of = np.full(len(table.codes), ANYWHERE) if sets is None else np.asarray(sets)
        own = None if units is None else units[self.rows]
        self.units = exchange_units(labels, of[self.rows], own)
        self.exchange = LabelExchange.within(self.units.strata, self.units.labels)
        values = observed[:, groups]
        count = np.count_nonzero(~np.isnan(values), axis=1)
        self.centre = np.nansum(values, axis=1) / np.maximum(count, 1)
        self.values = values - self.centre[:, None]
        largest = np.nan_to_num(np.fmax.reduce(np.abs(self.values), axis=1))
        self.resolution = np.maximum(TIES * largest, ROUNDING * np.abs(self.centre))
        self.null: list[Floats] = []

    def codes(self, times: int, rng: np.random.Generator) -> Integers:
        """Return [times, rows]: the group of each row after so many exchanges."""
        places = self.exchange.draw(times, rng)
        labels = np.empty(places.shape, dtype=np.intp)
        np.put_along_axis(labels, places.astype(np.intp), self.units.labels[None], axis=1)
        return np.asarray(self.groups[labels[:, self.units.of_row]])

    def add(self, values: Floats) -> None:
        """Take what some exchanges have led to: [exchanges, statistics, all groups, features]."""
        mine = values[:, :, self.groups] - self.centre[:, None]
        times, statistics, groups, features = mine.shape
        tables = (np.tile(each, (times, 1)) for each in (self.centre, self.resolution))
        found = spreads(mine.reshape(-1, groups, features), *tables)
        self.null.append(found.reshape(-1, times, statistics, features))

    def found(self) -> tuple[Floats, Floats, Codes]:
        """Return median, p and reason, [metrics, statistics, features] each."""
        null = np.concatenate(self.null, axis=1)
        shape = (len(METRICS), *self.centre.shape)
        _, median, p_values, reasons = against_null(
            self.values.transpose(1, 0, 2).reshape(len(self.groups), -1),
            self.centre.ravel(),
            self.resolution.ravel(),
            null.reshape(*null.shape[:2], -1),
        )
        return median.reshape(shape), p_values.reshape(shape), reasons.reshape(shape)


def _exchange(
    table: Table,
    statistics: Sequence[Statistic],
    domains: Sequence[_DomainNull],
    rng: np.random.Generator,
    times: int,
    ddof: int,
    progress: Progress,
) -> None:
    """Compute the statistics of every group anew after each exchange in all domains."""
    at_once = max(1, min(AT_ONCE, VALUES_AT_ONCE // max(table.values.size, 1)))
    columns = Columns(table.values)
    for start in range(0, times, at_once):
        size = min(at_once, times - start)
        codes = np.repeat(table.codes[None], size, axis=0)
        for each in domains:
            codes[:, each.rows] = each.codes(size, rng)
        found = summarise(_side_by_side(table, codes), statistics, ddof, columns).values
        shape = (len(statistics), size, len(table.groups), len(table.features))
        for each in domains:
            each.add(found.reshape(shape).swapaxes(0, 1))
        progress(start + size, times)


def _side_by_side(table: Table, codes: Integers) -> Table:
    """Return one table with the groups of as many as there are rows of codes."""
    times, groups = len(codes), len(table.groups)
    return Table(
        np.tile(table.values, (times, 1)),
        (codes + groups * np.arange(times)[:, None]).ravel(),
        tuple(map(str, range(times * groups))),
        table.features,
        None if table.baseline is None else np.tile(table.baseline, (times, 1)),
        table.baseline_name,
    )
