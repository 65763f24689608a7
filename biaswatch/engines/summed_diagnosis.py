"""Diagnosis of a table in a database engine, from its sums."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isfinite, nan
from typing import Any

import numpy as np

from biaswatch.engines.queries import (
    Dialect,
    SummedColumns,
    fractions_query,
    shared_units_query,
    shifts_query,
    sums_query,
)
from biaswatch.readers.tables import TableColumns
from biaswatch.shared.analysis.findings.comparisons import corrected, shown_gap
from biaswatch.shared.analysis.findings.gap_statistics import GAP_STATISTICS
from biaswatch.shared.analysis.findings.group_comparison import GroupComparison
from biaswatch.shared.analysis.findings.group_statistics import GroupStatistic
from biaswatch.shared.analysis.findings.groupings import THE_REST, ComparisonPlan, Group, Grouping
from biaswatch.shared.analysis.findings.table_diagnosis import TableDescription, TableDiagnosis
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds, implied_bounds
from biaswatch.shared.stats.comparisons.gaps_from_sums import (
    Moments,
    SampleSums,
    effect_size_from_sums,
    gap_from_sums,
    joined,
    mean_from_sums,
)

Query = Callable[[str], Sequence[Sequence[Any]]]
"""Runs SQL; returns its rows."""
HALF = 0.5
"""Representative of any fraction."""


@dataclass(frozen=True)
class EngineTable:
    """A table in an engine, with a function that queries it."""

    run: Query
    source: str
    """The table in the engine's SQL: a name, or a function of a path."""
    dialect: Dialect


@dataclass(frozen=True)
class SummedGrouping:
    """The groups of one dimension, with their sums over rows and over units."""

    grouping: Grouping
    by_row: Moments
    by_unit: Moments
    """Moments over units; equal to `by_row` without a unit."""
    bounds: Mapping[int, list[Bounds | None]]
    """Range of each feature, by domain."""

    def sums(self, units: Moments, feature: int) -> SampleSums:
        """Return the sums of one group's units, from the first row of moments."""
        n = int(units.n[0, feature])
        cells = (units.mean, units.square_sum, units.skewness, units.low, units.high)
        return SampleSums(n, *(float(cell[0, feature]) for cell in cells))

    def side(self, moments: Moments, groups: Sequence[int]) -> Moments:
        """Return the sums of some groups together."""
        return joined([_select(moments, [group]) for group in groups])


def summed_diagnosis(
    table: EngineTable, columns: TableColumns, plan: ComparisonPlan, ddof: int = 0
) -> TableDiagnosis:
    """Diagnose a table of any size by sums: means, spreads, comparisons.

    Raises
    ------
    UsageError
        No row has a group, or a value is outside its declared range.
    """
    summed = [_summed(table, columns, dimension) for dimension in columns.groups]
    pairs = {
        grouping.grouping.name: grouping.grouping.compared(plan.against) for grouping in summed
    }
    family = max(1, sum(len(pairs[name]) for name in pairs) * len(columns.features))
    description, compared = TableDescription(), list[GroupComparison]()
    for grouping in summed:
        description.statistics.extend(_statistics(grouping, columns, plan, ddof))
        compared.extend(_comparisons(grouping, columns, plan, family))
    return TableDiagnosis(corrected(compared, plan, family), lambda: description)


def _summed(table: EngineTable, columns: TableColumns, dimension: str) -> SummedGrouping:
    features, dialect = tuple(columns.features), table.dialect
    columns_summed = SummedColumns(dimension, features, tuple(columns.domains))
    [means] = table.run(shifts_query(table.source, columns_summed, dialect))
    shifts = tuple(0.0 if mean is None else float(f"{float(mean):.3g}") for mean in means)
    columns_summed = replace(columns_summed, shifts=shifts)
    rows = table.run(sums_query(table.source, columns_summed, dialect))
    if not rows:
        raise UsageError(f"No row of the table has a {dimension}.")
    keys, by_row = _moments(rows, shifts)
    by_unit = by_row
    if columns.unit:
        of_units = replace(columns_summed, unit=columns.unit)
        [(shared,)] = table.run(shared_units_query(table.source, of_units, dialect))
        if int(shared):
            raise UsageError(
                f"{int(shared):,} of {columns.unit} are in several groups of {dimension}, which"
                " must be compared within units, which needs the values. Diagnose a sample instead."
            )
        unit_rows = table.run(sums_query(table.source, of_units, dialect))
        keys, by_row = _among(keys, by_row, {(row[0], row[1] or "") for row in unit_rows})
        same, by_unit = _moments(unit_rows, shifts)
        assert same == keys  # noqa: S101 - both are sorted, and of the same groups
    domains = tuple(sorted({domain for _, domain in keys}))
    groups = tuple(Group({dimension: group}, domains.index(domain)) for group, domain in keys)
    grouping = Grouping((dimension,), groups, np.empty(0, dtype=np.intp), domains)
    bounds = _bounds(table, columns_summed, columns, grouping, by_row)
    return SummedGrouping(grouping, by_row, by_unit, bounds)


def _moments(
    rows: Sequence[Sequence[Any]], shifts: tuple[float, ...]
) -> tuple[list[tuple[str, str]], Moments]:
    """Return groups with domains, sorted by both names, and their moments."""
    ordered = sorted(rows, key=lambda row: (row[1] or "", row[0]))
    keys = [(str(row[0]), str(row[1] or "")) for row in ordered]
    cells = np.array(
        [[nan if cell is None else float(cell) for cell in row[3:]] for row in ordered]
    ).reshape(len(rows), len(shifts), -1)
    n = cells[:, :, 0].astype(np.int64)
    first, second, third = (np.where(n > 0, cells[:, :, place], 0.0) for place in (1, 2, 3))
    of_rows = np.repeat(np.array([[int(row[2])] for row in ordered]), len(shifts), axis=1)
    shift = np.broadcast_to(np.array(shifts), n.shape).copy()
    low, high = cells[:, :, 4], cells[:, :, 5]
    return keys, Moments(of_rows, n, shift, first, second, third, low, high)


def _among(
    keys: list[tuple[str, str]], moments: Moments, present: set[tuple[str, str]]
) -> tuple[list[tuple[str, str]], Moments]:
    """Keep the groups with at least one named unit."""
    kept = [index for index, key in enumerate(keys) if key in present]
    return [keys[index] for index in kept], _select(moments, kept)


def _select(moments: Moments, groups: list[int]) -> Moments:
    """Select rows of moments by group."""
    return Moments(*(getattr(moments, field.name)[groups] for field in fields(moments)))


def _bounds(
    table: EngineTable,
    columns_summed: SummedColumns,
    columns: TableColumns,
    grouping: Grouping,
    by_row: Moments,
) -> dict[int, list[Bounds | None]]:
    """Return the range of each feature in each domain, declared or inferred."""
    fractions = _fractions(table, columns_summed, columns, by_row)
    bounds: dict[int, list[Bounds | None]] = {}
    for domain, name in enumerate(grouping.domains):
        in_domain = grouping.domain_of == domain
        bounds[domain] = []
        for index, feature in enumerate(columns.features):
            low, high = _ends(by_row.low[in_domain, index]), _ends(by_row.high[in_domain, index])
            extremes = [*low[:1], *high[-1:]]
            if feature in columns.ranges:
                bounds[domain].append(_declared(columns.ranges[feature], extremes, feature, name))
            else:
                bounds[domain].append(_implied(extremes, whole=not fractions.get(index, 1)))
    return bounds


def _implied(seen: list[float], *, whole: bool) -> Bounds | None:
    if whole or not seen:
        return implied_bounds(np.array(seen))
    inside = min(max(HALF, seen[0]), seen[-1])
    fraction = inside if inside != round(inside) else (seen[0] + seen[-1]) / 2
    return implied_bounds(np.array([*seen, fraction if fraction != round(fraction) else HALF]))


def _ends(values: Any) -> list[float]:
    return sorted(float(value) for value in values if isfinite(value))


def _declared(
    declared: Bounds | None, seen: list[float], feature: str, domain: str
) -> Bounds | None:
    if declared and seen and not declared[0] <= seen[0] <= seen[-1] <= declared[1]:
        where = f" in {domain}" if domain else ""
        raise UsageError(
            f"{feature} has values{where} outside its range from {declared[0]:g} to"
            f" {declared[1]:g}."
        )
    return declared


def _fractions(
    table: EngineTable, columns_summed: SummedColumns, columns: TableColumns, by_row: Moments
) -> dict[int, int]:
    """Count fractional values of features that may be ratings."""
    ratings = [
        index
        for index, feature in enumerate(columns.features)
        if feature not in columns.ranges
        and (ends := [*_ends(by_row.low[:, index]), *_ends(by_row.high[:, index])])
        and implied_bounds(np.array([min(ends), max(ends)])) is not None
        and not -1 <= min(ends) <= max(ends) <= 1
    ]
    if not ratings:
        return {}
    rating_columns = replace(
        columns_summed, features=tuple(columns.features[index] for index in ratings)
    )
    [counts] = table.run(fractions_query(table.source, rating_columns, table.dialect))
    return {index: int(count or 0) for index, count in zip(ratings, counts, strict=True)}


def _statistics(
    summed: SummedGrouping, columns: TableColumns, plan: ComparisonPlan, ddof: int
) -> Iterator[GroupStatistic]:
    spread = summed.by_row.standard_deviation(ddof)
    for index_of_group, group in enumerate(summed.grouping.groups):
        units = _select(summed.by_unit, [index_of_group])
        for index, feature in enumerate(columns.features):
            bounds = summed.bounds[group.domain][index]
            mean = mean_from_sums(summed.sums(units, index), bounds, plan.alpha)
            n, rows = (
                int(moments[index_of_group, index])
                for moments in (summed.by_row.n, summed.by_row.rows)
            )
            statistic = GroupStatistic(
                feature, "mean", group.levels, summed.grouping.domains[group.domain],
                mean.value, mean.low, mean.high, mean.method, n, rows - n, mean.reason,
            )  # fmt: skip
            yield statistic
            value = float(spread[index_of_group, index])
            yield replace(
                statistic, statistic="standard_deviation", low=None, high=None, method="",
                value=value if isfinite(value) else None,
                reason=None if isfinite(value) else "too few values",
            )  # fmt: skip


def _comparisons(
    summed: SummedGrouping, columns: TableColumns, plan: ComparisonPlan, family: int
) -> Iterator[GroupComparison]:
    grouping = summed.grouping
    for a, b in grouping.compared(plan.against):
        domain = grouping.groups[a].domain
        other_groups = (
            [b] if b is not None else np.flatnonzero(grouping.domain_of == domain).tolist()
        )
        sides = [[a], [other for other in other_groups if other != a]]
        rows = [summed.side(summed.by_row, side) for side in sides]
        units = [summed.side(summed.by_unit, side) for side in sides]
        for index, feature in enumerate(columns.features):
            of_a, of_b = (summed.sums(moments, index) for moments in units)
            result = gap_from_sums(
                of_a, of_b, summed.bounds[domain][index],
                alpha=plan.alpha, tolerance=plan.tolerance, family=family,
            )  # fmt: skip
            present = [int(moments.n[0, index]) for moments in rows]
            missing = [int(moments.rows[0, index]) - int(moments.n[0, index]) for moments in rows]
            n_units = [int(moments.n[0, index]) for moments in units]
            yield GroupComparison(
                feature=feature, dimension=grouping.name, domain=grouping.domains[domain],
                a=grouping.groups[a].name,
                b=THE_REST if b is None else grouping.groups[b].name,
                gap=shown_gap(result, plan, family), by_itself=result.marginal,
                p_value=result.p_disparity, p_equivalence=result.p_equivalence,
                statistics={
                    **dict.fromkeys(GAP_STATISTICS),  # the others take the values
                    "effect_size": effect_size_from_sums(of_a, of_b, plan.alpha),
                },
                n_a=present[0], n_b=present[1], n_missing_a=missing[0], n_missing_b=missing[1],
                units_a=n_units[0], units_b=n_units[1],
            )  # fmt: skip
