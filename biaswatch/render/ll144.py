"""A run's selection rates as the tables of New York City's Local Law 144."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shared.errors import UsageError
from shared.stats.studies.local_law_144 import Category, ImpactRow, impact_rows

NO_AUDIT = (
    "These are tables in the format of Local Law 144. They are no bias audit: that takes an"
    " independent auditor, and data of the tool's actual use."
)


def as_ll144(run: Mapping[str, Any], diagnoses: Sequence[Mapping[str, Any]]) -> str:
    """Return a table for each target and dimension.

    Raises
    ------
    UsageError
        The suite says of no feature what a selection is.
    """
    fit = [d for d in diagnoses if all(g.get("selection_rate") for g in d["groups"])]
    if not fit:
        raise UsageError(
            "The suite of this run does not say what a selection is. Give it `selected_at_least`"
            " and run it again: without it there are no selection rates."
        )
    return "\n".join(_text(run, fit)) + "\n"


def _text(run: Mapping[str, Any], diagnoses: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    from biaswatch.render.tables import escape_md

    yield f"# Selection rates and impact ratios: {escape_md(run['suite'])}"
    yield ""
    yield f"Run `{run['run_id']}` of {run['at'][:10]}. {NO_AUDIT}"
    for each in diagnoses:
        names = (each["target"], each["scaffold"], each["feature"])
        yield ""
        yield f"## {', '.join(map(escape_md, names))}: {escape_md(each['dimension'])}"
        yield ""
        yield from ll144_table(impact_rows([_category(group) for group in each["groups"]]))
        unread = sum(group["missing"] for group in each["groups"])
        yield ""
        yield f"Answers without a number, in no row: {unread}. A case is a prompt."


def _category(group: Mapping[str, Any]) -> Category:
    """Count a case by the share of its repeats that was selected: its rate is not rounded."""
    units = group["units"]
    return Category(group["group"], units, (group["selection_rate"]["value"] or 0.0) * units)


def ll144_table(rows: Sequence[ImpactRow]) -> Iterator[str]:
    """Return the table's lines; rates are rounded to one decimal, ratios to two."""
    from biaswatch.render.tables import escape_md

    yield "| category | cases | rate | impact ratio | remark |"
    yield "|---|---|---|---|---|"
    for row in rows:
        rate = "-" if row.rate is None else f"{100 * row.rate:.1f} %"
        ratio = "-" if row.impact_ratio is None else f"{row.impact_ratio:.2f}"
        name, remark = escape_md(row.name), escape_md(row.reason or "")
        yield f"| {name} | {row.cases} | {rate} | {ratio} | {remark} |"
