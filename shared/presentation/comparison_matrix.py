"""Every comparison of a run as a matrix: groups down, numbers or models across."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from biaswatch.shared.contracts import Diagnosis, Gap, Verdict
from biaswatch.shared.formatting import COULD_UNDO, interval, number, p_equals
from biaswatch.shared.presentation.model_names import ModelNames
from biaswatch.shared.presentation.run_findings import answers_query, title_of

MOST_ACROSS = 6
"""More models than this stand one below the other, where there are fewer comparisons."""
STRONG_P, WEAK_P = 0.01, 0.05
"""By itself, without correction: what a colour says, and no verdict."""


@dataclass(frozen=True)
class MatrixHeading:
    """The heading of a row or a column."""

    title: str
    finding_id: str | None = None
    """Of a number at a model, the finding: it leads to a close look."""


@dataclass(frozen=True)
class MatrixCell:
    """One comparison."""

    text: str
    kind: str
    """The class of its colour."""
    said: str
    """All of it in a sentence."""
    answers: str


@dataclass(frozen=True)
class ComparisonMatrix:
    """Comparisons that are read together."""

    title: str
    corner: str
    columns: tuple[MatrixHeading, ...]
    rows: tuple[tuple[MatrixHeading, tuple[MatrixCell | None, ...]], ...]


def matrices_of(diagnoses: Sequence[Diagnosis]) -> list[ComparisonMatrix]:
    """Return a matrix for each model, or one with all models where one number was measured."""
    compared = [each for each in diagnoses if each.gaps and not each.stratum]
    names = ModelNames.among(compared)

    def by_model(diagnosis: Diagnosis) -> str:
        return f"{names.of(diagnosis)}, by {diagnosis.dimension.replace('_', ' ')}"

    if len({(each.extractor, each.feature) for each in compared}) > 1:
        return _matrices(compared, by_model, lambda each: each.feature.replace("_", " "))
    return _matrices(compared, title_of, names.of)


def _matrices(
    diagnoses: Sequence[Diagnosis],
    title: Callable[[Diagnosis], str],
    heading: Callable[[Diagnosis], str],
) -> list[ComparisonMatrix]:
    ordered = sorted(diagnoses, key=title)
    return [_matrix(name, list(some), heading) for name, some in groupby(ordered, key=title)]


def _matrix(
    title: str, diagnoses: Sequence[Diagnosis], heading: Callable[[Diagnosis], str]
) -> ComparisonMatrix:
    cells = [{(gap.a, gap.b): gap for gap in each.gaps} for each in diagnoses]
    pairs = {pair for some in cells for pair in some}

    def strength(pair: tuple[str, str]) -> tuple[int, float, tuple[str, str]]:
        """Return what rows are sorted by: how many disparities, then the strongest evidence."""
        gaps = [some[pair] for some in cells if pair in some]
        found = sum(gap.verdict is Verdict.DISPARITY for gap in gaps)
        ps = [p for gap in gaps if (p := gap.comparable_p(gap.p_value)) is not None]
        return -found, min(ps, default=1.0), pair

    ordered = sorted(pairs, key=strength)
    down, names = _pair_names(ordered)
    across = tuple(MatrixHeading(heading(each), each.id) for each in diagnoses)
    columns = [
        _column(each, [some.get(pair) for pair in ordered])
        for each, some in zip(diagnoses, cells, strict=True)
    ]
    if len(across) > max(MOST_ACROSS, len(ordered)):
        return ComparisonMatrix(title, down, names, tuple(zip(across, columns, strict=True)))
    rows = tuple(zip(*columns, strict=True))
    return ComparisonMatrix(title, down, across, tuple(zip(names, rows, strict=True)))


def _pair_names(pairs: Sequence[tuple[str, str]]) -> tuple[str, tuple[MatrixHeading, ...]]:
    """Return what pairs are called, and what is said above them: what all have in common."""
    others = {b for _, b in pairs}
    if len(others) == 1 and len(pairs) > 1:
        names = tuple(MatrixHeading(a) for a, _ in pairs)
        return f"less {others.pop()}", names
    return "", tuple(MatrixHeading(f"{a} less {b}") for a, b in pairs)


def _column(diagnosis: Diagnosis, gaps: Sequence[Gap | None]) -> tuple[MatrixCell | None, ...]:
    """Return the cells of one finding; what many of them say alike is put together once."""
    title = title_of(diagnosis)
    answers = {
        name: answers_query(diagnosis, name) for name in {gap.a for gap in gaps if gap is not None}
    }
    return tuple(None if gap is None else _cell(title, gap, answers[gap.a]) for gap in gaps)


def _cell(title: str, gap: Gap, answers: str) -> MatrixCell:
    estimate = gap.gap
    same = " ≈" if gap.verdict is Verdict.NO_DISPARITY else ""
    said = interval(estimate.value, estimate.low, estimate.high, estimate.reason)
    p = p_equals(gap.comparable_p(gap.p_adjusted))
    verdict = gap.verdict.value.replace("_", " ")
    doubt = f", but {COULD_UNDO}" if gap.survives_missing is False else ""
    return MatrixCell(
        text=number(estimate.value, 2) + same,
        kind=_kind(gap),
        said=f"{title}, {gap.a} less {gap.b}: {said}, {p} corrected: {verdict}{doubt}",
        answers=answers,
    )


def _kind(gap: Gap) -> str:
    """Return the colour: whether lower or higher, and how strong the evidence is by itself."""
    p, value = gap.comparable_p(gap.p_value), gap.gap.value
    if value is None:
        return "weak"
    side = "lower" if value < 0 else "higher"
    if gap.verdict is Verdict.DISPARITY:
        return f"{side}3 found"
    if p is None or p >= WEAK_P:
        return "weak" if gap.verdict is not Verdict.NO_DISPARITY else ""
    return f"{side}{2 if p < STRONG_P else 1}"
