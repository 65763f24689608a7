"""Assessments as people read them: one table for all, then who is treated how."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table

from biaswatch.render.findings import interval, number
from biaswatch.render.tables import escape

Assessment = Mapping[str, Any]
HEAD = (
    "target, scaffold",
    "feature",
    "total bias (by chance)",
    "quality",
    "consistency",
    "missing",
)


def show(console: Console, assessments: Sequence[Assessment]) -> None:
    """Print what was assessed, if anything was."""
    if not assessments:
        return
    console.print("\n[bold]Beyond the gaps[/]")
    console.print(_table(HEAD, (overview(each) for each in assessments)))
    for each in assessments:
        for title, head, rows in parts(each):
            console.print(f"\n[bold]{escape(name_of(each))}: {escape(title)}[/]")
            console.print(_table(head, rows))


def name_of(assessment: Assessment) -> str:
    """Return the target, and the scaffold where it is not the plain question."""
    scaffold = assessment["scaffold"]
    return str(assessment["target"]) + ("" if scaffold == "direct" else f", {scaffold}")


def overview(assessment: Assessment) -> list[str]:
    """Return an assessment's own numbers, in the order of HEAD."""
    return [
        name_of(assessment),
        str(assessment["feature"]),
        _total_bias(assessment["total_bias"]),
        _quality(assessment["quality"]),
        _consistency(assessment["consistency"]),
        f"{assessment['missing']} of {assessment['answers']}",
    ]


def parts(assessment: Assessment) -> Iterator[tuple[str, Sequence[str], Iterator[list[str]]]]:
    """Return the title, head and rows of each table an assessment has."""
    level = f"{100 * (1 - assessment['alpha']):g} %"
    if found := assessment["deviations"]:
        rows = ([f"{d['dimension']} {d['group']}", interval(d["gap"])] for d in found)
        yield "against the anonymised twins", ("group", f"gap [{level}]"), rows
    if found := assessment["cells"]:
        head = ("groups", f"mean [{level}]", "answers", "missing")
        rows = (
            [_named(c["groups"]), interval(c["mean"]), str(c["answers"]), str(c["missing"])]
            for c in found
        )
        yield "every combination of groups", head, rows
    if found := assessment["criteria"]:
        judged = ("criterion", "groups", f"gap [{level}]", "p (Holm)", "missing")
        rows = (
            [
                c["criterion"],
                f"{c['a']} - {c['b']}",
                interval(c["gap"]),
                number(c.get("p_adjusted"), 2),
                str(c["missing"]),
            ]
            for c in found
        )
        yield "by criterion, a family of their own", judged, rows


def _named(groups: Mapping[str, str]) -> str:
    return ", ".join(groups.values())


def _total_bias(found: Mapping[str, Any]) -> str:
    if found.get("value") is None:
        return f"- [{found.get('reason')}]"
    chance = number(found.get("null_median"))
    return f"{number(found['value'])} ({chance}, p = {number(found.get('p_value'), 2)})"


def _quality(found: Mapping[str, Any]) -> str:
    if found.get("value") is None:
        return f"- [{found.get('reason')}]"
    return f"{number(found['value'])} (mean error {number(found['mean_absolute_error'])})"


def _consistency(found: Mapping[str, Any]) -> str:
    if found.get("mean_sd") is None:
        return f"- [{found.get('reason')}]"
    same = f"{100 * found['one_answer']:.0f} %"
    return f"sd {number(found['mean_sd'])}, {same} always alike"


def _table(head: Sequence[str], rows: Iterator[list[str]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    for name in head:
        table.add_column(escape(name), overflow="fold")
    for row in rows:
        table.add_row(*map(escape, row))
    return table
