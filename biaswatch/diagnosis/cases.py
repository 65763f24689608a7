"""The cases behind the gaps of a table, as rows."""

from collections.abc import Iterable, Iterator, Mapping

from biaswatch.diagnosis.diagnosis import DiagnosisResult
from biaswatch.diagnosis.sources import DiagnosisInput
from biaswatch.render.gap_cases import COMPARED
from biaswatch.render.table_rows import Row, turned
from biaswatch.shared.analysis.findings.cases import gap_cases
from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.groupings import grouping
from biaswatch.shared.analysis.findings.observations import Labels
from biaswatch.shared.errors import UsageError


def check_cases(source: DiagnosisInput) -> None:
    """Raise UsageError for a run, and for a table too large for memory."""
    if source.extractors:
        raise UsageError("`cases` are those of a table; the pages of a run show its answers.")
    if source.summed:
        raise UsageError(f"`cases` needs all values. {source.summed.advice}")


def strongest_cases(
    result: DiagnosisResult, n: int | None = None, **wanted: str | None
) -> list[Row]:
    """Return the cases behind the strongest comparison of each feature.

    Parameters
    ----------
    result
        The diagnosis.
    n
        The number of cases of a comparison; None for all.
    wanted
        Values of the columns `feature`, `domain`, `a` and `b`; None for any.

    Raises
    ------
    UsageError
        No comparison of answers has these values, or the table does not fit into memory.
    """
    check_cases(result.source)
    named = {name: value for name, value in wanted.items() if value is not None}
    strongest: dict[str, Row] = {}
    for row in result.comparisons:
        for compared in (row, turned(row)):
            if all(compared[name] == value for name, value in named.items()):
                strongest.setdefault(row["feature"], compared)
    if named and not strongest.keys() & set(result.source.rows.features):
        listed = ", ".join(f"{name} {value!r}" for name, value in named.items())
        raise UsageError(f"No comparison of answers has {listed}.")
    return cases_behind(result, strongest.values(), n)


def cases_behind(
    result: DiagnosisResult, compared: Iterable[Row], n: int | None = None
) -> list[Row]:
    """Return the cases behind some comparisons of answers, at most n of each."""
    seen = result.source.rows
    answers = [row for row in compared if row["feature"] in seen.features]
    groups = {
        name: SampledGroups(seen, grouping(seen, (name,)), result.plan)
        for name in {row["dimension"] for row in answers}
    }
    return [
        case
        for row in answers
        for case in _case_rows(groups[row["dimension"]], row, n, result.source.texts)
    ]


def _case_rows(
    groups: SampledGroups, compared: Row, n: int | None, texts: Mapping[str, Labels]
) -> Iterator[Row]:
    """Yield the cases of a comparison, the largest differences in the gap's direction first."""
    feature = groups.observations.features.index(compared["feature"])
    cases = gap_cases(groups, compared["a"], compared["b"], compared["domain"], feature)
    about = {name: compared[name] for name in COMPARED}
    order = cases.largest(n, downwards=(compared["gap"] or 0.0) < 0)
    numbers = zip(cases.rows.T[order].tolist(), cases.means.T[order].tolist(), strict=True)
    for (row_a, row_b), (mean_a, mean_b) in numbers:
        yield about | {
            "case": cases.name(max(row_a, row_b)),
            "group": None if min(row_a, row_b) >= 0 else compared["a" if row_b < 0 else "b"],
            "mean_a": mean_a,
            "mean_b": mean_b,
            "difference": mean_a - mean_b,
            "text_a": _texts(texts, row_a),
            "text_b": _texts(texts, row_b),
        }


def _texts(texts: Mapping[str, Labels], row: int) -> Mapping[str, str | None]:
    """Return the texts of a row by column; empty for a missing side."""
    return {name: labels[row] for name, labels in texts.items() if row >= 0}
