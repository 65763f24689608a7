"""What `diagnose` makes of rows: every statistic, and what labels of people make of the gaps."""

from dataclasses import dataclass, replace
from importlib.metadata import entry_points
from typing import TYPE_CHECKING

from biaswatch.shared.contracts import Against, Claim
from biaswatch.shared.errors import UsageError

if TYPE_CHECKING:
    from biaswatch.diagnosis.sources import DiagnosisInput
    from biaswatch.shared.analysis.findings.diagnosis import TableDiagnosis
    from biaswatch.shared.analysis.findings.observations import Observations
    from biaswatch.shared.analysis.labels.table_corrections import TableCorrection


MOST_COMPARISONS = 2_000_000
ENTRY_POINTS = "biaswatch.statistics"
RELABELLINGS = 1000
"""Of all groups together: what chance alone gives is shown next to every disparity."""


@dataclass(frozen=True)
class DiagnosisOptions:
    """What was asked of the rows."""

    statistics: list[str]
    alpha: float
    tolerance: float
    correction: str
    permutations: int | None
    seed: int
    ddof: int
    calibrate: bool
    claim: Claim
    compared: Against


def diagnosed_rows(seen: "Observations", asked: DiagnosisOptions) -> "TableDiagnosis":
    """Return every statistic of the rows, with a bar while it computes.

    Raises
    ------
    UsageError
        There are too many comparisons, no baselines to calibrate by, or the mathematics refuses.
    """
    import numpy as np
    from rich.console import Console
    from rich.progress import Progress

    from biaswatch.shared.analysis.findings.diagnosis import diagnose_table
    from biaswatch.shared.analysis.findings.groupings import ComparisonPlan
    from biaswatch.shared.stats.groups.registry import added, parse_statistic

    levels = [len(set(labels)) for labels in seen.groups.values()]
    pairs = sum(n * (n - 1) // 2 for n in levels) * len(seen.features)
    if asked.compared is Against.PAIRS and pairs > MOST_COMPARISONS:
        raise UsageError(
            f"These groups and features make {pairs:,} comparisons; {MOST_COMPARISONS:,} are made"
            " at most. Name fewer features, a column with fewer groups, or --compare rest."
        )
    if asked.calibrate:
        if seen.baseline is None:
            raise UsageError(
                "--calibrate needs baselines: the column of --baseline, or a run whose probes have"
                " baseline texts."
            )
        spans = {
            name: ends and (ends[0] - ends[1], ends[1] - ends[0])
            for name, ends in seen.ranges.items()
        }
        seen = replace(seen, values=seen.values - seen.baseline, ranges=spans)
    declared = ComparisonPlan(
        asked.alpha, asked.tolerance, asked.correction, asked.permutations or 0, asked.claim,
        asked.compared,
    )  # fmt: skip
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
                permutations=RELABELLINGS if asked.permutations is None else asked.permutations,
                progress=lambda what, done, of: bars.update(
                    task, description=f"diagnosing {what}", completed=done, total=of
                ),
            )
        except ValueError as error:  # the mathematics refuses an argument, in a sentence
            raise UsageError(str(error).rstrip(".") + ".") from None


def corrected_rows(given: "DiagnosisInput", asked: DiagnosisOptions) -> "list[TableCorrection]":
    """Return what the labels of a table make of its gaps; nothing where it has none.

    Raises
    ------
    UsageError
        Values less baselines are asked for, which nobody has labelled.
    """
    from biaswatch.shared.analysis.findings.groupings import AnalysisPlan
    from biaswatch.shared.analysis.labels.table_corrections import table_corrections

    if given.labelled and asked.calibrate:
        raise UsageError("--labels are of values as they stand: leave --calibrate out.")
    ranges = {each.feature: each.bounds for each in given.labelled}
    plan = AnalysisPlan(
        asked.alpha, asked.tolerance, ranges=ranges, claim=asked.claim, against=asked.compared
    )
    return table_corrections(given.rows, given.labelled, plan)
