"""The verb `compare`: what changed between two runs, or between two targets."""

import json
from pathlib import Path
from typing import Annotated

import typer

from biaswatch.cli.options import (
    Everything,
    Json,
    MinMeasured,
    OnlyScaffolds,
    OnlyTargets,
    Ranges,
    Server,
    Token,
    check_rule,
    end_check,
)
from biaswatch.shared.contracts import Claim

CHANGE = "change"
"""What `--fail-on` takes for a change of any size."""


def compare(
    before: Annotated[str, typer.Argument(metavar="RUN", help="The run before.")],
    after: Annotated[str, typer.Argument(metavar="RUN", help="The run after.")],
    group: Annotated[
        list[str] | None, typer.Option(help="Any field of the runs' probes; may be repeated.")
    ] = None,
    feature: Annotated[
        list[str] | None, typer.Option(help="A feature of any extractor; may be repeated.")
    ] = None,
    range_: Ranges = None,
    target: OnlyTargets = None,
    scaffold: OnlyScaffolds = None,
    other_target: Annotated[
        list[str] | None, typer.Option(help="Of the second run, this target instead.")
    ] = None,
    other_scaffold: Annotated[
        list[str] | None, typer.Option(help="Of the second run, this scaffold instead.")
    ] = None,
    claim: Annotated[
        Claim | None, typer.Option(help="What conclusions are about; the first run says so.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            help="The largest change of a gap or a mean that does not matter; the first run's."
        ),
    ] = None,
    missing_tolerance: Annotated[
        float, typer.Option(help="The same of shares of missing answers.")
    ] = 0.0,
    alpha: Annotated[
        float | None, typer.Option(help="How often equal runs may be said to differ.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", help="Write the changes to a CSV or Parquet file.")
    ] = None,
    everything: Everything = False,
    fail_on: Annotated[
        str | None,
        typer.Option(
            "--fail-on",
            help="End with 1 at a change (`change`, or the least size that counts), and with 3"
            " where too little was measured.",
        ),
    ] = None,
    min_measured: MinMeasured = None,
    server: Server = None,
    token: Token = None,
    as_json: Json = False,
) -> None:
    """Say what changed between two runs: gaps, means, shares of missing answers."""
    from biaswatch.checks import CHANGED, CheckRule, checked_changes, measurement_warnings
    from biaswatch.cli.diagnose import check_levels
    from biaswatch.diagnosis.comparison import RunPart, comparison_input
    from biaswatch.render import run_changes
    from biaswatch.render.table_rows import write_frame
    from biaswatch.shared.analysis.changes.matched_changes import compare_runs
    from biaswatch.shared.analysis.changes.run_changes import ChangePlan
    from biaswatch.shared.analysis.changes.unmatched_changes import compare_whole_runs
    from biaswatch.shared.analysis.findings.groupings import ComparisonPlan

    rule = check_rule(fail_on, min_measured, any_size=CHANGE)
    for each in (tolerance, missing_tolerance):
        check_levels(alpha, each)
    parts = (
        RunPart(before, target or (), scaffold or ()),
        RunPart(after, other_target or target or (), other_scaffold or scaffold or ()),
    )
    given = comparison_input(parts, group or (), feature or (), range_ or (), server, token)
    plan = ComparisonPlan(
        given.alpha if alpha is None else alpha,
        given.tolerance if tolerance is None else tolerance,
        claim=(given.matched and claim) or given.claim,
        against=given.against,
    )
    declared = ChangePlan(plan, missing_tolerance)
    found = (
        compare_runs(given.matched, declared)
        if given.matched
        else compare_whole_runs(given.runs, declared)
    )
    about = {
        **given.about,
        "claim": plan.claim.value,
        "alpha": plan.alpha,
        "tolerance": plan.tolerance,
        "missing_tolerance": missing_tolerance,
        "family": found.family,
    }
    rows = run_changes.change_rows(found)
    answer = run_changes.answer_of(rows, about)
    compared = checked_changes(rows)
    warnings = [
        *given.warnings,
        *measurement_warnings(compared, rule or CheckRule(verdict=CHANGED)),
    ]
    if output:
        write_frame(rows, output)
        typer.echo(f"Wrote {output}.", err=True)
    if as_json:
        said = {"answer": answer, "changes": rows, "about": about, "warnings": warnings}
        typer.echo(json.dumps(said, indent=2, allow_nan=False))
    else:
        run_changes.print_changes(answer, rows, about, warnings, everything=everything)
    end_check(compared, rule)
