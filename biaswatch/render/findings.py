"""Findings as people read them: for each target a table of gaps and of groups, then sentences."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from textwrap import wrap
from typing import Any

from rich.console import Console
from rich.table import Table

from biaswatch.render.tables import escape

SAYS = {
    "disparity": "[bold red]disparity[/]",
    "no_disparity": "[green]no disparity beyond the tolerance[/]",
    "not_enough_evidence": "not enough evidence",
}
Diagnosis = Mapping[str, Any]
REASON_WIDTH = 22
LEAST_WIDTH = 76
"""A narrower terminal folds whole lines; a column of one letter a line cannot be read."""
ROUNDING = 1e-12
"""What arithmetic alone leaves of equal numbers; p-values are never so small that it matters."""


def show(console: Console, diagnoses: Sequence[Diagnosis]) -> None:
    """Print the numbers: gaps, groups, missing answers."""
    for title, some in groupby(diagnoses, key=_title):
        found = list(some)
        console.print(f"\n[bold]{escape(title)}[/]")
        width, console.width = console.width, max(console.width, LEAST_WIDTH)
        console.print(_gaps(found), "", _groups(found), "")
        console.width = width
        for line in _notes(found):
            console.print(f"[dim]{escape(line)}[/]")


def conclude(console: Console, diagnoses: Sequence[Diagnosis]) -> None:
    """Print the conclusions and what they are about; they are what is read last."""
    if not diagnoses:
        console.print("There is nothing to compare: no probe names a group.")
        return
    for sentence in sentences(diagnoses):
        console.print(f"• {escape(sentence)}")
    first = diagnoses[0]
    console.print(
        f"[dim]Family of {first['family']} comparisons, Holm-corrected, level {first['alpha']:g}."
        f" About {escape(first['claim'])}.[/dim]"
    )


def _notes(diagnoses: Sequence[Diagnosis]) -> Iterator[str]:
    """Say what concerns all groups of a dimension together."""
    for each in diagnoses:
        where = f"{each['feature']} by {each['dimension']}"
        apart = {one["metric"]: one for one in each.get("disparities") or ()}
        if (spread := apart.get("Max-Min")) and spread.get("value") is not None:
            chance = number(spread.get("null_median"))
            yield (
                f"{where}: the groups span {number(spread['value'])}; random labels span {chance}"
                f" half of the time, p = {number(spread.get('p_value'), 2)}."
            )
        yield from beside(each)
        yield from instrument_gaps(each)
        absent = each.get("missing") or {}
        if absent.get("p_value") is not None:
            said = number(absent["p_value"], 2)
            yield f"{where}: missing answers alike in all groups? p = {said} ({absent['method']})."


def beside(diagnosis: Diagnosis) -> Iterator[str]:
    """Say what stands beside gaps that are about these prompts alone, and concludes nothing."""
    for gap in diagnosis["gaps"]:
        if by_set := gap.get("by_set"):
            yield (
                f"{diagnosis['feature']}, {gap['a']} - {gap['b']}: with sets as units"
                f" {interval(by_set)}, p = {number(gap.get('by_set_p'), 2)}; rank test over pooled"
                f" answers p = {number(gap.get('mann_whitney_p'), 2)} (the convention of hiring"
                " studies: it takes repeats as independent)."
            )


def instrument_gaps(diagnosis: Diagnosis) -> Iterator[str]:
    """Say what the extractor alone makes of the names, where it was calibrated."""
    for gap in diagnosis["gaps"]:
        if own := gap.get("instrument"):
            yield (
                f"{diagnosis['feature']}, {gap['a']} - {gap['b']}: of this, the extractor"
                f" {diagnosis['extractor']} makes {interval(own)} alone, on sentences that differ"
                " in the name and nothing else."
            )


def sentences(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Say each conclusion in words and numbers."""
    return [
        f"{_title(diagnosis)}: {gap['a']} against {gap['b']}, {diagnosis['feature']}:"
        f" {_conclusion(gap)}"
        for diagnosis in diagnoses
        for gap in diagnosis["gaps"]
    ]


def _title(diagnosis: Diagnosis) -> str:
    target, scaffold = str(diagnosis["target"]), diagnosis["scaffold"]
    return target + ("" if scaffold == "direct" else f", {scaffold}")


def _conclusion(gap: Mapping[str, Any]) -> str:
    found = interval(gap["gap"])
    if gap["verdict"] == "disparity":
        return f"a disparity of {found}, adjusted p = {number(gap['p_adjusted'])}."
    if gap["verdict"] == "no_disparity":
        return f"no disparity beyond the tolerance ({found})."
    return f"not enough evidence for a disparity ({found})."


def _gaps(diagnoses: Sequence[Diagnosis]) -> Table:
    ratios = any(gap.get("impact_ratio") for d in diagnoses for gap in d["gaps"])
    table = _table("feature", "groups", f"gap [{_level(diagnoses)}]", "p (Holm)")
    if ratios:
        table.add_column("impact ratio", no_wrap=True)
    table.add_column("verdict", min_width=10)
    for diagnosis in diagnoses:
        for gap in diagnosis["gaps"]:
            shown = [
                escape(diagnosis["feature"]),
                escape(f"{gap['a']} - {gap['b']}"),
                escape(_stacked(gap["gap"])),
                number(gap.get("p_adjusted"), digits=2),
            ]
            ratio = [escape(_stacked(gap["impact_ratio"] or {}))] if ratios else []
            table.add_row(*shown, *ratio, SAYS[gap["verdict"]])
    return table


def _groups(diagnoses: Sequence[Diagnosis]) -> Table:
    rates = any(group.get("selection_rate") for d in diagnoses for group in d["groups"])
    level = _level(diagnoses)
    table = _table("feature", "group", "prompts", "answers", "missing", f"mean [{level}]")
    if rates:
        table.add_column(escape(f"selected [{level}]"), no_wrap=True)
    for diagnosis in diagnoses:
        for group in diagnosis["groups"]:
            shown = [
                escape(diagnosis["feature"]),
                escape(f"{diagnosis['dimension']} {group['group']}"),
                str(group["units"]),
                str(group["responses"]),
                escape(_missing(group)),
                escape(_stacked(group["mean"])),
            ]
            rate = [escape(_stacked(group["selection_rate"] or {}))] if rates else []
            table.add_row(*shown, *rate)
    return table


def _missing(group: Mapping[str, Any]) -> str:
    reasons = ", ".join(f"{n} {why}" for why, n in group["missing_reasons"].items())
    return f"{group['missing']}" + (f" ({reasons})" if reasons else "")


def _level(diagnoses: Sequence[Diagnosis]) -> str:
    return f"{100 * (1 - diagnoses[0]['alpha']):g} %"


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="underline")
    for name in columns:
        table.add_column(escape(name), overflow="fold", no_wrap="[" in name or name == "groups")
    return table


def _stacked(estimate: Mapping[str, Any]) -> str:
    """Write an estimate for a table: its interval, or why there is none, below it."""
    value, _, bounds = interval(estimate).partition(" ")
    return "\n".join([value, *wrap(bounds, REASON_WIDTH)])


def interval(estimate: Mapping[str, Any]) -> str:
    """Write an estimate with its interval, or why it has none."""
    value = number(estimate.get("value"))
    if estimate.get("low") is None:
        return f"{value} [{estimate.get('reason') or 'no interval'}]"
    return f"{value} [{number(estimate['low'])}, {number(estimate['high'])}]"


def number(value: float | None, digits: int = 3) -> str:
    """Write a number to three figures; what is undefined is a dash, never 0."""
    if value is None:
        return "-"
    return f"{0.0 if abs(value) < ROUNDING else value:.{digits}g}"
