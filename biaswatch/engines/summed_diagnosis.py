"""The diagnosis of a table by an engine: its sums are asked for, and all follows from them."""

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
from biaswatch.shared.analysis.findings.comparisons import GroupComparison, corrected
from biaswatch.shared.analysis.findings.diagnosis import TableDiagnosis
from biaswatch.shared.analysis.findings.gap_samples import GAP_STATISTICS
from biaswatch.shared.analysis.findings.group_statistics import GroupStatistic
from biaswatch.shared.analysis.findings.groupings import THE_REST, ComparisonPlan, Group, Grouping
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds, implied_bounds
from biaswatch.shared.stats.comparisons.gap_test import GapResult
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
"""Stands for any fraction."""


@dataclass(frozen=True)
class EngineTable:
    """A table that an engine knows, and how it is asked."""

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
    """The same, where each row is a unit."""
    bounds: Mapping[int, list[Bounds | None]]
    """By domain, the range of each feature."""

    def sums(self, units: Moments, feature: int) -> SampleSums:
        """Return what is known of the units of one group, the first of its moments."""
        n = int(units.n[0, feature])
        cells = (units.mean, units.square_sum, units.skewness, units.low, units.high)
        return SampleSums(n, *(float(cell[0, feature]) for cell in cells))

    def side(self, moments: Moments, groups: Sequence[int]) -> Moments:
        """Return the sums of some groups together."""
        return joined([_one(moments, group) for group in groups])


def summed_diagnosis(
    table: EngineTable, columns: TableColumns, plan: ComparisonPlan, ddof: int = 0
) -> TableDiagnosis:
    """Diagnose a table of any size by its sums: means, spreads, and comparisons of large groups.

    Raises
    ------
    UsageError
        There is no row in any group, or a value lies outside its declared range.
    """
    summed = [_summed(table, columns, dimension) for dimension in columns.groups]
    pairs = {each.grouping.name: each.grouping.compared(plan.against) for each in summed}
    family = max(1, sum(len(pairs[name]) for name in pairs) * len(columns.features))
    found = TableDiagnosis()
    for each in summed:
        found.statistics.extend(_statistics(each, columns, plan, ddof))
        found.comparisons.extend(_comparisons(each, columns, plan, family))
    found.comparisons = corrected(found.comparisons, plan, family)
    return found


def _summed(table: EngineTable, columns: TableColumns, dimension: str) -> SummedGrouping:
    features, dialect = tuple(columns.features), table.dialect
    asked = SummedColumns(dimension, features, tuple(columns.domains))
    [means] = table.run(shifts_query(table.source, asked, dialect))
    shifts = tuple(0.0 if mean is None else float(f"{float(mean):.3g}") for mean in means)
    asked = replace(asked, shifts=shifts)
    rows = table.run(sums_query(table.source, asked, dialect))
    if not rows:
        raise UsageError(f"No row of the table has a {dimension}.")
    keys, by_row = _moments(rows, shifts)
    by_unit = by_row
    if columns.unit:
        of_units = replace(asked, unit=columns.unit)
        [(shared,)] = table.run(shared_units_query(table.source, of_units, dialect))
        if int(shared):
            raise UsageError(
                f"{int(shared):,} of {columns.unit} are in several groups of {dimension}, which"
                " are then compared within them: that takes the values. Diagnose a sample of them."
            )
        found = table.run(sums_query(table.source, of_units, dialect))
        keys, by_row = _among(keys, by_row, {(row[0], row[1] or "") for row in found})
        same, by_unit = _moments(found, shifts)
        assert same == keys  # noqa: S101 - both are sorted, and of the same groups
    domains = tuple(sorted({domain for _, domain in keys}))
    groups = tuple(Group({dimension: group}, domains.index(domain)) for group, domain in keys)
    grouping = Grouping((dimension,), groups, np.empty(0, dtype=np.intp), domains)
    bounds = _bounds(table, asked, columns, grouping, by_row)
    return SummedGrouping(grouping, by_row, by_unit, bounds)


def _moments(
    rows: Sequence[Sequence[Any]], shifts: tuple[float, ...]
) -> tuple[list[tuple[str, str]], Moments]:
    """Return the groups with their domains, in the order of both names, and their sums."""
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
    keys: list[tuple[str, str]], moments: Moments, there: set[tuple[str, str]]
) -> tuple[list[tuple[str, str]], Moments]:
    """Return the groups that have any named unit."""
    kept = [place for place, key in enumerate(keys) if key in there]
    return [keys[place] for place in kept], _some(moments, kept)


def _one(moments: Moments, group: int) -> Moments:
    return _some(moments, [group])


def _some(moments: Moments, groups: list[int]) -> Moments:
    """Return the sums of some groups, each by itself."""
    return Moments(*(getattr(moments, each.name)[groups] for each in fields(moments)))


def _bounds(
    table: EngineTable,
    asked: SummedColumns,
    columns: TableColumns,
    grouping: Grouping,
    by_row: Moments,
) -> dict[int, list[Bounds | None]]:
    """Return the range of each feature in each domain: declared, or what the values speak of."""
    fractions = _fractions(table, asked, columns, by_row)
    found: dict[int, list[Bounds | None]] = {}
    for domain, name in enumerate(grouping.domains):
        mine = grouping.domain_of == domain
        found[domain] = []
        for index, feature in enumerate(columns.features):
            low, high = _ends(by_row.low[mine, index]), _ends(by_row.high[mine, index])
            seen = [*low[:1], *high[-1:]]
            if feature in columns.ranges:
                found[domain].append(_declared(columns.ranges[feature], seen, feature, name))
            else:
                found[domain].append(_implied(seen, whole=not fractions.get(index, 1)))
    return found


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
    table: EngineTable, asked: SummedColumns, columns: TableColumns, by_row: Moments
) -> dict[int, int]:
    """Count values that are no whole numbers, of features that may be ratings."""
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
    some = replace(asked, features=tuple(columns.features[index] for index in ratings))
    [counts] = table.run(fractions_query(table.source, some, table.dialect))
    return {index: int(count or 0) for index, count in zip(ratings, counts, strict=True)}


def _statistics(
    summed: SummedGrouping, columns: TableColumns, plan: ComparisonPlan, ddof: int
) -> Iterator[GroupStatistic]:
    spread = summed.by_row.standard_deviation(ddof)
    for place, group in enumerate(summed.grouping.groups):
        units = _one(summed.by_unit, place)
        for index, feature in enumerate(columns.features):
            bounds = summed.bounds[group.domain][index]
            mean = mean_from_sums(summed.sums(units, index), bounds, plan.alpha)
            n, rows = (int(each[place, index]) for each in (summed.by_row.n, summed.by_row.rows))
            described = GroupStatistic(
                feature, "mean", group.levels, summed.grouping.domains[group.domain],
                mean.value, mean.low, mean.high, mean.method, n, rows - n, mean.reason,
            )  # fmt: skip
            yield described
            value = float(spread[place, index])
            yield replace(
                described, statistic="standard_deviation", low=None, high=None, method="",
                value=value if isfinite(value) else None,
                reason=None if isfinite(value) else "too few values",
            )  # fmt: skip


def _comparisons(
    summed: SummedGrouping, columns: TableColumns, plan: ComparisonPlan, family: int
) -> Iterator[GroupComparison]:
    grouping = summed.grouping
    for a, b in grouping.compared(plan.against):
        domain = grouping.groups[a].domain
        others = [b] if b is not None else np.flatnonzero(grouping.domain_of == domain).tolist()
        sides = [[a], [other for other in others if other != a]]
        rows = [summed.side(summed.by_row, side) for side in sides]
        units = [summed.side(summed.by_unit, side) for side in sides]
        for index, feature in enumerate(columns.features):
            of_a, of_b = (summed.sums(each, index) for each in units)
            result = gap_from_sums(
                of_a, of_b, summed.bounds[domain][index],
                alpha=plan.alpha, tolerance=plan.tolerance, family=family,
            )  # fmt: skip
            there = [int(each.n[0, index]) for each in rows]
            missing = [int(each.rows[0, index]) - int(each.n[0, index]) for each in rows]
            n_units = [int(each.n[0, index]) for each in units]
            yield GroupComparison(
                feature=feature, dimension=grouping.name, domain=grouping.domains[domain],
                a=grouping.groups[a].name,
                b=THE_REST if b is None else grouping.groups[b].name,
                gap=_shown(result, plan, family), by_itself=result.marginal,
                p_value=result.p_disparity, p_equivalence=result.p_equivalence,
                statistics={
                    **dict.fromkeys(GAP_STATISTICS),  # the others take the values
                    "effect_size": effect_size_from_sums(of_a, of_b, plan.alpha),
                },
                n_a=there[0], n_b=there[1], n_missing_a=missing[0], n_missing_b=missing[1],
                units_a=n_units[0], units_b=n_units[1],
            )  # fmt: skip


def _shown(result: GapResult, plan: ComparisonPlan, family: int) -> Any:
    if not plan.single_step:
        return replace(result.marginal, method=f"{result.marginal.method}, by itself")
    if family == 1:
        return result.simultaneous
    return replace(result.simultaneous, method=f"{result.simultaneous.method}, one of {family}")
