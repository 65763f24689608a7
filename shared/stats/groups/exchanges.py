"""Random exchanges of group labels within strata, and the group means they lead to."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from biaswatch.shared.stats.groups.cells import Floats, Integers, Table
from biaswatch.shared.stats.groups.spreads import ROUNDING, TIES, spreads

ANYWHERE = -1
"""The stratum of units whose labels move among all others of this stratum."""


@dataclass(frozen=True)
class ExchangeUnits:
    """The units of one domain, each with its group and with the stratum its label moves in."""

    of_row: Integers
    """[rows]: the unit of each row."""
    labels: Integers
    """[units]: ascending."""
    strata: Integers
    """[units]: a set that several groups share, or ANYWHERE."""

    def totals(self, values: Floats) -> Floats:
        """Return [units], or [units, columns]: the sums of each unit's rows."""
        if len(self.of_row) == len(self.labels):  # every row is a unit
            found = np.empty_like(values)
            found[self.of_row] = values
            return found
        return np.asarray(self._membership @ values)

    @cached_property
    def _membership(self) -> sparse.csr_array:
        """[units, rows]: 1 where a row is part of a unit."""
        shape = (len(self.labels), len(self.of_row))
        ones = (np.ones(shape[1]), (self.of_row, np.arange(shape[1])))
        return sparse.csr_array(ones, shape=shape)


def exchange_units(
    labels: NDArray[np.integer], sets: NDArray[np.integer], rows: NDArray[np.integer] | None = None
) -> ExchangeUnits:
    """Return the units whose labels are exchanged.

    A set that several groups share is a block: labels move only inside it. A set that lies in one
    group (a family of templates, for example) is one unit, because its rows are alike: its label
    moves together, among the other units of this kind and the rows without a set.

    Parameters
    ----------
    labels
        [rows]: the group of each row, of one domain.
    sets
        [rows]: codes of sets, below 0 for none.
    rows
        [rows]: what a row without a shared set is part of, such as a prompt's code; each row is
        by itself where this is left out. Rows of one code and different labels stay apart.
    """
    group: Integers = np.asarray(labels, dtype=np.intp)
    sets = _signed(sets)
    shared = _shared(group, sets)
    nested = (sets >= 0) & ~shared
    # One number in the place of three sorts the same way, and much sooner.
    keys = group * 2
    keys += nested
    part = np.where(nested, sets, np.arange(len(group)) if rows is None else _signed(rows))
    part -= part.min(initial=0)
    keys *= int(part.max(initial=0)) + 1
    keys += part
    del part  # of a million rows, each copy counts
    _, first, of_row = np.unique(keys, return_index=True, return_inverse=True)
    strata = np.where(shared, sets, ANYWHERE)[first]
    return ExchangeUnits(of_row, group[first], strata)


def _signed(codes: NDArray[np.integer]) -> NDArray[np.integer]:
    """Return codes as they are, where they can be below 0; unsigned ones would wrap around."""
    found = np.asarray(codes)
    return found if found.dtype.kind == "i" else found.astype(np.intp)


def _shared(labels: Integers, sets: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return [rows]: whether a row's set has rows of several labels."""
    different, place = np.unique(sets, return_inverse=True)
    most = np.full(len(different), -1)
    least = np.full(len(different), np.iinfo(np.int64).max)
    np.maximum.at(most, place, labels)
    np.minimum.at(least, place, labels)
    return np.asarray((sets >= 0) & (most > least)[place])


@dataclass(frozen=True)
class LabelExchange:
    """Rows that exchange labels only inside their stratum."""

    rows: int
    strata: tuple[Integers, ...]
    """[strata, size] for each size: the places of a stratum's rows; only such as can change."""

    @classmethod
    def within(cls, strata: NDArray[np.integer], labels: NDArray[np.integer]) -> "LabelExchange":
        """Return the exchanges within strata; a stratum all of one label is left out."""
        _, stratum = np.unique(strata, return_inverse=True)
        order = np.argsort(stratum, kind="stable")
        sizes = np.bincount(stratum)
        starts = np.cumsum(sizes) - sizes
        ranked = labels[order]
        mixed = np.maximum.reduceat(ranked, starts) > np.minimum.reduceat(ranked, starts)
        found = []
        for size in np.unique(sizes[mixed]):
            chosen = starts[mixed & (sizes == size)]
            found.append(order[chosen[:, None] + np.arange(size)])
        return cls(len(labels), tuple(found))

    def draw(self, times: int, rng: np.random.Generator) -> NDArray[np.int32]:
        """Return [times, rows]: the row at each place, after so many exchanges."""
        places = np.tile(np.arange(self.rows, dtype=np.int32), (times, 1))
        for members in self.strata:
            rows = np.tile(members.astype(np.int32), (times, 1, 1))
            rng.permuted(rows, axis=2, out=rows)
            places[:, members.ravel()] = rows.reshape(times, -1)
        return places


def group_sums(places: NDArray[np.int32], sizes: Integers, values: Floats) -> Floats:
    """Return [times, groups, columns]: sums of the rows at each group's places.

    The product of a one-hot matrix with the values, but of a sparse one: a dense product would
    multiply by as many zeros as there are other groups.
    """
    ends = np.concatenate([[0], np.cumsum(np.tile(sizes, len(places)))]).astype(np.int32)
    shape = (len(ends) - 1, len(values))
    one_hot = sparse.csr_array((np.ones(places.size), places.ravel(), ends), shape=shape)
    return np.asarray(one_hot @ values).reshape(len(places), len(sizes), -1)


def blocks_of(times: int, volume: int, limit: int = 1 << 18) -> Iterator[int]:
    """Split so many exchanges into blocks of at most `limit` numbers, `volume` in each exchange."""
    size = max(1, limit // max(volume, 1))
    for start in range(0, times, size):
        yield min(size, times - start)


def unit_means(
    table: Table, units: NDArray[np.integer], strata: NDArray[np.integer]
) -> tuple[Table, NDArray[np.integer]]:
    """Return one row per unit and group, the mean of its rows, and its stratum.

    Repeats of a prompt are one unit: their labels never part, and none weighs more for having been
    asked more often.

    Raises
    ------
    ValueError
        If rows of one unit and group lie in different strata.
    """
    _, unit = np.unique(units, return_inverse=True)
    keys = unit * max(len(table.groups), 1) + table.codes
    kept, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
    if (strata[first][inverse] != strata).any():
        raise ValueError("rows of one unit and group lie in different counterfactual sets")
    if len(kept) == len(keys):  # each row is one: no sums, which of a million take much memory
        values = table.values[first]
        values[~np.isfinite(values)] = np.nan
        return Table(values, table.codes[first], table.groups, table.features), strata[first]
    shape = (len(kept), len(keys))
    member = sparse.csr_array((np.ones(len(keys)), (inverse, np.arange(len(keys)))), shape=shape)
    present = np.isfinite(table.values)
    sums = np.asarray(member @ np.where(present, table.values, 0.0))
    counts = np.asarray(member @ present.astype(np.float64))
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    return Table(means, table.codes[first], table.groups, table.features), strata[first]


@dataclass(frozen=True)
class CentredFeature:
    """One feature of the exchange units of a domain, centred on its mean."""

    sums: Floats
    """[units]: of the centred values that are present."""
    total: int
    centre: float
    resolution: float
    too_large: bool

    @classmethod
    def of(cls, values: Floats, units: ExchangeUnits) -> "CentredFeature":
        """Return the sums of a feature's values by unit; values too large to square count as 0."""
        present = np.isfinite(values)
        known = np.where(present, values, 0.0)
        with np.errstate(over="ignore"):  # what overflows here is refused by name
            too_large = not np.isfinite((known * known).sum())
        if too_large:
            known[:] = 0.0
        total = int(np.count_nonzero(present))
        centre = float(known.sum()) / max(total, 1)
        centred = np.where(present, known - centre, 0.0)
        return cls(
            sums=units.totals(centred),
            total=total,
            centre=centre,
            resolution=max(TIES * float(np.abs(centred).max()), ROUNDING * abs(centre)),
            too_large=too_large,
        )


def _counts(values: Floats, units: ExchangeUnits) -> NDArray[np.int32] | None:
    """Return [units]: how many values are present, in few bytes; None where each has one."""
    found = units.totals(np.isfinite(values).astype(np.float64)).astype(np.int32)
    return None if (found == 1).all() else found


class DomainSample:
    """The exchange units of one domain, ordered by group, centred on each feature's mean."""

    def __init__(
        self, table: Table, groups: Integers, rows: Integers, sets: NDArray[np.integer]
    ) -> None:
        labels = np.searchsorted(groups, table.codes[rows])
        units = exchange_units(labels, sets[rows])
        self.sizes = np.bincount(units.labels, minlength=len(groups))
        self.exchange = LabelExchange.within(units.strata, units.labels)
        self.features = len(table.features)
        self.total, self.centre, self.resolution = np.zeros((3, self.features))
        self.too_large = np.zeros(self.features, dtype=np.bool_)
        counted = [_counts(table.values[rows, each], units) for each in range(self.features)]
        self.partial = np.array(
            [f for f, of in enumerate(counted) if of is not None], dtype=np.intp
        )
        self.columns = np.empty((len(units.labels), self.features + len(self.partial)))
        for place, feature in enumerate(self.partial, self.features):
            self.columns[:, place] = counted[feature]
        del counted
        for feature in range(self.features):  # one by one: of a million, each copy counts
            found = CentredFeature.of(table.values[rows, feature], units)
            self.columns[:, feature] = found.sums
            self.total[feature], self.centre[feature] = found.total, found.centre
            self.resolution[feature], self.too_large[feature] = found.resolution, found.too_large

    def means(self, places: NDArray[np.int32]) -> tuple[Floats, Floats]:
        """Return [times, groups, features]: centred means, nan without values, and counts."""
        sums = group_sums(places, self.sizes, self.columns)
        sizes = self.sizes.astype(np.float64)[None, :, None]
        if not len(self.partial) and self.sizes.all():
            return sums / sizes, sizes
        counts = np.repeat(np.repeat(sizes, len(sums), axis=0), self.features, axis=2)
        counts[:, :, self.partial] = sums[:, :, self.features :]
        sums = sums[:, :, : self.features]
        return np.where(counts > 0, sums, np.nan) / np.maximum(counts, 1), counts

    def from_rest(self, means: Floats, counts: Floats) -> Floats:
        """Return each group's mean minus that of the others, nan where there are no others.

        All values together average 0, so that the others' mean follows from the group's own.
        """
        rest = self.total - counts
        total = np.where(rest > 0, self.total, np.nan)
        return np.asarray(means * total / np.maximum(rest, 1))


@dataclass(frozen=True)
class PermutedDomain:
    """One domain, observed and under the null."""

    means: Floats
    """[groups, features]: centred."""
    counts: Floats
    """[groups, features] or [groups, 1]: values that are present."""
    deviation: Floats
    beyond: Floats
    """[groups, features]: exchanges whose deviation reaches the observed one."""
    null: Floats
    """[metrics, exchanges, features]"""


def permuted(sample: DomainSample, times: int, rng: np.random.Generator) -> PermutedDomain:
    """Exchange labels so many times, in blocks that fit the cache."""
    rows = sample.exchange.rows
    means, counts = sample.means(np.arange(rows, dtype=np.int32)[None])
    deviation = sample.from_rest(means, counts)[0]
    reach = np.abs(deviation) - sample.resolution
    beyond = np.zeros(deviation.shape)
    null = []
    for size in blocks_of(times, max(rows, deviation.size)):
        drawn, drawn_counts = sample.means(sample.exchange.draw(size, rng))
        gaps = np.abs(sample.from_rest(drawn, drawn_counts))
        # Not less, rather than at least: what is undefined counts as reaching.
        beyond += np.count_nonzero(~(gaps < reach), axis=0)
        null.append(spreads(drawn, sample.centre, sample.resolution))
    return PermutedDomain(means[0], counts[0], deviation, beyond, np.concatenate(null, axis=1))
