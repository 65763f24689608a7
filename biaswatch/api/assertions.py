"""`bw.assert_no_disparity`: fails a test, and says which groups differ or were not measured."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from biaswatch.api.diagnosis import (
    RELABELLINGS,
    FrameDiagnosis,
    Names,
    comparison_plan,
    comparison_sentence,
    diagnose,
    diagnosed_parts,
    listed,
)
from biaswatch.api.platforms import FinishedRun
from biaswatch.checks import (
    CheckCode,
    CheckRule,
    check_result,
    checked_table,
    measurement_warnings,
    ungrouped,
)
from biaswatch.readers.run_tables import RunColumns, RunTable, run_observations, run_warnings
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
from biaswatch.shared.contracts import LEAST_MEASURED_SHARE
from biaswatch.shared.errors import UsageError

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


MOST_SAID = 10
"""Disparities that one message lists."""
OF_FRAMES = ("baseline", "labels", "probability")
"""Options that name columns which a run does not have."""


def assert_no_disparity(
    found: Any, *, least: float = 0.0, min_measured: float = LEAST_MEASURED_SHARE, **options: Any
) -> FrameDiagnosis:
    """Raise AssertionError at a disparity, and where too little was measured to find one.

    Parameters
    ----------
    found
        A frame, or the result of `bw.diagnose`, or a run: `bw.run(...)`. For a run, groups,
        features, unit, sets, ranges, claim, level and tolerance are those of its suite.
    least
        The smallest gap that fails the test; a `tolerance` decides what a disparity is.
    min_measured
        The smallest share of answers in each group that must have given a number.
    options
        Those of `bw.diagnose`, for a frame or a run: `group=`, `feature=`, `unit=`. For a run they
        replace what its suite declares.

    Raises
    ------
    AssertionError
        There is a disparity, or too little was measured, or the run is not complete.
    UsageError
        The frame or an option cannot be used.
    """
    rule = CheckRule(least, min_measured)
    diagnosis = _diagnosed(found, options)
    compared = checked_table(diagnosis.parts["comparisons"])
    alone = ungrouped(
        diagnosis.parts["summary"], diagnosis.parts["comparisons"], diagnosis.dimensions
    )
    incomplete = found.results.incomplete if isinstance(found, FinishedRun) else None
    result = check_result([*compared, *alone], rule, incomplete)
    if result.code is CheckCode.PASSED:
        return diagnosis
    if result.code is CheckCode.NOT_MEASURED:
        raise AssertionError(result.sentence)
    rows = diagnosis.parts["comparisons"]
    failing = [
        row for row, comparison in zip(rows, compared, strict=True) if rule.fails(comparison)
    ]
    head = f"{len(failing)} of {len(rows)} comparisons are a disparity:"
    listed = [f"  - {comparison_sentence(row)}" for row in failing[:MOST_SAID]]
    more = [f"  and {len(failing) - MOST_SAID} more"] if len(failing) > MOST_SAID else []
    raise AssertionError("\n".join([head, *listed, *more, *result.reasons[1:]]))


def _diagnosed(found: Any, options: dict[str, Any]) -> FrameDiagnosis:
    if isinstance(found, FrameDiagnosis):
        if options:
            raise UsageError(
                f"A diagnosis is made already: give {', '.join(options)} to `bw.diagnose`."
            )
        return found
    if not isinstance(found, FinishedRun):
        return diagnose(found, **options)
    if found.table is None:
        return diagnose(found.answers(), **options)
    if wrong := [name for name in OF_FRAMES if name in options]:
        raise UsageError(f"`{wrong[0]}` is for a frame: give `run.answers()` instead of the run.")
    return diagnose_run(found.table, **options)
