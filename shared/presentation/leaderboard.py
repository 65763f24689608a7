"""Models side by side: a row for each model, with its gaps and their intervals."""

from collections import Counter
from collections.abc import Iterable, Sequence

from biaswatch.shared.contracts import Diagnosis, SummaryWord
from biaswatch.shared.formatting import UNDEFINED, summary_word
from biaswatch.shared.presentation.findings import ComparisonView, comparisons, title_of
from biaswatch.shared.presentation.tables import (
    Table,
    TableCell,
    gap_cell,
    names,
    numbers,
    text_cell,
    texts,
    words,
)
from biaswatch.shared.requests.run_views import RunProgress

MAX_GAPS = 8
"""Columns of gaps: those with a disparity at most models."""
RunFindings = tuple[RunProgress, Sequence[Diagnosis]]
GapKey = tuple[str, str, str]


def leaderboard(runs: Iterable[RunFindings]) -> Table:
    """Return a row for each model of some runs: those with fewest disparities first."""
    rows = [
        (
            run,
            target,
            scaffold,
            _by_gap(row for row in rows_of_run if _is_of(row, target, scaffold)),
        )
        for run, diagnoses in runs
        for rows_of_run in [comparisons([row for row in diagnoses if not row.stratum])]
        for target, scaffold in dict.fromkeys((d.target, d.scaffold) for d in diagnoses)
    ]
    counts: Counter[GapKey] = Counter()
    for *_, gaps in rows:
        counts.update({key: 1 + 1000 * row.is_disparity for key, row in gaps.items()})
    keys = [key for key, _ in counts.most_common(MAX_GAPS)]
    several = len({scaffold for _, _, scaffold, _ in rows}) > 1
    ranked = [
        (
            sum(row.is_disparity for row in gaps.values()),
            (
                text_cell(target, note=words(scaffold) if several else None),
                text_cell(run.described.name or run.suite, href=f"/runs/{run.run_id}"),
                _word_cell(gaps.values()),
                *(_gap_cell(gaps.get(key)) for key in keys),
            ),
        )
        for run, target, scaffold, gaps in rows
    ]
    ranked.sort(key=lambda row: row[0])
    titles = (f"{what}: {a} minus {b}" for what, a, b in keys)
    columns = (*names("model", "run"), *texts("found"), *numbers(*titles))
    return Table("Models side by side", columns, tuple(cells for _, cells in ranked))


def _is_of(row: ComparisonView, target: str, scaffold: str) -> bool:
    return (row.diagnosis.target, row.diagnosis.scaffold) == (target, scaffold)


def _by_gap(rows: Iterable[ComparisonView]) -> dict[GapKey, ComparisonView]:
    return {(title_of(row.diagnosis), row.gap.a, row.gap.b): row for row in rows}


def _word_cell(rows: Iterable[ComparisonView]) -> TableCell:
    """Return the one word for a model, with the number of its disparities."""
    listed = list(rows)
    measured = [row.gap.summary.value for row in listed if not row.conclusion[2]]
    word = summary_word(measured)
    if word is None:
        return text_cell("nothing compared")
    disparities = sum(row.is_disparity for row in listed)
    note = f"{disparities} of {len(listed)}" if disparities else None
    return text_cell(words(word), chip=SummaryWord(word).value, note=note)


def _gap_cell(row: ComparisonView | None) -> TableCell:
    if row is None:
        return text_cell(UNDEFINED)
    return gap_cell(row.gap.summary_gap, words(row.gap.summary))
