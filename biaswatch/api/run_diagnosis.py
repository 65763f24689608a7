"""The diagnosis of a finished run: what its suite declares holds unless other options are given."""

from collections.abc import Mapping

import pandas as pd

from biaswatch.api.frame_diagnosis import (
    RELABELLINGS,
    FrameDiagnosis,
    Names,
    comparison_plan,
    diagnosed_parts,
    listed,
)
from biaswatch.checks import CheckRule, checked_table, measurement_warnings
from biaswatch.readers.run_tables import RunColumns, RunTable, run_observations, run_warnings
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan

DECLARED = ComparisonPlan()
"""The level and the tolerance where the run has no findings that name them."""


def diagnose_run(
    table: RunTable,
    *,
    group: Names = (),
    feature: Names = (),
    unit: str | None = None,
    set: str | None = None,  # noqa: A002 - the word of the command line
    domain: Names = (),
    ranges: Mapping[str, tuple[float, float]] | None = None,
    tolerance: float | None = None,
    alpha: float | None = None,
    correction: str = DECLARED.correction,
    claim: str | None = None,
    compare: str | None = None,
    permutations: int = RELABELLINGS,
    seed: int = 0,
) -> FrameDiagnosis:
    """Return the diagnosis of a run; each option replaces what its suite declares.

    Parameters
    ----------
    group, feature, unit, set, domain
        Fields of probes and features, by the names of columns of `run.answers()`. Every target and
        scaffold is a domain of its own.
    ranges
        By feature, without its extractor.

    Raises
    ------
    UsageError
        The run has no such field or feature, or an option cannot be used.
    """
    declared = table.declared
    dimensions = listed(group)
    columns = RunColumns(
        dimensions, listed(feature), unit, listed(domain), set, ranges=dict(ranges or {})
    )
    rows = run_observations(table, columns)
    plan = comparison_plan(
        _given(alpha, declared.alpha, DECLARED.alpha),
        _given(tolerance, declared.tolerance, DECLARED.tolerance),
        correction,
        claim or declared.claim,
        compare or declared.compared,
    )
    parts = diagnosed_parts(rows, plan, unit or "unit", permutations=permutations, seed=seed)
    missing = measurement_warnings(checked_table(parts["comparisons"]), CheckRule())
    warnings = [*run_warnings(table, rows), *missing]
    return FrameDiagnosis(parts, warnings, pd, (), dimensions)


def _given(option: float | None, declared: float | None, default: float) -> float:
    """Return the option, or else the level of the run, or else the default."""
    if option is not None:
        return option
    return default if declared is None else declared
