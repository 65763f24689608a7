"""The verb `table`: what a 2x2 table of counts says, without a run."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from biaswatch.cli.options import (
    Adjust,
    Given,
    Group,
    Groups,
    Json,
    Outcome,
    Strata,
    Where,
    cases_given,
    more_of,
    whole,
)
from biaswatch.render.table_rows import conclusion_of
from biaswatch.render.terminal import escape, print_sentence, print_table, without_zero_p
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import coverage, number, p_equals, p_value
from biaswatch.shared.presentation.tables import estimate_text

if TYPE_CHECKING:
    from biaswatch.readers.cases import Cases
    from biaswatch.shared.stats.tables.contingency import RatioAgreement

MEASURES = {
    "odds_ratio": "odds ratio",
    "odds_ratio_conditional": "odds ratio, conditional",
    "relative_risk": "relative risk",
    "risk_difference": "risk difference",
    "impact_ratio": "impact ratio",
}


def table(
    given: Given = None,
    group: Group = None,
    groups: Groups = None,
    outcome: Outcome = None,
    where: Where = None,
    strata: Strata = None,
    adjust: Adjust = None,
    yates: Annotated[
        bool, typer.Option("--yates", help="Correct chi-square for continuity.")
    ] = False,
    alpha: Annotated[str, typer.Option(help="1 minus the coverage of the intervals.")] = "0.05",
    min_cases: Annotated[str, typer.Option(help="Warn of groups with fewer cases.")] = "15",
    as_json: Json = False,
) -> None:
    """Show odds ratio, relative risk, impact ratio and tests of a 2x2 table, or of a file."""
    from biaswatch.shared.stats.tables.contingency import ratio_agreement
    from biaswatch.shared.stats.tables.two_by_two import as_json as to_json
    from biaswatch.shared.stats.tables.two_by_two import two_by_two

    try:
        level = float(alpha)
    except ValueError:
        raise UsageError(f"--alpha is {alpha!r}, but has to be a number.") from None
    try:
        cases = cases_given(
            "table", given or [], group=group, groups=groups, outcome=outcome, where=where,
            strata=strata, adjust=adjust, alpha=level,
        )  # fmt: skip
        found = two_by_two(
            *cases.counts, alpha=level, yates=yates, min_cases=whole("--min-cases", min_cases)
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    alike = ratio_agreement(found.odds_ratio, found.relative_risk)
    result = {
        **_named(to_json(found), cases.groups), **more_of(cases), "similarity": asdict(alike),
    }  # fmt: skip
    verdict, conclusion = conclusion_of(result, level)
    result |= {"verdict": verdict, "conclusion": conclusion}
    if as_json:
        typer.echo(json.dumps(without_zero_p(result), indent=2, allow_nan=False))
    else:
        _print(result, level, (*_more(cases, alike), conclusion))


def _named(found: Any, groups: Sequence[str]) -> Any:
    """Return statistics whose sentences call the two groups by their names."""
    if isinstance(found, dict):
        return {key: _named(each, groups) for key, each in found.items()}
    if isinstance(found, list):
        return [_named(each, groups) for each in found]
    if isinstance(found, str):
        return re.sub(r"\b[gG]roup ([12])\b", lambda one: groups[int(one[1]) - 1], found)
    return found


def _print(found: Mapping[str, Any], alpha: float, more: Iterable[str]) -> None:
    console = Console()
    covered = f"{coverage(alpha)} interval"
    measures = _table(f"{found['n']} cases", ("measure", "estimate", covered, "how"))
    for group, rate in zip(found["groups"], found["rates"], strict=True):
        measures.add_row(*_measure(f"rate of {escape(group)}", rate))
    for key, name in MEASURES.items():
        measures.add_row(*_measure(name, found[key]))
    tests = _table("Independence", ("test", "p", "about"))
    for test in _tests(found):
        tests.add_row(*test)
    print_table(console, measures)
    print_table(console, tests)
    for sentence in (*found["notes"], *found["warnings"], *more):
        print_sentence(console, sentence, bullet="• ")


def _more(cases: "Cases", alike: "RatioAgreement") -> Iterator[str]:
    """Return what strata and covariates add, and how alike the two ratios are."""
    if within := cases.strata:
        yield (
            f"Within {within.strata} strata the odds ratio is {estimate_text(within.odds_ratio)}"
            f" (Mantel-Haenszel), {p_equals(within.cmh.p_value, 3)} (CMH); alike in all strata?"
            f" {p_equals(within.tarone.p_value, 3)} (Breslow-Day, Tarone)."
        )
        if within.note:
            yield within.note
    if cases.adjusted:
        held = ", ".join(cases.adjusted_for)
        yield f"With {held} held equal the odds ratio is {estimate_text(cases.adjusted)}."
    if alike.says:
        yield f"Odds ratio and relative risk: {alike.says} ({number(alike.ratio)})."


def _measure(name: str, estimate: Mapping[str, Any]) -> tuple[str, str, str, str]:
    bounds = estimate["ci"]
    how = estimate["reason"] or estimate.get("method", "")
    reach = "-"
    if bounds:
        high = "∞" if bounds[1] is None else number(bounds[1])
        reach = f"{number(bounds[0])} to {high}"
    return name, number(estimate["estimate"]), reach, escape(how)


def _tests(found: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    chi2 = found["chi_square"]
    about = chi2["reason"] or (
        f"statistic {number(chi2['statistic'])}, {chi2['dof']} degree of freedom,"
        f" {'with' if chi2['yates'] else 'without'} Yates, least expected"
        f" {number(chi2['min_expected'])}"
    )
    rows = {
        "chi_square": ("chi-square", chi2["p_value"], about),
        "fisher": ("Fisher, exact", found["fisher"]["p_value"], found["fisher"]["reason"]),
        "boschloo": ("Boschloo, exact", found["boschloo"]["p_value"], found["boschloo"]["reason"]),
    }
    for key, (name, p, said) in rows.items():
        counts = " (counts)" if key == found["declared"]["test"] else ""
        yield name + counts, p_value(p, 3), escape(said or "")


def _table(title: str, columns: tuple[str, ...]) -> Table:
    shown = Table(title=title, title_justify="left", box=SIMPLE, pad_edge=False)
    for name in columns:
        shown.add_column(name, overflow="fold", no_wrap=name not in {"how", "about"})
    return shown
