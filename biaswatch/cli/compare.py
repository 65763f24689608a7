"""The verb `compare`: the changes between two runs, or between two targets."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import Field

from biaswatch.cli.options import CHANGE, CheckRequest, Json, end_check, gateway
from biaswatch.cli.requests import takes
from biaswatch.shared.contracts import Claim
from biaswatch.shared.requests.diagnoses import Names, Ranges


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
    """Write the changes to a CSV or Parquet file."""
    all: bool = False
    """All changes, not only the most important ones."""
    fail_on: str | None = None
    """Exit code 1 for a change (`change`, or the smallest size that counts), 3 if too little was
    measured."""


@takes(
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
    from biaswatch.render.table_rows import write_frame
    from biaswatch.shared.analysis.changes.matched_changes import compare_runs
    from biaswatch.shared.analysis.changes.run_changes import ChangePlan
    from biaswatch.shared.analysis.changes.unmatched_changes import compare_whole_runs
    from biaswatch.shared.analysis.findings.groupings import ComparisonPlan

    rule = request.rule(CHANGE)
    parts = (
        RunPart(before, request.target, request.scaffold),
        RunPart(
            after,
            request.other_target or request.target,
            request.other_scaffold or request.scaffold,
        ),
    )
    runs = comparison_input(parts, request.group, request.feature, request.ranges, gateway())
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
    about: dict[str, Any] = {
        **runs.about,
        "claim": plan.claim.value,
        "alpha": plan.alpha,
        "tolerance": plan.tolerance,
        "missing_tolerance": request.missing_tolerance,
        "family": changes.family,
    }
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
