"""The verb `diagnose`: statistics of a run, or of a table in a file without bus and store."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from biaswatch.cli.options import (
    Everything,
    FailOn,
    FormatOption,
    Json,
    MapOption,
    MinMeasured,
    OnlyScaffolds,
    OnlyTargets,
    Ranges,
    Server,
    Token,
    check_rule,
    end_check,
)
from biaswatch.importing.formats import LogFormat
from biaswatch.shared.contracts import Against, Claim
from biaswatch.shared.errors import UsageError

if TYPE_CHECKING:
    from biaswatch.diagnosis.rows import DiagnosisOptions
    from biaswatch.diagnosis.sources import DiagnosisInput
    from biaswatch.readers.tables import TableColumns

ALWAYS = ("mean", "median", "standard_deviation", "sr_larger_sd_mean")
WITH_A_BASELINE = (
    "correlation_wrt_baseline_method_pearson",
    "kl_divergence_wrt_baseline_bin_10",
    "precision_wrt_baseline_tolerance_0.1",
)


def diagnose(
    source: Annotated[
        str,
        typer.Argument(
            metavar="TABLE | RUN | LOG",
            help="A CSV, Parquet or JSON file; a folder or s3:// of Parquet; a run; or answers.",
        ),
    ],
    group: Annotated[
        list[str] | None,
        typer.Option(help="A column of groups, or any field of a run's probes; may be repeated."),
    ] = None,
    feature: Annotated[
        list[str] | None, typer.Option(help="A column of numbers; may be repeated.")
    ] = None,
    baseline: Annotated[str | None, typer.Option(help="The column values are held to.")] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Diagnose value minus baseline value.")
    ] = False,
    unit: Annotated[str | None, typer.Option(help="The column that names the prompt.")] = None,
    domain: Annotated[
        list[str] | None, typer.Option(help="The column of domains; may be repeated.")
    ] = None,
    statistic: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    set_: Annotated[
        str | None, typer.Option("--set", help="The column of counterfactual sets.")
    ] = None,
    range_: Ranges = None,
    compared: Annotated[
        Against | None,
        typer.Option("--compare", help="Groups in pairs, or each with the rest; auto: up to six."),
    ] = None,
    claim: Annotated[
        Claim | None, typer.Option(help="What conclusions are about; a run's suite says so.")
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="The largest gap that does not matter.", show_default="0")
    ] = None,
    alpha: Annotated[
        float | None, typer.Option(help="1 minus the coverage of intervals.", show_default="0.05")
    ] = None,
    correction: Annotated[str, typer.Option(help="holm, bh, by or bonferroni.")] = "bonferroni",
    permutations: Annotated[
        int | None,
        typer.Option(
            help="Random relabellings; 0: none. If given, of each comparison as well.",
            show_default="1000",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    ddof: Annotated[int, typer.Option(help="0 as SAGED has it, or 1.")] = 0,
    labels: Annotated[
        list[str] | None,
        typer.Option(help="A table's column of what people said, or FEATURE=COLUMN; repeatable."),
    ] = None,
    probability: Annotated[
        str | None, typer.Option(help="The column of how probable each label was; else all alike.")
    ] = None,
    target: OnlyTargets = None,
    scaffold: OnlyScaffolds = None,
    extract: Annotated[
        list[str] | None,
        typer.Option(help="Measure the answers of a log with these: sentiment,refusal."),
    ] = None,
    format_: FormatOption = None,
    mapping: MapOption = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Write each part to a CSV or Parquet file.")
    ] = None,
    everything: Everything = False,
    fail_on: FailOn = None,
    min_measured: MinMeasured = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Show statistics by group, disparities and corrected comparisons of a run or a table."""
    from rich.console import Console

    from biaswatch.checks import CheckRule, checked_table, measurement_warnings, ungrouped
    from biaswatch.diagnosis.rows import DiagnosisOptions, corrected_rows, diagnosed_rows
    from biaswatch.diagnosis.sources import declared_ranges
    from biaswatch.readers.tables import TableColumns
    from biaswatch.render.labels import print_table_corrections
    from biaswatch.render.table_diagnosis import print_tables
    from biaswatch.render.table_rows import result_rows, write_rows
    from biaswatch.shared.presentation.correction_rows import table_correction_rows

    rule = check_rule(fail_on, min_measured)
    if (permutations or 0) < 0 or seed < 0:
        raise UsageError("--permutations and --seed have to be 0 or more.")
    check_levels(alpha, tolerance)
    ranges = declared_ranges(range_ or [])
    check_there(source)
    columns = _columns(
        TableColumns(group or [], feature or [], baseline, unit, domain or [], set_, ranges),
        labels or [], probability,
    )  # fmt: skip
    given = _given(
        source, columns, extract, format_, mapping, (target or [], scaffold or []), server, token
    )
    asked = DiagnosisOptions(
        statistic or [*ALWAYS, *(WITH_A_BASELINE if given.rows.baseline is not None else ())],
        given.alpha if alpha is None else alpha,
        given.tolerance if tolerance is None else tolerance,
        correction, permutations, seed, ddof, calibrate, claim or given.claim,
        compared or given.compared,
    )  # fmt: skip
    diagnosed = (
        given.summed.diagnosis(asked, named_statistics=bool(statistic))
        if given.summed
        else diagnosed_rows(given.rows, asked)
    )
    found = result_rows(diagnosed, given.unit) | given.corrected_parts
    corrected = corrected_rows(given, asked)
    if given.labelled:
        found["corrections"] = table_correction_rows(corrected)
    about = {**given.about, **_about(asked, found["comparisons"])}
    checked = checked_table(found["comparisons"])
    warnings = [*given.warnings, *measurement_warnings(checked, rule or CheckRule())]
    if output:
        for path in write_rows(found, output):
            typer.echo(f"Wrote {path}.", err=True)
    if as_json:
        said = {**found, "about": about, "warnings": warnings}
        typer.echo(json.dumps(said, indent=2, allow_nan=False))
    elif not output:
        print_tables(found, about, warnings, everything=everything)
        given.print_corrections()
        if corrected:
            print_table_corrections(Console(emoji=False), corrected)
    alone = ungrouped(found["summary"], found["comparisons"], group or ())
    end_check([*checked, *alone], rule)


def check_there(source: str) -> None:
    """Refuse a file that is not there, before anything is said of what should be in it."""
    from biaswatch.engines.parquet_tables import is_dataset
    from biaswatch.local.runs import may_name_run, neither_run_nor_file

    if not (may_name_run(source) or is_dataset(source) or Path(source).exists()):
        raise neither_run_nor_file(source)


def _columns(columns: "TableColumns", labels: list[str], probability: str | None) -> "TableColumns":
    """Return the columns with those of labels."""
    from biaswatch.readers.labels import named_labels

    if probability and not labels:
        raise UsageError("--probability is that of labels: name their column with --labels.")
    said = named_labels(labels, columns.features)
    return replace(columns, labels=said, probability=probability)


def _given(
    source: str,
    columns: "TableColumns",
    extract: list[str] | None,
    format_: LogFormat | None,
    mapping: Path | None,
    only: tuple[list[str], list[str]],
    server: str | None,
    token: str | None,
) -> "DiagnosisInput":
    """Return what is diagnosed: a log that is measured now, a run, or a table."""
    if columns.labels and (extract or is_run(source)):
        raise UsageError("--labels is for a table; answers of a run are labelled by `labels`.")
    if extract:
        return _log(source, columns, extract, format_, mapping)
    if format_ or mapping:
        raise UsageError("--format and --map are for the answers of a log: add --extract.")
    return _input(source, columns, *only, server, token)


def check_levels(alpha: float | None, tolerance: float | None) -> None:
    """Refuse a level or a tolerance that cannot be one."""
    if alpha is not None and not 0 < alpha < 1:
        raise UsageError(f"--alpha is {alpha:g}, but it has to lie between 0 and 1.")
    if tolerance is not None and not (isfinite(tolerance) and tolerance >= 0):
        raise UsageError(f"--tolerance is {tolerance:g}, but it has to be 0 or more.")


def _input(
    source: str,
    columns: "TableColumns",
    targets: list[str],
    scaffolds: list[str],
    server: str | None,
    token: str | None,
) -> "DiagnosisInput":
    """Return the rows of a run, where its id is given, or of a file."""
    from biaswatch.diagnosis.sources import run_input, table_input
    from biaswatch.engines.parquet_tables import is_dataset
    from biaswatch.readers.run_tables import RunColumns

    if not is_run(source):
        if targets or scaffolds or server:
            raise UsageError("--target, --scaffold and --server are for a run, not for a table.")
        if is_dataset(source):
            from biaswatch.diagnosis.large_tables import dataset_input

            return dataset_input(source, columns)
        return table_input(Path(source), columns)
    if columns.baseline is not None:
        raise UsageError("A run knows its baselines: write --calibrate, without --baseline.")
    wanted = RunColumns(
        columns.groups, columns.features, columns.unit, columns.domains, columns.set,
        targets, scaffolds, columns.ranges,
    )  # fmt: skip
    return run_input(source, wanted, server, token)


def is_run(source: str) -> bool:
    """Tell whether a source is the id of a run, and no file."""
    from biaswatch.local.runs import may_name_run

    return may_name_run(source) and not Path(source).exists()


def _log(
    source: str,
    columns: "TableColumns",
    extract: list[str],
    format_: LogFormat | None,
    mapping: Path | None,
) -> "DiagnosisInput":
    """Return the rows of a log of answers, which are measured now."""
    from biaswatch.diagnosis.logs import log_input
    from biaswatch.readers.run_tables import RunColumns

    if columns.baseline is not None:
        raise UsageError("A log of answers has no baselines: leave --baseline out.")
    wanted = RunColumns(
        columns.groups, columns.features, columns.unit, columns.domains, columns.set,
        ranges=columns.ranges,
    )  # fmt: skip
    return log_input(Path(source), wanted, extract, format_, mapping)


def _about(asked: "DiagnosisOptions", compared: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what was declared, for whoever reads the numbers."""
    return {
        "claim": asked.claim.value,
        "alpha": asked.alpha,
        "tolerance": asked.tolerance,
        "correction": asked.correction,
        "family": sum(row["p_value"] is not None for row in compared),
        "calibrated": asked.calibrate,
    }
