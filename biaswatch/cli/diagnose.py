"""The verb `diagnose`: statistics of a table in a file, without bus and store."""

import json
from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from biaswatch.cli.options import FailOn, Json, fail_at, least_gap
from shared.errors import UsageError

if TYPE_CHECKING:
    from services.diagnoser.domain.findings.observations import Observations
    from services.diagnoser.domain.findings.table_diagnosis import TableDiagnosis

MOST_COMPARISONS = 2_000_000
ALWAYS = ("mean", "median", "standard_deviation", "sr_larger_sd_mean")
WITH_A_BASELINE = (
    "correlation_wrt_baseline_method_pearson",
    "kl_divergence_wrt_baseline_bin_10",
    "precision_wrt_baseline_tolerance_0.1",
)
ENTRY_POINTS = "biaswatch.statistics"


@dataclass(frozen=True)
class TableDiagnosisOptions:
    """What was asked of the table, beyond its columns."""

    statistics: list[str]
    alpha: float
    tolerance: float
    correction: str
    permutations: int
    seed: int
    ddof: int
    calibrate: bool


def diagnose(
    table: Annotated[Path, typer.Argument(help="A CSV, Parquet or JSONL file.")],
    group: Annotated[list[str], typer.Option(help="A column of groups; may be repeated.")],
    feature: Annotated[list[str], typer.Option(help="A column of numbers; may be repeated.")],
    baseline: Annotated[str | None, typer.Option(help="The column values are held to.")] = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Diagnose value minus baseline value.")
    ] = False,
    unit: Annotated[str | None, typer.Option(help="The column that names the prompt.")] = None,
    domain: Annotated[str | None, typer.Option(help="The column of domains.")] = None,
    statistic: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    set_: Annotated[
        str | None, typer.Option("--set", help="The column of counterfactual sets.")
    ] = None,
    tolerance: Annotated[float, typer.Option(help="The largest gap that does not matter.")] = 0.0,
    alpha: Annotated[float, typer.Option(help="1 minus the coverage of the intervals.")] = 0.05,
    correction: Annotated[str, typer.Option(help="holm, bh, by or bonferroni.")] = "holm",
    permutations: Annotated[int, typer.Option(help="Random relabellings; 0: none.")] = 0,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    ddof: Annotated[int, typer.Option(help="0 as SAGED has it, or 1.")] = 0,
    output: Annotated[
        Path | None, typer.Option("-o", help="Write each part to a CSV or Parquet file.")
    ] = None,
    fail_on: FailOn = None,
    as_json: Json = False,
) -> None:
    """Show statistics by group, disparities and corrected comparisons of a table."""
    from biaswatch.readers.tables import TableColumns, observations
    from biaswatch.render import table_diagnosis

    asked = TableDiagnosisOptions(
        statistic or [*ALWAYS, *(WITH_A_BASELINE if baseline else ())],
        alpha, tolerance, correction, permutations, seed, ddof, calibrate,
    )  # fmt: skip
    if not 0 < alpha < 1:
        raise UsageError(f"--alpha is {alpha:g}, but it has to lie between 0 and 1.")
    if not (isfinite(tolerance) and tolerance >= 0):
        raise UsageError(f"--tolerance is {tolerance:g}, but it has to be 0 or more.")
    if permutations < 0 or seed < 0:
        raise UsageError("--permutations and --seed have to be 0 or more.")
    least = least_gap(fail_on)
    seen, warnings = observations(table, TableColumns(group, feature, baseline, unit, domain, set_))
    found = table_diagnosis.result_rows(_diagnosed(seen, asked))
    if output:
        for path in table_diagnosis.write_rows(found, output):
            typer.echo(f"Wrote {path}.", err=True)
    if as_json:
        typer.echo(json.dumps({**found, "warnings": warnings}, indent=2, allow_nan=False))
    elif not output:
        table_diagnosis.print_tables(found, warnings, alpha)
    fail_at(((row["verdict"], row["gap"]) for row in found["comparisons"]), least)


def _diagnosed(seen: "Observations", asked: TableDiagnosisOptions) -> "TableDiagnosis":
    import numpy as np
    from rich.console import Console
    from rich.progress import Progress

    from services.diagnoser.domain.findings.plans import ComparisonPlan
    from services.diagnoser.domain.findings.table_diagnosis import diagnose_table
    from shared.stats.groups.catalogue import added, parse_statistic

    levels = [len(set(labels)) for labels in seen.groups.values()]
    pairs = sum(n * (n - 1) // 2 for n in levels) * len(seen.features)
    if pairs > MOST_COMPARISONS:
        raise UsageError(
            f"These groups and features make {pairs:,} comparisons; {MOST_COMPARISONS:,} are made"
            " at most. Name fewer features, or a column with fewer groups."
        )
    if asked.calibrate:
        if seen.baseline is None:
            raise UsageError("--calibrate needs the column of --baseline.")
        seen = replace(seen, values=seen.values - seen.baseline[:, None])
    declared = ComparisonPlan(asked.alpha, asked.tolerance, asked.correction, asked.permutations)
    console = Console(stderr=True)
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bars:
        task = bars.add_task("diagnosing")
        try:
            own = added(entry.load() for entry in entry_points(group=ENTRY_POINTS))
            return diagnose_table(
                seen,
                [parse_statistic(name, own) for name in asked.statistics],
                declared,
                ddof=asked.ddof,
                rng=np.random.default_rng(asked.seed),
                progress=lambda what, done, of: bars.update(
                    task, description=f"diagnosing {what}", completed=done, total=of
                ),
            )
        except ValueError as error:  # the mathematics refuses an argument, in a sentence
            raise UsageError(str(error).rstrip(".") + ".") from None
