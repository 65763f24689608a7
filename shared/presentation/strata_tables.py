"""A comparison of traffic by stratum, as rows of a picture and as a table."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from biaswatch.shared.analysis.monitors.strata_views import StrataView, StratumView
from biaswatch.shared.contracts import Estimate
from biaswatch.shared.formatting import number
from biaswatch.shared.presentation.charts import Axis, padded_axis
from biaswatch.shared.presentation.page_tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)

ACROSS = 1000.0
OTHERS = "all smaller strata"
SIDES = (
    *("first group", "second group", "first, compared", "second, compared"),
    *("mean of the first", "mean of the second"),
)
NO_ESTIMATE = Estimate(reason="there is none yet")


@dataclass(frozen=True)
class StratumGapRow:
    """A gap with its interval, and the one that is not adjusted beside it."""

    name: str
    low: float | None
    value: float | None
    high: float | None
    beside: float | None
    text: str


@dataclass(frozen=True)
class StrataPlot:
    """The gap of all users and of each stratum, on one axis."""

    rows: tuple[StratumGapRow, ...]
    zero: float
    low_text: str
    high_text: str
    flat: bool
    """Whether no gap is anything but 0."""


def strata_plot(found: StrataView) -> StrataPlot:
    """Return the gaps below one another: all users first, then each stratum."""
    overall = found.adjusted or NO_ESTIMATE, found.unadjusted or NO_ESTIMATE
    named = [("all strata", *overall)]
    named += [(stratum_name(each), each.adjusted, each.unadjusted) for each in found.strata]
    values = [end for _, *both in named for gap in both for end in (gap.low, gap.value, gap.high)]
    axis = padded_axis([0.0, *(each for each in values if each is not None)], 0.0, ACROSS)
    return StrataPlot(
        rows=tuple(_row(axis, *each) for each in named),
        zero=axis.at(0.0),
        low_text=number(axis.low),
        high_text=number(axis.high),
        flat=not any(gap.value for _, *both in named for gap in both),
    )


def strata_table(views: Iterable[StrataView]) -> PageTable:
    """Return a row for each stratum, with counts and both gaps; with its comparison if several."""
    shown = list(views)
    alone = len(shown) == 1
    numeric = (*SIDES, *("adjusted gap", "from", "to", "unadjusted gap", "from", "to"))
    columns = (
        *(() if alone else (PageColumn("comparison", name=True),)),
        PageColumn("stratum", name=True),
        *(PageColumn(title, numeric=True) for title in numeric),
    )
    rows = [
        (*(() if alone else (words_cell(view.title),)), *_cells(each))
        for view in shown
        for each in view.strata
    ]
    return PageTable("Users and gaps by stratum", columns, tuple(rows))


def table_of_one(view: StrataView) -> PageTable:
    """Return the same of one comparison, whose columns are called by its groups."""
    table = strata_table([view])
    a, b = view.groups
    sides = (f"{a}, users", f"{b}, users", f"{a}, compared", f"{b}, compared")
    named = dict(zip(SIDES, (*sides, f"mean of {a}", f"mean of {b}"), strict=True))
    columns = [replace(each, title=named.get(each.title, each.title)) for each in table.columns]
    return replace(table, columns=tuple(columns))


def stratum_name(stratum: StratumView) -> str:
    """Return what a stratum is called: its facts."""
    return ", ".join(stratum.facts.values()) or OTHERS


def _cells(each: StratumView) -> tuple[PageCell, ...]:
    counts = (each.first_users, each.second_users, each.first_matched, each.second_matched)
    return (
        words_cell(stratum_name(each), note=each.adjusted.reason),
        *map(number_cell, counts),
        *(number_cell(mean.value) for mean in (each.first_mean, each.second_mean)),
        *(number_cell(end) for gap in (each.adjusted, each.unadjusted) for end in _ends(gap)),
    )


def _ends(gap: Estimate) -> tuple[float | None, ...]:
    return gap.value, gap.low, gap.high


def _row(axis: Axis, name: str, adjusted: Estimate, unadjusted: Estimate) -> StratumGapRow:
    def at(value: float | None) -> float | None:
        return None if value is None else axis.at(value)

    return StratumGapRow(
        name=name,
        low=at(adjusted.low),
        value=at(adjusted.value),
        high=at(adjusted.high),
        beside=at(unadjusted.value),
        text=_told(adjusted),
    )


def _told(gap: Estimate) -> str:
    if gap.low is None or gap.high is None:
        return number(gap.value)
    return f"{number(gap.value)} ({number(gap.low)} to {number(gap.high)})"
