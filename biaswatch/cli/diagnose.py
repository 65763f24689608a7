"""The verbs `diagnose` and `compare`: statistics of a run or a table, and changes between two."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import Field

from biaswatch.cli.options import CHANGE, CheckRequest, Json, end_check, gateway
from biaswatch.cli.requests import with_options_of
from biaswatch.shared.contracts import Claim
from biaswatch.shared.conventions.rows import LogFormat
from biaswatch.shared.errors import UsageError
from biaswatch.shared.requests.diagnoses import DiagnoseRequest, Names, Ranges

if TYPE_CHECKING:
    from biaswatch.checks import CheckRule
    from biaswatch.diagnosis.comparison import ComparisonInput
    from biaswatch.diagnosis.diagnosis import DiagnosisResult
    from biaswatch.diagnosis.sources import DiagnosisInput
    from biaswatch.readers.tables import TableColumns
    from biaswatch.render.table_rows import Row
    from biaswatch.shared.analysis.changes.run_changes import RunChanges


class DiagnoseVerb(CheckRequest, DiagnoseRequest):
    """The fields of `diagnose`."""

    extract: tuple[str, ...] = ()
    """Measure the answers of a log with these extractors: sentiment,refusal."""
    format: LogFormat | None = None
    """otlp, openai, openai-batch, langfuse, openinference, jsonl, csv or parquet; by default the
    format of the log's first row."""
    map: Path | None = None
    """A YAML file that names the fields of the log (docs/importing.md)."""
    output: Path | None = None
    """Write a .csv, .parquet or .xlsx file, or a picture of the gaps (.png, .svg)."""
    plot: Path | None = None
    """Draw the gaps as a .png or .svg file."""
    all: bool = False
    """Every comparison and every statistic by group."""
    cases: int | None = Field(default=None, ge=1)
    """This many sets (or units) with the largest differences, for each feature; files have all."""


@with_options_of(
    DiagnoseVerb, "group", "feature", "unit", "set", "random", "extract", "fail_on", "all",
    ranges="--range", output="-o", hidden=("cases", "format", "map", "truth", "plot"),
)  # fmt: skip
def diagnose(
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE | RUN | LOG",
            help="A CSV, Excel, Parquet or JSON file; a folder or s3:// of Parquet; or a run.",
        ),
    ],
    request: DiagnoseVerb,
    as_json: Json = False,
) -> None:
    """Show statistics by group, disparities and corrected comparisons of a run or a table."""
    from biaswatch.diagnosis.cases import check_cases, strongest_cases
    from biaswatch.render.written_tables import check_table_file

    rule = request.rule()
    files = [path for path in (request.output, request.plot) if path is not None]
    for path in files:
        check_table_file(path, pictures=True)
    check_source(source)
    data = source_input(source, request)
    if request.cases:
        check_cases(data)
    result = _with_progress(data, request, rule)
    cases = {"cases": strongest_cases(result, request.cases)} if request.cases else {}
    if files:
        _write(result, files, request)
    if as_json:
        document = {**result.parts, **cases, "about": result.about, "warnings": result.warnings}
        typer.echo(json.dumps(document, indent=2, allow_nan=False))
    else:
        _print(data, result, cases.get("cases", []), everything=request.all)
    end_check(result.checked, rule)


def _write(result: "DiagnosisResult", files: Sequence[Path], request: DiagnoseVerb) -> None:
    """Write the result into files; with cases, those behind every comparison."""
    from biaswatch.diagnosis.cases import cases_behind
    from biaswatch.render.written_tables import write_diagnosis

    parts = result.parts
    if request.cases:
        parts = parts | {"cases": cases_behind(result, result.comparisons)}
    for file in files:
        for path in write_diagnosis(parts, result.about, result.warnings, file, request.reference):
            typer.echo(f"Wrote {path}.", err=True)


def _print(
    data: "DiagnosisInput", result: "DiagnosisResult", cases: list["Row"], *, everything: bool
) -> None:
    """Print the result, what labels correct, and cases."""
    from rich.console import Console

    from biaswatch.render.gap_cases import print_cases
    from biaswatch.render.labels import print_table_corrections
    from biaswatch.render.table_diagnosis import print_tables

    print_tables(result.parts, result.about, result.warnings, everything=everything)
    data.print_corrections()
    if result.corrected:
        print_table_corrections(Console(emoji=False), result.corrected)
    print_cases(Console(emoji=False), cases, result.about)


def _with_progress(
    data: "DiagnosisInput", request: DiagnoseRequest, rule: "CheckRule | None"
) -> "DiagnosisResult":
    """Diagnose, with a bar on a terminal."""
    from rich.console import Console
    from rich.progress import Progress

    from biaswatch.diagnosis.diagnosis import diagnose_rows

    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("diagnosing")

        def show(part: str, done: int, total: int) -> None:
            bars.update(task, description=f"diagnosing {part}", completed=done, total=total)

        result = diagnose_rows(data, request, progress=show, rule=rule)
        _ = result.parts  # their null distributions take the time that the bar shows
        return result


def check_source(source: str) -> None:
    """Refuse a file that does not exist, before anything else about it."""
    from biaswatch.engines.parquet_tables import is_dataset
    from biaswatch.local.runs import may_name_run, neither_run_nor_file

    if not (may_name_run(source) or is_dataset(source) or Path(source).exists()):
        raise neither_run_nor_file(source)


def is_run(source: str) -> bool:
    """Return whether a source is the id of a run, and no file."""
    from biaswatch.local.runs import may_name_run

    return may_name_run(source) and not Path(source).exists()


def source_input(source: str, request: DiagnoseVerb) -> "DiagnosisInput":
    """Return the rows of a log that is measured now, of a run, or of a table."""
    from biaswatch.diagnosis.diagnosis import run_columns, table_columns
    from biaswatch.diagnosis.sources import run_input

    columns = table_columns(request)
    if request.extract or is_run(source):
        _check_of_answers(columns)
    if request.extract:
        from biaswatch.diagnosis.logs import log_input

        if request.baseline is not None:
            raise UsageError("A log of answers has no baselines: leave `baseline` out.")
        return log_input(
            Path(source), run_columns(request), request.extract, request.format, request.map
        )
    if request.format or request.map:
        raise UsageError("--format and --map are for the answers of a log: add --extract.")
    if is_run(source):
        if request.baseline is not None:
            raise UsageError("A run knows its baselines: set `calibrate`, without `baseline`.")
        return run_input(source, run_columns(request), gateway())
    return _table_input(source, request, columns)


def _check_of_answers(columns: "TableColumns") -> None:
    """Refuse columns that only a table has."""
    if columns.labels:
        raise UsageError("`labels` is for a table; answers of a run are labelled by `labels`.")
    if columns.texts:
        raise UsageError("`text` is for a table; the pages of a run show its answers.")
    if columns.truth:
        raise UsageError("--truth is for a table; the probes of a run have their right answers.")


def _table_input(source: str, request: DiagnoseVerb, columns: "TableColumns") -> "DiagnosisInput":
    from biaswatch.diagnosis.sources import table_input
    from biaswatch.engines.parquet_tables import is_dataset

    if request.target or request.scaffold or gateway().server:
        raise UsageError("`target`, `scaffold` and --server are for a run, not for a table.")
    if is_dataset(source):
        from biaswatch.diagnosis.large_tables import dataset_input

        return dataset_input(source, columns)
    return table_input(Path(source), columns)


class CompareVerb(CheckRequest):
    """The fields of `compare`."""

    group: Names = ()
    """Any field of the runs' probes; may be repeated."""
    feature: Names = ()
    """A feature of any extractor; may be repeated."""
    ranges: Ranges = Field(default={})
    """FEATURE=LOW:HIGH, the ends of its values, or FEATURE=unknown; may be repeated."""
    target: Names = ()
    """Only this target; may be repeated."""
    other_target: Names = ()
    """A different target for the second run."""
    scaffold: Names = ()
    """Only this scaffold."""
    other_scaffold: Names = ()
    """A different scaffold for the second run."""
    claim: Claim | None = None
    """Scope of the conclusions, `bank` or `population`; default the first run's."""
    tolerance: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """The largest change of a gap or a mean that does not matter; default the first run's."""
    missing_tolerance: float = Field(default=0.0, ge=0, allow_inf_nan=False)
    """The largest change of a share of missing answers that does not matter."""
    alpha: float | None = Field(default=None, gt=0, lt=1)
    """The probability that any change is reported between equal runs."""
    output: Path | None = None
    """Write the changes to a .csv, .parquet or .xlsx file."""
    all: bool = False
    """All changes, not only the most important ones."""
    fail_on: str | None = None
    """Exit code 1 for a change (`change`, or the smallest size that counts), 3 if too little was
    measured."""


@with_options_of(
    CompareVerb, "group", "feature", "target", "other_target", "tolerance", "claim", "all",
    "fail_on", ranges="--range", output="-o",
)  # fmt: skip
def compare(
    before: Annotated[str, typer.Argument(metavar="RUN", help="The run before.")],
    after: Annotated[str, typer.Argument(metavar="RUN", help="The run after.")],
    request: CompareVerb,
    as_json: Json = False,
) -> None:
    """Show what changed between two runs: gaps, means, shares of missing answers."""
    from biaswatch.checks import CHANGED, CheckRule, checked_changes, measurement_warnings
    from biaswatch.diagnosis.comparison import RunPart, comparison_input
    from biaswatch.render import run_changes
    from biaswatch.render.written_tables import check_table_file, write_frame

    rule = request.rule(CHANGE)
    check_table_file(request.output)
    parts = (
        RunPart(before, request.target, request.scaffold),
        RunPart(
            after,
            request.other_target or request.target,
            request.other_scaffold or request.scaffold,
        ),
    )
    runs = comparison_input(parts, request.group, request.feature, request.ranges, gateway())
    changes, about = _changes(runs, request)
    rows = run_changes.change_rows(changes)
    answer = run_changes.answer_of(rows, about)
    compared = checked_changes(rows)
    warnings = [*runs.warnings, *measurement_warnings(compared, rule or CheckRule(verdict=CHANGED))]
    if request.output:
        write_frame(rows, request.output)
        typer.echo(f"Wrote {request.output}.", err=True)
    if as_json:
        document = {"answer": answer, "changes": rows, "about": about, "warnings": warnings}
        typer.echo(json.dumps(document, indent=2, allow_nan=False))
    else:
        run_changes.print_changes(answer, rows, about, warnings, everything=request.all)
    end_check(compared, rule)


def _changes(runs: "ComparisonInput", request: CompareVerb) -> "tuple[RunChanges, dict[str, Any]]":
    """Return the changes between two runs, and how they were computed."""
    from biaswatch.shared.analysis.changes.matched_changes import compare_runs
    from biaswatch.shared.analysis.changes.run_changes import ChangePlan
    from biaswatch.shared.analysis.changes.unmatched_changes import compare_whole_runs
    from biaswatch.shared.analysis.findings.groupings import ComparisonPlan

    plan = ComparisonPlan(
        runs.alpha if request.alpha is None else request.alpha,
        runs.tolerance if request.tolerance is None else request.tolerance,
        claim=(runs.matched and request.claim) or runs.claim,
        against=runs.against,
    )
    declared = ChangePlan(plan, request.missing_tolerance)
    changes = (
        compare_runs(runs.matched, declared)
        if runs.matched
        else compare_whole_runs(runs.runs, declared)
    )
    return changes, {
        **runs.about,
        "claim": plan.claim.value,
        "alpha": plan.alpha,
        "tolerance": plan.tolerance,
        "missing_tolerance": request.missing_tolerance,
        "families": {"gaps": changes.gaps, "levels": changes.levels},
    }
