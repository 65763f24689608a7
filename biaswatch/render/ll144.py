"""Selection rates of a run or of cases as the tables of New York City's Local Law 144."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING

from biaswatch.render.tables import escape_md, markdown_table
from services.gateway.runs.views import RunProgress
from shared.contracts import Diagnosis
from shared.errors import UsageError
from shared.formatting import UNDEFINED
from shared.stats.studies.local_law_144 import (
    Category,
    ImpactRow,
    above_median,
    impact_rows,
    selected_from,
)

if TYPE_CHECKING:
    from services.diagnoser.domain.findings.observations import Observations

NO_AUDIT = (
    "These are tables in the format of Local Law 144. They are no bias audit: that takes an"
    " independent auditor, and data of the tool's actual use."
)


def run_tables(run: RunProgress, diagnoses: Sequence[Diagnosis]) -> str:
    """Return a table for each target and dimension.

    Raises
    ------
    UsageError
        The suite says of no feature what a selection is.
    """
    fit = [d for d in diagnoses if all(g.selection_rate for g in d.groups)]
    if not fit:
        raise UsageError(
            "The suite of this run does not say what a selection is. Give it `selected_at_least`"
            " and run it again: without it there are no selection rates."
        )
    about = f"Run `{run.run_id}` of {run.at:%Y-%m-%d}. {NO_AUDIT}"
    lines = [f"# Selection rates and impact ratios: {escape_md(run.suite)}", "", about]
    for each in fit:
        names = (each.target, each.scaffold, each.feature)
        heading = f"## {', '.join(map(escape_md, names))}: {escape_md(each.dimension)}"
        # A case counts by the share of its repeats that was selected: its rate is not rounded.
        rates = [(g, g.selection_rate.value if g.selection_rate else None) for g in each.groups]
        groups = [Category(g.group, g.units, (rate or 0.0) * g.units) for g, rate in rates]
        lines += ["", heading, "", *_impact_table(impact_rows(groups)), ""]
        unread = sum(group.missing for group in each.groups)
        lines.append(f"Answers without a number, in no row: {unread}. A case is a prompt.")
    return "\n".join(lines) + "\n"


def _impact_table(rows: Sequence[ImpactRow]) -> Iterator[str]:
    """Return the table's lines; rates are rounded to one decimal, ratios to two."""
    head = ("category", "cases", "rate", "impact ratio", "remark")
    return markdown_table(head, map(_impact_row, rows))


def _impact_row(row: ImpactRow) -> list[str]:
    rate = UNDEFINED if row.rate is None else f"{100 * row.rate:.1f} %"
    ratio = UNDEFINED if row.impact_ratio is None else f"{row.impact_ratio:.2f}"
    return [row.name, str(row.cases), rate, ratio, row.reason or ""]


def case_tables(name: str, seen: "Observations", selected_at_least: float | None) -> str:
    """Return a table for each column of categories, and for each combination of columns.

    The rate is that of scores from `selected_at_least` on, or above the median where it is None.
    """
    least = selected_at_least
    kind = "Scoring" if least is None else "Selection"
    what = "scored above the median of all" if least is None else f"with {least:g} or more"
    about = f"The rate is the share of cases {what}. {NO_AUDIT}"
    lines = [f"# {kind} rates and impact ratios: {escape_md(name)}", "", about]
    for size in range(1, len(seen.groups) + 1):
        for some in combinations(seen.groups, size):
            lines += ["", f"## {escape_md(' x '.join(some))}", "", *_cross_table(seen, some, least)]
    return "\n".join(lines) + "\n"


def _cross_table(
    seen: "Observations", columns: Sequence[str], least: float | None
) -> Iterator[str]:
    import numpy as np

    scores = [float(v) if np.isfinite(v) else None for v in seen.values[:, 0]]
    levels = zip(*(seen.groups[column] for column in columns), strict=True)
    names = [None if None in some else ", ".join(map(str, some)) for some in levels]
    found, unknown = (
        above_median(scores, names) if least is None else selected_from(scores, names, least)
    )
    yield from _impact_table(impact_rows(found))
    yield ""
    without = sum(score is None for score in scores)
    yield (
        f"Cases of unknown category, in no row: {unknown}. Cases without a score, in no row:"
        f" {without}."
    )
