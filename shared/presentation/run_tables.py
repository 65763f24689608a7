"""The tables of a run's page: comparisons and groups, of one finding or of all in a file."""

from collections.abc import Sequence

from biaswatch.shared.contracts import Correction, Diagnosis, Gap, GroupSummary
from biaswatch.shared.formatting import number, number_name, p_value
from biaswatch.shared.presentation.corrections import ERROR_COLUMNS, error_rows
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.run_summary import answers_query, strongest_first
from biaswatch.shared.presentation.tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)

SHOWN_METRICS = ("Max-Min", "Min/Max", "Impact Ratio", "Max Z-Score", "Min Z-Score", "Dixon Q")
"""Those that a page shows; the API has all."""
NAMING = ("model", "scaffold", "extractor", "number", "grouping")


def comparisons_table(
    diagnoses: Sequence[Diagnosis], run_id: str, *, most: int | None = None
) -> PageTable:
    """Return comparisons, the strongest first; with their finding where there are several."""
    alone = len(diagnoses) == 1
    pairs = sorted(((each, gap) for each in diagnoses for gap in each.gaps), key=strongest_first)[
        :most
    ]
    titles = ("gap", "from", "to", "corrected p")
    columns = (
        *(() if alone else (PageColumn(name, name=True) for name in NAMING)),
        PageColumn("groups", name=True),
        PageColumn("verdict"),
        *(PageColumn(title, numeric=True) for title in titles),
        PageColumn("why"),
    )
    rows = [
        (*(() if alone else _naming(each)), *_comparison(each, gap, run_id)) for each, gap in pairs
    ]
    return PageTable("Comparisons of groups", columns, tuple(rows))


def errors_tables(found: Sequence[Correction]) -> list[PageTable]:
    """Return of each finding the error of its instrument in each group, by labels of people."""
    names = ModelNames.among(found)
    return [_errors_table(each, names.of(each)) for each in found]


def _errors_table(found: Correction, where: str) -> PageTable:
    columns = tuple(PageColumn(title, name=title == "group") for title in ERROR_COLUMNS)
    rows = tuple(tuple(map(words_cell, row)) for row in error_rows(found))
    said = number_name(found.extractor, found.feature)
    by = found.dimension.replace("_", " ")
    return PageTable(f"The instrument's error: {said} by {by}, at {where}", columns, rows)


def groups_table(diagnoses: Sequence[Diagnosis], run_id: str) -> PageTable:
    """Return the groups of findings by their rank, with what is missing."""
    alone = len(diagnoses) == 1
    ranked = any(group.rank for each in diagnoses for group in each.groups)
    shrunken = any(_shrunken(group) is not None for each in diagnoses for group in each.groups)
    columns = (
        *(() if alone else (PageColumn(name, name=True) for name in NAMING)),
        PageColumn("group", name=True),
        *(PageColumn(title, numeric=True) for title in ("mean", "from", "to")),
        *(
            PageColumn(title, numeric=True)
            for title in (
                *(("shrunken mean",) if shrunken else ()),
                *(("rank", "rank from", "rank to") if ranked else ()),
            )
        ),
        *(PageColumn(title, numeric=True) for title in ("prompts", "answers", "missing")),
    )
    rows = [
        (
            *(() if alone else _naming(each)),
            *_group(each, group, run_id, ranked=ranked, shrunken=shrunken),
        )
        for each in diagnoses
        for group in sorted(each.groups, key=_rank)
    ]
    return PageTable("Groups by themselves", columns, tuple(rows))


def disparities_table(diagnosis: Diagnosis) -> PageTable:
    """Return how far all groups of a finding lie apart, for each statistic and metric."""
    columns = (
        PageColumn("statistic", name=True),
        PageColumn("metric", name=True),
        PageColumn("value", numeric=True),
        PageColumn("held by", name=True),
        PageColumn("by chance", numeric=True),
        PageColumn("p", numeric=True),
    )
    rows = [
        (
            words_cell(each.statistic.replace("_", " ")),
            words_cell(each.metric),
            number_cell(each.value),
            words_cell(each.group or ""),
            number_cell(each.null_median),
            PageCell(p_value(each.p_value), each.p_value),
        )
        for each in diagnosis.disparities
        if each.value is not None and each.metric in SHOWN_METRICS
    ]
    return PageTable("How far the groups lie apart", columns, tuple(rows))


def _naming(diagnosis: Diagnosis) -> tuple[PageCell, ...]:
    names = (diagnosis.target, diagnosis.scaffold, diagnosis.extractor)
    return tuple(words_cell(name) for name in (*names, diagnosis.feature, diagnosis.dimension))


def _comparison(diagnosis: Diagnosis, gap: Gap, run_id: str) -> tuple[PageCell, ...]:
    href = f"/runs/{run_id}/answers?{answers_query(diagnosis, gap.a)}"
    p = gap.comparable_p(gap.p_adjusted)
    return (
        words_cell(f"{gap.a} less {gap.b}", href=href),
        PageCell(gap.verdict.replace("_", " "), gap.verdict.value, chip=gap.verdict.value),
        number_cell(gap.gap.value),
        number_cell(gap.gap.low),
        number_cell(gap.gap.high),
        PageCell(p_value(p), p),
        words_cell(gap.reason or ""),
    )


def _group(
    diagnosis: Diagnosis, group: GroupSummary, run_id: str, *, ranked: bool, shrunken: bool
) -> tuple[PageCell, ...]:
    query = answers_query(diagnosis, group.group)
    mean, rank = group.mean, group.rank
    ends = (rank.value, rank.low, rank.high) if rank else (None, None, None)
    why = "; ".join(
        f"{number(count)} {reason.replace('_', ' ')}"
        for reason, count in sorted(group.missing_reasons.items())
    )
    missing_href = f"/runs/{run_id}/answers?{query}&missing=any" if group.missing else None
    return (
        words_cell(group.group, href=f"/runs/{run_id}/answers?{query}"),
        *(number_cell(value) for value in (mean.value, mean.low, mean.high)),
        *((number_cell(_shrunken(group)),) if shrunken else ()),
        *(map(number_cell, ends) if ranked else ()),
        number_cell(group.units),
        number_cell(group.responses),
        PageCell(str(group.missing), group.missing, missing_href, note=why or None),
    )


def _shrunken(group: GroupSummary) -> float | None:
    return group.shrunken_mean.value if group.shrunken_mean else None


def _rank(group: GroupSummary) -> tuple[float, str]:
    value = group.rank.value if group.rank and group.rank.value is not None else 0.0
    return value, group.group
