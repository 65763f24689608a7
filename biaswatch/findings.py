"""Findings as people read them: a table, and a sentence for each conclusion."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

SAYS = {
    "disparity": "[bold red]disparity[/]",
    "no_disparity": "[green]no disparity beyond the tolerance[/]",
    "not_enough_evidence": "not enough evidence",
}


def show(console: Console, diagnoses: Sequence[Mapping[str, Any]]) -> None:
    """Print gaps, missing answers, and what the conclusions are about."""
    if not diagnoses:
        console.print("There is nothing to compare: no probe names a group.")
        return
    console.print(_gaps(diagnoses))
    console.print(_groups(diagnoses))
    for sentence in sentences(diagnoses):
        console.print(f"• {escape(sentence)}")
    first = diagnoses[0]
    console.print(
        f"[dim]Family of {first['family']} comparisons, Holm-corrected, level {first['alpha']:g}."
        f" About {escape(first['claim'])}.[/dim]"
    )


def sentences(diagnoses: Sequence[Mapping[str, Any]]) -> list[str]:
    """Say each conclusion in words and numbers."""
    said = []
    for diagnosis in diagnoses:
        for gap in diagnosis["gaps"]:
            who = f"{diagnosis['target']}: {gap['a']} against {gap['b']}, {diagnosis['feature']}"
            said.append(f"{who}: {_conclusion(gap)}")
    return said


def _conclusion(gap: Mapping[str, Any]) -> str:
    found = interval(gap["gap"])
    if gap["verdict"] == "disparity":
        return f"a disparity of {found}, adjusted p = {number(gap['p_adjusted'])}."
    if gap["verdict"] == "no_disparity":
        return f"no disparity beyond the tolerance ({found})."
    return f"not enough evidence for a disparity ({found})."


def _gaps(diagnoses: Sequence[Mapping[str, Any]]) -> Table:
    table = _table(
        "Gaps between groups",
        ("target", "scaffold", "feature", "groups", "gap, 95 % interval", "p", "verdict"),
    )
    for diagnosis in diagnoses:
        for gap in diagnosis["gaps"]:
            table.add_row(
                escape(diagnosis["target"]),
                diagnosis["scaffold"],
                escape(diagnosis["feature"]),
                escape(f"{gap['a']} - {gap['b']}"),
                escape(interval(gap["gap"])),
                number(gap.get("p_adjusted")),
                SAYS[gap["verdict"]],
            )
    return table


def _groups(diagnoses: Sequence[Mapping[str, Any]]) -> Table:
    table = _table(
        "Groups",
        ("target", "feature", "group", "responses", "missing", "prompts", "mean, 95 % interval"),
    )
    for diagnosis in diagnoses:
        for group in diagnosis["groups"]:
            reasons = ", ".join(f"{n} {why}" for why, n in group["missing_reasons"].items())
            table.add_row(
                escape(diagnosis["target"]),
                escape(diagnosis["feature"]),
                escape(f"{diagnosis['dimension']}: {group['group']}"),
                str(group["responses"]),
                escape(f"{group['missing']}" + (f" ({reasons})" if reasons else "")),
                str(group["units"]),
                escape(interval(group["mean"])),
            )
    return table


def _table(title: str, columns: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left", box=SIMPLE, pad_edge=False)
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def interval(estimate: Mapping[str, Any]) -> str:
    """Write an estimate with its interval, or why it has none."""
    value = number(estimate.get("value"))
    if estimate.get("low") is None:
        return f"{value} [{estimate.get('reason') or 'no interval'}]"
    return f"{value} [{number(estimate['low'])}, {number(estimate['high'])}]"


def number(value: float | None) -> str:
    """Write a number to three figures; what is undefined is a dash, never 0."""
    return "-" if value is None else f"{value:.3g}"
