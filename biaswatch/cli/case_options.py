"""The options with which a verb takes cases from a file, or four counts."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shared.errors import UsageError

if TYPE_CHECKING:
    from biaswatch.readers.cases import Cases
    from shared.stats.estimate import IntervalEstimate

COUNTS = 4

# Words, not numbers: what is no number is then said in our sentence, and a negative count is not
# taken for an option.
Given = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE | A B C D",
        help="A CSV, Parquet or JSONL file of cases; or counts: group 1 with and without the"
        " outcome, then group 2 with and without it.",
    ),
]
Group = Annotated[str | None, typer.Option(help="The column that says whose case it is.")]
Groups = Annotated[str | None, typer.Option(help="The two groups compared: FIRST,SECOND.")]
Outcome = Annotated[str | None, typer.Option(help="COLUMN=VALUE, or COLUMN>=NUMBER (> <= <).")]
Where = Annotated[
    list[str] | None, typer.Option(help="Only rows with COLUMN=VALUE, COLUMN=A|B, ...")
]
Strata = Annotated[str | None, typer.Option(help="A column within which to compare as well.")]
Adjust = Annotated[list[str] | None, typer.Option(help="A covariate of a logistic regression.")]


def cases_given(
    verb: str,
    given: list[str],
    *,
    group: str | None,
    groups: str | None,
    outcome: str | None,
    where: list[str] | None,
    strata: str | None,
    adjust: list[str] | None,
    alpha: float,
) -> "Cases":
    """Return the cases of a file, or those four counts are.

    Raises
    ------
    UsageError
        Something is missing or does not fit; the sentence says what to write.
    """
    from biaswatch.readers.cases import Cases, CasesQuestion, cases_of
    from biaswatch.readers.row_filters import row_filter

    if unknown := [word for word in given if word.startswith("--")]:
        raise UsageError(f"There is no option {unknown[0]}: see `biaswatch {verb} --help`.")
    if len(given) == 1 and not given[0].lstrip("-").isdigit():
        if not (group and groups and outcome):
            raise UsageError("Cases in a file need --group, --groups and --outcome.")
        asked = CasesQuestion(
            group=group,
            groups=_two(groups),
            outcome=row_filter(outcome),
            where=[row_filter(each) for each in where or ()],
            strata=strata,
            adjust=adjust or (),
            alpha=alpha,
        )
        return cases_of(Path(given[0]), asked)
    if strata or adjust or where or group:
        raise UsageError("Four counts take no --group, --where, --strata or --adjust: give a file.")
    named = _two(groups) if groups else ("group 1", "group 2")
    said = outcome or "the outcome"
    return Cases(counts=_four(given), groups=named, outcome=said, value=said)


def more_of(cases: "Cases") -> dict[str, Any]:
    """Return what a file's cases say beyond their four counts, as JSON."""
    strata = asdict(cases.strata) if cases.strata else None
    return {
        "counts": list(cases.counts),
        "groups": list(cases.groups),
        "outcome": cases.value,
        "stratified": strata,
        "strata": {name: list(counts) for name, counts in cases.by_stratum.items()},
        "adjusted_odds_ratio": _adjusted(cases.adjusted, cases),
        "notes": list(cases.notes),
    }


def _adjusted(found: "IntervalEstimate | None", cases: "Cases") -> dict[str, Any] | None:
    return {**asdict(found), "for": list(cases.adjusted_for)} if found else None


def _two(written: str) -> tuple[str, str]:
    names = [name.strip() for name in written.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise UsageError(f"--groups is {written!r}, but has to name two groups: FIRST,SECOND.")
    return names[0], names[1]


def _four(counts: list[str]) -> tuple[int, int, int, int]:
    if len(counts) != COUNTS:
        raise UsageError(f"A table takes four counts A B C D, but {len(counts)} were given.")
    a, b, c, d = (whole(name, word) for name, word in zip("ABCD", counts, strict=True))
    return a, b, c, d


def whole(name: str, word: str) -> int:
    """Read a whole number."""
    try:
        return int(word)
    except ValueError:
        raise UsageError(f"{name} is {word!r}, but has to be a whole number.") from None
