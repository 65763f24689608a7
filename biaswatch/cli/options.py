"""Options that several verbs share: the gateway, JSON, `--fail-on`, and cases or counts."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biaswatch.importing.formats import LogFormat
from biaswatch.shared.errors import UsageError

if TYPE_CHECKING:
    from biaswatch.checks import CheckedComparison, CheckRule
    from biaswatch.readers.cases import Cases


def is_there(ctx: typer.Context, path: Path) -> Path:
    """Refuse a file that is not there, before anything is said of what is missing beside it."""
    if not ctx.resilient_parsing and not path.exists():
        raise UsageError(f"There is no file {path}.")
    return path


SuiteFile = Annotated[
    Path,
    typer.Argument(
        help="A suite: a YAML or JSON file, or its folder.", callback=is_there, is_eager=True
    ),
]
Server = Annotated[str | None, typer.Option(help="A gateway elsewhere, instead of this machine.")]
Token = Annotated[str | None, typer.Option(envvar="BIASWATCH_TOKEN", help="The gateway's token.")]
Everything = Annotated[
    bool, typer.Option("--all", help="Every comparison, not only those that say the most.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Ranges = Annotated[
    list[str] | None,
    typer.Option(
        "--range",
        metavar="FEATURE=LOW:HIGH",
        help="The least and the largest value there can be, or `unknown`; may be repeated.",
    ),
]
FormatOption = Annotated[
    LogFormat | None,
    typer.Option("--format", help="What the file is; else it is seen from its first row."),
]
MapOption = Annotated[
    Path | None,
    typer.Option("--map", help="A YAML file that says which field is what (docs/importing.md)."),
]
OnlyTargets = Annotated[
    list[str] | None, typer.Option("--target", help="Of a run, only this target; may be repeated.")
]
OnlyScaffolds = Annotated[
    list[str] | None,
    typer.Option("--scaffold", help="Of a run, only this scaffold; may be repeated."),
]

FOUND_CODE = 1
ANY = "disparity"

FailOn = Annotated[
    str | None,
    typer.Option(
        "--fail-on",
        help="End with 1 at a disparity (`disparity`, or the least gap that counts), and with 3"
        " where too little was measured.",
    ),
]
MinMeasured = Annotated[
    float | None,
    typer.Option(
        "--min-measured",
        metavar="SHARE",
        help="For --fail-on: end with 3 where less of a group's answers gave a number.",
        show_default="0.8",
    ),
]
PairJudges = Annotated[
    list[str] | None,
    typer.Option(
        "--judge", help="Who judges pairs: provider:model, `self` (the default) or `none`."
    ),
]
Controls = Annotated[
    bool,
    typer.Option(
        "--controls/--no-controls", help="Have judges grade texts whose grade is known, too."
    ),
]
CountFailed = Annotated[
    bool,
    typer.Option(
        "--count-failed-judges", help="Count the votes of judges that grade those wrongly."
    ),
]


def moment_of(written: str) -> datetime:
    """Read a date or a moment, in UTC unless it names its zone.

    Raises
    ------
    UsageError
        It is neither.
    """
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise UsageError(
            f"The date {written!r} cannot be read. Write it as 2026-01-31 or 2026-01-31T12:00:00Z."
        ) from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def check_rule(
    fail_on: str | None, min_measured: float | None, *, any_size: str = ANY
) -> "CheckRule | None":
    """Read the options of a gate; None where none was asked for.

    Raises
    ------
    UsageError
        `--fail-on` is neither the word for any size nor a size, or the share is no share.
    """
    from biaswatch.checks import CHANGED, CheckRule

    if fail_on is None:
        if min_measured is not None:
            raise UsageError("--min-measured is for a gate: add --fail-on.")
        return None
    rule = CheckRule(least_size=0.0 if fail_on == any_size else _size(fail_on, any_size))
    if any_size != ANY:
        rule = replace(rule, verdict=CHANGED)
    if min_measured is None:
        return rule
    if not 0 <= min_measured <= 1:
        raise UsageError(f"--min-measured is {min_measured:g}; write a share between 0 and 1.")
    return replace(rule, least_share=min_measured)


def _size(written: str, any_size: str) -> float:
    try:
        size = float(written)
    except ValueError:
        size = -1.0
    if not (isfinite(size) and size >= 0):
        raise UsageError(f"--fail-on is {written!r}; write `{any_size}`, or a size of 0 or more.")
    return size


def end_check(
    compared: "Sequence[CheckedComparison]", rule: "CheckRule | None", incomplete: str | None = None
) -> None:
    """Say how the gate ends and why; end with 1 at a finding, with 3 where it is not measured."""
    if rule is None:
        return
    from biaswatch.checks import check_result
    from biaswatch.render.terminal import printable

    result = check_result(compared, rule, incomplete)
    typer.echo(printable(result.sentence), err=True)
    if result.code:
        raise typer.Exit(result.code)


COUNTS = 4

# Words, not numbers: what is no number is then said in our sentence, and a negative count is not
# taken for an option.
Given = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE | A B C D",
        help="A CSV, Parquet or JSON file of cases; or counts: group 1 with and without the"
        " outcome, then group 2 with and without it.",
    ),
]
Group = Annotated[str | None, typer.Option(help="The column that says whose case it is.")]
Groups = Annotated[str | None, typer.Option(help="The two groups compared: FIRST,SECOND.")]
Outcome = Annotated[str | None, typer.Option(help="COLUMN=VALUE, or COLUMN>=NUMBER (> <= <).")]
Where = Annotated[
    list[str] | None,
    typer.Option(metavar="FILTER", help="Only rows with COLUMN=VALUE, COLUMN=A|B, ..."),
]
Strata = Annotated[str | None, typer.Option(help="A column within which to compare as well.")]
Adjust = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="A covariate of a logistic regression.")
]


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
    from biaswatch.readers.cases import Cases, CasesQuestion, cases_of, row_filter

    if unknown := [word for word in given if word.startswith("--")]:
        raise UsageError(f"There is no option {unknown[0]}: see `biaswatch {verb} --help`.")
    if len(given) == 1 and not given[0].lstrip("-").isdigit():
        if not Path(given[0]).exists():
            raise UsageError(
                f"There is no file {given[0]}: name one of cases, or write four counts A B C D."
            )
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
    if len(given) != COUNTS:
        raise UsageError(f"A table takes four counts A B C D, but {len(given)} were given.")
    a, b, c, d = (whole(name, word) for name, word in zip("ABCD", given, strict=True))
    named = _two(groups) if groups else ("group 1", "group 2")
    event = outcome or "the outcome"
    return Cases((a, b, c, d), named, event, event)


def more_of(cases: "Cases") -> dict[str, Any]:
    """Return what a file's cases say beyond their four counts, as JSON."""
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


def _two(written: str) -> tuple[str, str]:
    names = [name.strip() for name in written.split(",")]
    if len(names) != 2 or not all(names) or names[0] == names[1]:
        raise UsageError(f"--groups is {written!r}, but has to name two groups: FIRST,SECOND.")
    return names[0], names[1]


def whole(name: str, word: str) -> int:
    """Read a whole number."""
    try:
        return int(word)
    except ValueError:
        raise UsageError(f"{name} is {word!r}, but has to be a whole number.") from None
