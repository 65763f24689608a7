"""The diagnosis behind `diagnose` and `bw.diagnose`: statistics, corrections, warnings."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import entry_points
from typing import Any

import numpy as np

from biaswatch.checks import (
    CheckedComparison,
    CheckRule,
    checked_table,
    measurement_warnings,
    ungrouped,
)
from biaswatch.diagnosis.sources import DiagnosisInput
from biaswatch.readers.labels import named_labels
from biaswatch.readers.run_observations import RunColumns
from biaswatch.readers.tables import TableColumns
from biaswatch.render.findable import with_findable
from biaswatch.render.table_rows import Parts, against, comparable_p, comparison_rows, result_rows
from biaswatch.shared.analysis.findings.groupings import AnalysisPlan, ComparisonPlan
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.analysis.findings.scales import scaled
from biaswatch.shared.analysis.findings.table_diagnosis import TableDiagnosis, diagnose_table
from biaswatch.shared.analysis.labels.rate_labels import rate_columns
from biaswatch.shared.analysis.labels.table_corrections import TableCorrection, table_corrections
from biaswatch.shared.contracts import Against
from biaswatch.shared.contracts.derived_features import Scale, on_scale
from biaswatch.shared.errors import UsageError
from biaswatch.shared.presentation.correction_rows import table_correction_rows
from biaswatch.shared.requests.diagnoses import DiagnoseRequest, Names
from biaswatch.shared.runtime.user_functions import user_function
from biaswatch.shared.stats.groups.registry import added, parse_statistic
from biaswatch.shared.stats.groups.summary import Statistic
from biaswatch.shared.stats.groups.user_statistic import FunctionStatistic

MAX_COMPARISONS = 2_000_000
MAX_GROUPS = 2_000
"""Groups that are compared each with the rest, which reads every row for each of them."""
ENTRY_POINTS = "biaswatch.statistics"
PERMUTATIONS = 1000
"""Exchanges of the labels of all groups, for the distribution of every disparity by chance."""
STATISTICS = ("mean", "median", "standard_deviation", "sr_larger_sd_mean")
BASELINE_STATISTICS = (
    "correlation_wrt_baseline_method_pearson",
    "kl_divergence_wrt_baseline_bin_10",
    "precision_wrt_baseline_tolerance_0.1",
)
Progress = Callable[[str, int, int], None]


def no_progress(part: str, done: int, total: int) -> None:
    """Show nothing."""


@dataclass
class DiagnosisResult:
    """A diagnosis as plain rows with warnings; most parts are computed on request."""

    source: DiagnosisInput
    request: DiagnoseRequest
    plan: ComparisonPlan
    diagnosis: TableDiagnosis
    corrected: list[TableCorrection]
    """The gaps of a table, corrected by labels."""
    rule: CheckRule

    @cached_property
    def comparisons(self) -> list[dict[str, Any]]:
        """The comparisons, the strongest evidence first."""
        rows = comparison_rows(self.diagnosis, self.source.unit)
        rows = with_findable(rows, self.source.rows, self.plan)
        return against(rows, self.request.reference)

    @cached_property
    def parts(self) -> Parts:
        """Every part.

        Raises
        ------
        UsageError
            The mathematics refuses an argument.
        """
        try:
            parts = result_rows(self.diagnosis, self.source.unit) | self.source.corrected_parts
            parts["comparisons"] = self.comparisons
        except ValueError as error:  # an argument of the mathematics, in a sentence
            raise _usage_error(error) from None
        if self.source.labelled:
            parts["corrections"] = table_correction_rows(self.corrected)
        return parts

    @property
    def about(self) -> dict[str, Any]:
        """The declarations and settings of the diagnosis."""
        plan, answers = self.plan, self.source.rows.features
        tested = [row for row in self.comparisons if comparable_p(row) is not None]
        rates = sum(row["feature"] not in answers for row in tested) if answers else 0
        return {
            **self.source.about,
            "claim": plan.claim.value,
            "alpha": plan.alpha,
            "tolerance": plan.tolerance,
            "random": list(self.source.rows.random),
            "assigned": plan.assigned,
            "correction": plan.correction,
            "family": len(tested) - rates,
            "error_rates_family": rates,
            "calibrated": self.request.calibrate,
            "p_anywhere": self.diagnosis.p_anywhere,
        }

    @cached_property
    def warnings(self) -> list[str]:
        """Warnings about the rows and missing answers."""
        checked = checked_table(self.comparisons)
        return [*self.source.warnings, *measurement_warnings(checked, self.rule)]

    @cached_property
    def checked(self) -> list[CheckedComparison]:
        """The comparisons as gates check them."""
        compared = self.comparisons
        lone = ungrouped(self.parts["summary"], compared, self.request.group)
        return [*checked_table(compared), *lone]


def diagnose_rows(
    source: DiagnosisInput,
    request: DiagnoseRequest,
    *,
    progress: Progress = no_progress,
    rule: CheckRule | None = None,
) -> DiagnosisResult:
    """Diagnose rows of a table, a log or a run.

    Parameters
    ----------
    source
        The rows and their declarations.
    request
        The options of the user; they take precedence over declarations.
    progress
        Called with the current part, and how many of how many steps are done.
    rule
        The gate whose shares of measured answers the warnings are about.

    Raises
    ------
    UsageError
        There are too many comparisons, baselines are missing, or an argument is invalid.
    """
    plan = _plan(source, request)
    if source.labelled and request.calibrate:
        raise UsageError("--labels apply to uncalibrated values: leave out --calibrate.")
    if request.scale:
        source = _scaled(source, request)
    if request.calibrate and not source.summed:
        source = replace(source, rows=_calibrated(source.rows))
    if source.summed:
        diagnosis = source.summed.diagnosis(
            plan, request.ddof, named_statistics=bool(request.statistic)
        )
    else:
        diagnosis = _diagnosis(source.rows, request, plan, progress)
    corrected = _label_corrections(source, plan)
    return DiagnosisResult(source, request, plan, diagnosis, corrected, rule or CheckRule())


def table_columns(request: DiagnoseRequest) -> TableColumns:
    """Return the columns of a table named by a request.

    Raises
    ------
    UsageError
        Labels are of no feature, or their probability is given without them.
    """
    labels = _label_columns(request.labels, request.feature, request.truth)
    if request.probability and not labels:
        raise UsageError("--probability is that of labels: name their column with --labels.")
    return TableColumns(
        request.group, request.feature, request.baseline, request.unit, request.domain,
        request.set, request.ranges, labels, request.random, request.probability, request.truth,
        request.selected_at_least, request.text,
    )  # fmt: skip


def run_columns(request: DiagnoseRequest) -> RunColumns:
    """Return the fields of a run named by a request."""
    return RunColumns(
        request.group, request.feature, request.unit, request.domain, request.set,
        request.target, request.scaffold, request.ranges, request.random, _scales(request),
    )  # fmt: skip


def _label_columns(
    labels: Mapping[str, Names] | Names, features: Names, truth: str | None
) -> Mapping[str, tuple[str, ...]]:
    """Return the columns of labels by feature; raise UsageError for unknown features."""
    if not isinstance(labels, Mapping):
        return named_labels(labels, features, truth)
    if unknown := [feature for feature in labels if feature not in features and feature != truth]:
        raise UsageError(
            f"There are labels of {unknown[0]!r}, which is not among the features or the truth."
        )
    return labels


def _plan(source: DiagnosisInput, request: DiagnoseRequest) -> ComparisonPlan:
    """Return the plan of the comparisons; options of the user precede declarations."""
    try:
        return ComparisonPlan(
            source.alpha if request.alpha is None else request.alpha,
            source.tolerance if request.tolerance is None else request.tolerance,
            request.correction,
            request.permutations or 0,
            request.claim or source.claim,
            request.compare or source.compared,
            request.assigned,
        )
    except ValueError as error:
        raise _usage_error(error) from None


def _diagnosis(
    rows: Observations, request: DiagnoseRequest, plan: ComparisonPlan, progress: Progress
) -> TableDiagnosis:
    """Return all statistics of the rows; raise UsageError for too many comparisons."""
    sizes = [len(set(labels) - {None}) for labels in rows.groups.values()]
    pairs = sum(n * (n - 1) // 2 for n in sizes) * len(rows.features)
    if plan.against is Against.PAIRS and pairs > MAX_COMPARISONS:
        raise UsageError(
            f"These groups and features make {pairs:,} comparisons; {MAX_COMPARISONS:,} are made"
            f" at most. Name fewer features, a column with fewer groups, or (up to {MAX_GROUPS:,}"
            " groups) --config compare=rest."
        )
    most = max(sizes, default=0)
    if plan.against is not Against.PAIRS and most > MAX_GROUPS:
        name = list(rows.groups)[sizes.index(most)]
        raise UsageError(
            f"The column {name} has {most:,} groups; at most {MAX_GROUPS:,} are compared, each with"
            " the rest. Name a coarser column with --group, or join the smaller groups into one."
        )
    default = (*STATISTICS, *(BASELINE_STATISTICS if rows.baseline is not None else ()))
    permutations = PERMUTATIONS if request.permutations is None else request.permutations
    try:
        return diagnose_table(
            rows,
            [_statistic(name) for name in request.statistic or default],
            plan,
            ddof=request.ddof,
            rng=np.random.default_rng(request.seed),
            permutations=permutations,
            progress=progress,
        )
    except ValueError as error:  # the mathematics refuses an argument, in a sentence
        raise _usage_error(error) from None


def _scaled(source: DiagnosisInput, request: DiagnoseRequest) -> DiagnosisInput:
    """Return the rows with features on logarithms or ranks, and a warning about each."""
    options = {
        "calibrate": request.calibrate,
        "labels": source.labelled,
        "a table that is too large for memory": source.summed,
    }
    if refused := [name for name, present in options.items() if present]:
        raise UsageError(f"`scale` cannot be combined with {refused[0]}.")
    try:
        scales = {
            feature: scale
            for feature, scale in _scales(request).items()
            if on_scale(feature, scale) not in source.rows.features  # as the suite declares it
        }
        rows, notes = scaled(source.rows, scales)
    except ValueError as error:
        raise _usage_error(error) from None
    return replace(source, rows=rows, warnings=[*source.warnings, *notes])


def _scales(request: DiagnoseRequest) -> dict[str, Scale]:
    return {feature: Scale(scale) for feature, scale in request.scale.items()}


def _calibrated(rows: Observations) -> Observations:
    """Return values minus their baselines, with the ranges of such differences."""
    if rows.baseline is None:
        raise UsageError(
            "To calibrate, name the column of baselines (--config baseline=COLUMN), or a run whose"
            " probes have baseline texts."
        )
    ranges = {
        name: ends and (ends[0] - ends[1], ends[1] - ends[0]) for name, ends in rows.ranges.items()
    }
    return replace(rows, values=rows.values - rows.baseline, ranges=ranges)


def _label_corrections(source: DiagnosisInput, plan: ComparisonPlan) -> list[TableCorrection]:
    """Return the gaps and rates of a table, corrected by its labels."""
    try:
        labelled = [
            part
            for column in source.labelled
            for part in ([column] if column.readings is None else rate_columns(source.rows, column))
        ]
    except ValueError as error:
        raise _usage_error(error) from None
    ranges = {column.feature: column.bounds for column in labelled}
    analysis = AnalysisPlan(
        plan.alpha, plan.tolerance, ranges=ranges, claim=plan.claim, against=plan.against
    )
    return table_corrections(source.rows, labelled, analysis)


def _statistic(name: str) -> Statistic:
    """Return a statistic by its name, or by `module:function` of a user."""
    if ":" in name:
        return FunctionStatistic(name, user_function(name))
    return parse_statistic(name, _installed_statistics())


@cache
def _installed_statistics() -> Any:
    """Return the statistics of installed packages; reading entry points is slow."""
    return added(entry.load() for entry in entry_points(group=ENTRY_POINTS))


def _usage_error(error: ValueError) -> UsageError:
    """Return an error of the mathematics as a sentence for users."""
    return UsageError(str(error).rstrip(".") + ".")
