"""Forest plots of runs and monitors: their gaps, order and direction."""

from collections.abc import Mapping, Sequence
from itertools import islice
from urllib.parse import quote

from biaswatch.shared.contracts import Diagnosis, Gap, SummaryWord
from biaswatch.shared.errors import UsageError
from biaswatch.shared.formatting import number_name
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.findings import ComparisonView, title_of
from biaswatch.shared.presentation.forest_plots import Forest, ForestRow
from biaswatch.shared.presentation.monitor_tables import is_missing_without_finding
from biaswatch.shared.requests.evidence import EvidenceView

MAX_ROWS, MAX_FORESTS = 10, 4
SIGNED = ("gap", "by_itself", "effect_size", "constant_shift", "twin_shift", "by_set", "instrument")
"""Fields of a gap that change their sign with its direction."""


def against(diagnoses: Sequence[Diagnosis], reference: str) -> list[Diagnosis]:
    """Return findings with the reference group as the second group."""
    if not reference:
        return list(diagnoses)
    return [
        row.model_copy(update={"gaps": tuple(_turned(gap, reference) for gap in row.gaps)})
        for row in diagnoses
    ]


def checked_against(diagnoses: Sequence[Diagnosis], reference: str) -> list[Diagnosis]:
    """Return findings against a group; raise UsageError for an unknown group."""
    if reference and reference not in (groups := reference_groups(diagnoses)):
        raise UsageError(f"No comparison has the group {reference!r}; it has {', '.join(groups)}.")
    return against(diagnoses, reference)


def _turned(gap: Gap, reference: str) -> Gap:
    """Return a gap with the reference as its second group."""
    if gap.a != reference:
        return gap
    estimates = {name: getattr(gap, name) for name in SIGNED}
    signed = {name: None if value is None else -value for name, value in estimates.items()}
    return gap.model_copy(update={"a": gap.b, "b": gap.a, **signed})


def reference_groups(diagnoses: Sequence[Diagnosis]) -> list[str]:
    """Return all groups of the comparisons, for the choice of a reference."""
    return sorted({name for row in diagnoses for gap in row.gaps for name in (gap.a, gap.b)})


def run_forests(rows: Sequence[ComparisonView], run_path: str = "") -> list[Forest]:
    """Return a plot for each number by grouping, in the order of the comparisons."""
    rows = [row for row in rows if not row.conclusion[2]]
    several = len({row.model for row in rows}) > 1
    by_title = grouped((title_of(row.diagnosis), row) for row in rows)
    return [
        _forest(
            title,
            [_run_row(row, run_path, several) for row in rows_of_title],
            rows_of_title[0].diagnosis.tolerance,
        )
        for title, rows_of_title in islice(by_title.items(), MAX_FORESTS)
    ]


def _forest(title: str, rows: Sequence[ForestRow], tolerance: float) -> Forest:
    heading = f"Gap in {title}, first group minus second"
    return Forest(heading, rows[:MAX_ROWS], tolerance, max(0, len(rows) - MAX_ROWS))


def _run_row(row: ComparisonView, run_path: str, several: bool) -> ForestRow:
    """Return a comparison of a run as a row of a plot."""
    href = f"{run_path}/answers?{row.answers}" if run_path else None
    name = f"{row.gap.a} minus {row.gap.b}"
    shown, model = row.gap.summary_gap, row.model if several else ""
    return ForestRow(name, shown, row.gap.summary, model, href)


def monitor_forests(
    monitor: str, evidence: Sequence[EvidenceView], titles: Mapping[str, str]
) -> list[Forest]:
    """Return a plot for each number of a monitor, alarms first."""
    measured = [
        row for row in evidence if row.gap.value is not None and not is_missing_without_finding(row)
    ]
    by_number = grouped((_number_of(row), row) for row in measured)
    address = f"/monitors/{quote(monitor)}"
    return [
        _forest(
            number_name(*number, list(by_number)),
            [_monitor_row(row, titles, address) for row in rows],
            rows[0].tolerance,
        )
        for number, rows in islice(by_number.items(), MAX_FORESTS)
    ]


def _number_of(row: EvidenceView) -> tuple[str, str]:
    """Return the extractor and the feature of a comparison."""
    extractor, _, feature = row.number.partition(".")
    return extractor, feature


def _monitor_row(row: EvidenceView, titles: Mapping[str, str], address: str) -> ForestRow:
    """Return a comparison of a monitor as a row of a plot."""
    return ForestRow(
        titles.get(row.comparison, row.comparison),
        row.gap,
        SummaryWord.DISPARITY if row.standing else row.verdict,
        "alarm" if row.standing else "",
        f"{address}?comparison={quote(row.comparison)}#over-time",
    )
