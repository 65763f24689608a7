"""The verb `table`: what a 2x2 table of counts says, without a run."""

import json
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from biaswatch.findings import number
from shared.errors import UsageError

COUNTS = 4

MEASURES = {
    "odds_ratio": "odds ratio",
    "odds_ratio_conditional": "odds ratio, conditional",
    "relative_risk": "relative risk",
    "risk_difference": "risk difference",
    "impact_ratio": "impact ratio",
}

# Words, not numbers: what is no number is then said in our sentence, and a negative count is not
# taken for an option.
Counts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="A B C D",
        help="Counts: group 1 with and without the outcome, then group 2 with and without it.",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the verb to the command line."""
    app.command("table", context_settings={"ignore_unknown_options": True})(table)


def table(
    counts: Counts = None,
    yates: Annotated[
        bool, typer.Option("--yates", help="Correct chi-square for continuity.")
    ] = False,
    alpha: Annotated[str, typer.Option(help="1 minus the coverage of the intervals.")] = "0.05",
    min_cases: Annotated[str, typer.Option(help="Warn of groups with fewer cases.")] = "15",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Show odds ratio, relative risk, impact ratio and tests of a 2x2 table of counts."""
    from shared.stats.tables.two_by_two import as_json as to_json
    from shared.stats.tables.two_by_two import two_by_two

    cells = _four(counts or [])
    level = _level(alpha)
    try:
        found = two_by_two(
            *cells, alpha=level, yates=yates, min_cases=_whole("--min-cases", min_cases)
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    if as_json:
        typer.echo(json.dumps(to_json(found), indent=2, allow_nan=False))
        return
    _print(to_json(found), level)


def _four(counts: list[str]) -> tuple[int, int, int, int]:
    if unknown := [word for word in counts if word.startswith("--")]:
        raise UsageError(f"There is no option {unknown[0]}: see `biaswatch table --help`.")
    if len(counts) != COUNTS:
        raise UsageError(f"A table takes four counts A B C D, but {len(counts)} were given.")
    a, b, c, d = (_whole(name, word) for name, word in zip("ABCD", counts, strict=True))
    return a, b, c, d


def _whole(name: str, word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise UsageError(f"{name} is {word!r}, but has to be a whole number.") from None


def _level(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        raise UsageError(f"--alpha is {word!r}, but has to be a number.") from None


def _print(found: Mapping[str, Any], alpha: float) -> None:
    console = Console()
    interval = f"{100 * (1 - alpha):g} % interval"
    measures = _table(f"{found['n']} cases", ("measure", "estimate", interval, "how"))
    for measure in _measures(found):
        measures.add_row(*measure)
    tests = _table("Independence", ("test", "p", "about"))
    for test in _tests(found):
        tests.add_row(*test)
    console.print(measures)
    console.print(tests)
    for sentence in found["warnings"]:
        console.print(f"• {escape(sentence)}")


def _measures(found: Mapping[str, Any]) -> Iterator[tuple[str, str, str, str]]:
    for group, rate in enumerate(found["rates"], start=1):
        yield _measure(f"rate of group {group}", rate)
    for key, name in MEASURES.items():
        yield _measure(name, found[key])


def _measure(name: str, estimate: Mapping[str, Any]) -> tuple[str, str, str, str]:
    bounds = estimate["ci"]
    how = estimate["reason"] or estimate.get("method", "")
    interval = "-"
    if bounds:
        high = "∞" if bounds[1] is None else number(bounds[1])
        interval = f"{number(bounds[0])} to {high}"
    return name, number(estimate["estimate"]), interval, escape(how)


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
    for key, (name, p_value, said) in rows.items():
        counts = " (counts)" if key == found["declared"]["test"] else ""
        yield name + counts, number(p_value), escape(said or "")


def _table(title: str, columns: tuple[str, ...]) -> Table:
    shown = Table(title=title, title_justify="left", box=SIMPLE, pad_edge=False)
    for name in columns:
        shown.add_column(name, overflow="fold")
    return shown
