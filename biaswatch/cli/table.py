"""The verb `table`: statistics of a 2x2 table of counts, or of cases in a file."""

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from biaswatch.cli.options import Json, VerbRequest
from biaswatch.cli.requests import with_options_of
from biaswatch.render.table_rows import conclusion_of
from biaswatch.render.terminal import escape, print_sentence, print_table, without_zero_p
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import coverage, number, p_equals, p_value
from biaswatch.shared.presentation.tables import estimate_text

if TYPE_CHECKING:
    from biaswatch.readers.cases import Cases
    from biaswatch.shared.stats.tables.contingency import RatioAgreement

COUNTS = 4
ABOUT_THE_GAP = (
    "The verdict is about the gap: four counts have no twins and no random factors, so the"
    " questions about twins and the group are not answered."
)
MEASURES = {
    "odds_ratio": "odds ratio",
    "odds_ratio_conditional": "odds ratio, conditional",
    "relative_risk": "relative risk",
    "risk_difference": "risk difference",
    "impact_ratio": "impact ratio",
}


# Text, not numbers: errors about counts are then our own, and a negative count is not an option.
Counts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE | A B C D",
        help="A CSV, Excel, Parquet or JSON file of cases; or counts: group 1 with and without the"
        " outcome, then group 2 with and without it.",
    ),
]


class CasesVerb(VerbRequest):
    """The fields of verbs about cases in a file, or four counts of them."""

    group: str | None = None
    """The column of groups."""
    groups: str | None = None
    """The two groups to compare: FIRST,SECOND."""
    outcome: str | None = None
    """COLUMN=VALUE, or COLUMN>=NUMBER (> <= <)."""
    where: tuple[str, ...] = ()
    """Only rows with COLUMN=VALUE, COLUMN=A|B, ...; may be repeated."""
    strata: str | None = None
    """A column within which to compare as well."""
    adjust: tuple[str, ...] = ()
    """A covariate of a logistic regression; may be repeated."""

    def cases(self, verb: str, words: list[str], alpha: float = 0.05) -> "Cases":
        """Return the cases of a file, or of four counts.

        Raises
        ------
        UsageError
            Arguments are missing or do not fit; the message names the remedy.
        """
        from biaswatch.readers.cases import Cases, CasesQuestion, count_cases, row_filter

        if unknown := [word for word in words if word.startswith("--")]:
            raise UsageError(f"There is no option {unknown[0]}: see `biaswatch {verb} --help`.")
        if len(words) == 1 and not words[0].lstrip("-").isdigit():
            if not Path(words[0]).exists():
                raise UsageError(
                    f"There is no file {words[0]}: name a file of cases, or four counts A B C D."
                )
            if not (self.group and self.groups and self.outcome):
                raise UsageError("Cases in a file need --group, --groups and --outcome.")
            question = CasesQuestion(
                group=self.group,
                groups=_two(self.groups),
                outcome=row_filter(self.outcome),
                where=[row_filter(condition) for condition in self.where],
                strata=self.strata,
                adjust=self.adjust,
                alpha=alpha,
            )
            return count_cases(Path(words[0]), question)
        if self.strata or self.adjust or self.where or self.group:
            raise UsageError(
                "--group, --where, --strata and --adjust require a file instead of four counts."
            )
        if len(words) != COUNTS:
            raise UsageError(f"A table needs four counts A B C D, but got {len(words)}.")
        a, b, c, d = (_whole(name, word) for name, word in zip("ABCD", words, strict=True))
        names = _two(self.groups) if self.groups else ("group 1", "group 2")
        event = self.outcome or "the outcome"
        return Cases((a, b, c, d), names, event, event)


class TableVerb(CasesVerb):
    """The fields of `table`."""

    yates: bool = False
    """Correct chi-square for continuity."""
    alpha: float = 0.05
    """1 minus the coverage of the intervals."""
    min_cases: int = 15
    """Warn about groups with fewer cases."""


@with_options_of(
    TableVerb, "group", "groups", "outcome", "where", "strata", "adjust", "yates", "alpha",
    "min_cases",
)  # fmt: skip
def table(request: TableVerb, words: Counts = None, as_json: Json = False) -> None:
    """Show odds ratio, relative risk, impact ratio and tests of a 2x2 table, or of a file."""
    from biaswatch.shared.stats.tables.contingency import ratio_agreement
    from biaswatch.shared.stats.tables.two_by_two import as_json as to_json
    from biaswatch.shared.stats.tables.two_by_two import two_by_two

    alpha = request.alpha
    cases = request.cases("table", words or [], alpha)
    try:
        statistics = two_by_two(
            *cases.counts, alpha=alpha, yates=request.yates, min_cases=request.min_cases
        )
    except ValueError as error:
        raise UsageError(str(error)) from None
    agreement = ratio_agreement(statistics.odds_ratio, statistics.relative_risk)
    result = {
        **_named(to_json(statistics), cases.groups),
        **_case_fields(cases),
        "similarity": asdict(agreement),
    }
    verdict, conclusion = conclusion_of(result, alpha)
    result |= {"verdict": verdict, "conclusion": conclusion}
    if as_json:
        typer.echo(json.dumps(without_zero_p(result), indent=2, allow_nan=False))
    else:
        _print(result, alpha, (*_more(cases, agreement), conclusion, ABOUT_THE_GAP))


def _case_fields(cases: "Cases") -> dict[str, Any]:
    """Return the JSON fields of cases, in addition to the four counts."""
    adjusted = cases.adjusted and {**asdict(cases.adjusted), "for": list(cases.adjusted_for)}
    return {
        "counts": list(cases.counts),
        "groups": list(cases.groups),
        "outcome": cases.value,
        "stratified": asdict(cases.strata) if cases.strata else None,
        "strata": {name: list(counts) for name, counts in cases.by_stratum.items()},
        "adjusted_odds_ratio": adjusted,
        "notes": list(cases.notes),
    }


def _two(text: str) -> tuple[str, str]:
    """Return two labels; one that holds a comma is written in double quotes, as in CSV."""
    if any(ord(char) < ord(" ") for char in text):
        raise UsageError("--groups holds a line break or another control character.")
    [names] = csv.reader([text], skipinitialspace=True) if text else [[]]
    names = [name.strip() for name in names]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise UsageError(f"--groups must name two groups, FIRST,SECOND, not {text!r}.")
    return names[0], names[1]


def _whole(name: str, word: str) -> int:
    try:
        return int(word)
    except ValueError:
        raise UsageError(f"{name} must be a whole number, not {word!r}.") from None


def _named(value: Any, groups: Sequence[str]) -> Any:
    """Replace `group 1` and `group 2` in sentences by the names of the groups."""
    if isinstance(value, dict):
        return {key: _named(item, groups) for key, item in value.items()}
    if isinstance(value, list):
        return [_named(item, groups) for item in value]
    if isinstance(value, str):
        return re.sub(r"\b[gG]roup ([12])\b", lambda match: groups[int(match[1]) - 1], value)
    return value


def _print(result: Mapping[str, Any], alpha: float, more: Iterable[str]) -> None:
    console = Console()
    covered = f"{coverage(alpha)} interval"
    title = f"{result['n']} cases, outcome: {escape(str(result['outcome']))}"
    measures = _table(title, ("measure", "estimate", covered, "how"))
    for group, rate in zip(result["groups"], result["rates"], strict=True):
        measures.add_row(*_measure(f"rate of {escape(group)}", rate))
    for key, name in MEASURES.items():
        measures.add_row(*_measure(name, result[key]))
    tests = _table("Independence", ("test", "p", "about"))
    for test in _tests(result):
        tests.add_row(*test)
    print_table(console, measures)
    print_table(console, tests)
    for sentence in (*result["notes"], *result["warnings"], *more):
        print_sentence(console, sentence, bullet="• ")


def _more(cases: "Cases", agreement: "RatioAgreement") -> Iterator[str]:
    """Yield sentences on strata, covariates and the agreement of the two ratios."""
    if within := cases.strata:
        yield (
            f"Within {within.strata} strata the odds ratio is {estimate_text(within.odds_ratio)}"
            f" (Mantel-Haenszel), {p_equals(within.cmh.p_value, 3)} (CMH); equal odds ratios"
            f" {p_equals(within.tarone.p_value, 3)} (Breslow-Day, Tarone)."
        )
        if within.note:
            yield within.note
    if cases.adjusted:
        names = ", ".join(cases.adjusted_for)
        yield f"Adjusted for {names}, the odds ratio is {estimate_text(cases.adjusted)}."
    if agreement.says:
        yield f"Odds ratio and relative risk: {agreement.says} ({number(agreement.ratio)})."


def _measure(name: str, estimate: Mapping[str, Any]) -> tuple[str, str, str, str]:
    bounds = estimate["ci"]
    how = estimate["reason"] or estimate.get("method", "")
    reach = "-"
    if bounds:
        high = "∞" if bounds[1] is None else number(bounds[1])
        reach = f"{number(bounds[0])} to {high}"
    return name, number(estimate["estimate"]), reach, escape(how)


def _tests(result: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    chi2 = result["chi_square"]
    about = chi2["reason"] or (
        f"statistic {number(chi2['statistic'])}, {chi2['dof']} degree of freedom,"
        f" {'with' if chi2['yates'] else 'without'} Yates, least expected"
        f" {number(chi2['min_expected'])}"
    )
    rows = {
        "chi_square": ("chi-square", chi2["p_value"], about),
        "fisher": ("Fisher, exact", result["fisher"]["p_value"], result["fisher"]["reason"]),
        "boschloo": (
            "Boschloo, exact",
            result["boschloo"]["p_value"],
            result["boschloo"]["reason"],
        ),
    }
    for key, (name, p, note) in rows.items():
        counts = " (counts)" if key == result["declared"]["test"] else ""
        yield name + counts, p_value(p, 3), escape(note or "")


def _table(title: str, columns: tuple[str, ...]) -> Table:
    shown = Table(title=title, title_justify="left", box=SIMPLE, pad_edge=False)
    for name in columns:
        shown.add_column(name, overflow="fold", no_wrap=name not in {"how", "about"})
    return shown
