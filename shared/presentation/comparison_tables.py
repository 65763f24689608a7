"""Comparisons of one run as a matrix, and of two runs side by side."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby

from biaswatch.shared.contracts import Diagnosis, Gap, Verdict
from biaswatch.shared.formatting import COULD_UNDO, interval, number, p_equals
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.run_summary import answers_query, title_of
from biaswatch.shared.presentation.tables import (
    PageCell,
    PageColumn,
    PageTable,
    number_cell,
    words_cell,
)

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


Key = tuple[str, ...]


@dataclass(frozen=True)
class ComparedGap:
    """One comparison as two runs made it."""

    model: str
    what: str
    groups: str
    before: Gap
    after: Gap

    @property
    def moved(self) -> float | None:
        """How much the gap grew or shrank."""
        if self.before.gap.value is None or self.after.gap.value is None:
            return None
        return self.after.gap.value - self.before.gap.value

    @property
    def apart(self) -> bool:
        """Whether the intervals do not meet."""
        return self.intervals == "apart"

    @property
    def intervals(self) -> str:
        """How the intervals lie: apart or meeting; unknown where one run has none."""
        one, two = self.before.gap, self.after.gap
        if one.low is None or one.high is None or two.low is None or two.high is None:
            return "unknown"
        return "apart" if one.high < two.low or two.high < one.low else "meet"


@dataclass(frozen=True)
class ComparedRuns:
    """What two runs have in common."""

    gaps: tuple[ComparedGap, ...]
    only_before: int
    only_after: int

    @property
    def unknown(self) -> int:
        """How many comparisons have an interval in one run alone, or in none."""
        return sum(gap.intervals == "unknown" for gap in self.gaps)

    @property
    def new(self) -> int:
        """How many disparities the later run alone shows."""
        return sum(_found(each.after) and not _found(each.before) for each in self.gaps)

    @property
    def gone(self) -> int:
        """How many disparities the earlier run alone shows."""
        return sum(_found(each.before) and not _found(each.after) for each in self.gaps)


def compared_runs(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> ComparedRuns:
    """Return the comparisons that both runs made; if each has one model, of these two."""
    models = [{each.target for each in some} for some in (before, after)]
    alone = all(len(each) == 1 for each in models)
    one, two = (_by_key(some, by_model=not alone) for some in (before, after))
    names = ModelNames.among([*before, *after])
    gaps = [
        ComparedGap(
            _models(one[key][0], two[key][0], names), key[3], key[4], one[key][1], two[key][1]
        )
        for key in one.keys() & two.keys()
    ]
    return ComparedRuns(
        gaps=tuple(sorted(gaps, key=_order)),
        only_before=len(one.keys() - two.keys()),
        only_after=len(two.keys() - one.keys()),
    )


def compared_table(found: ComparedRuns, most: int | None = None) -> PageTable:
    """Return a row for each comparison."""
    columns = (
        *(PageColumn(title, name=True) for title in ("number", "groups", "model")),
        PageColumn("gap before", numeric=True),
        PageColumn("gap after", numeric=True),
        PageColumn("moved by", numeric=True),
        PageColumn("intervals"),
        PageColumn("verdict before"),
        PageColumn("verdict after"),
    )
    rows = [
        (
            words_cell(each.what),
            words_cell(each.groups),
            words_cell(each.model),
            _gap_cell(each.before),
            _gap_cell(each.after),
            number_cell(each.moved),
            words_cell(each.intervals, chip="raised" if each.apart else None),
            _verdict_cell(each.before),
            _verdict_cell(each.after),
        )
        for each in found.gaps[:most]
    ]
    return PageTable("Two runs side by side", columns, tuple(rows))


def _by_key(diagnoses: Sequence[Diagnosis], *, by_model: bool) -> dict[Key, tuple[Diagnosis, Gap]]:
    return {
        (
            each.target if by_model else "",
            each.scaffold,
            each.extractor,
            f"{each.feature.replace('_', ' ')} by {each.dimension.replace('_', ' ')}",
            f"{gap.a} less {gap.b}",
        ): (each, gap)
        for each in diagnoses
        for gap in each.gaps
    }


def _models(one: Diagnosis, two: Diagnosis, names: ModelNames) -> str:
    both = one.target if one.target == two.target else f"{one.target}, then {two.target}"
    return names.of(one, both)


def _order(each: ComparedGap) -> tuple[bool, bool, float, str, str]:
    same = each.before.verdict is each.after.verdict
    return not each.apart, same, -abs(each.moved or 0.0), each.what, each.groups


def _found(gap: Gap) -> bool:
    return gap.verdict is Verdict.DISPARITY


def _gap_cell(gap: Gap) -> PageCell:
    it = gap.gap
    return PageCell(interval(it.value, it.low, it.high, it.reason), it.value)


def _verdict_cell(gap: Gap) -> PageCell:
    return PageCell(gap.verdict.replace("_", " "), gap.verdict.value, chip=gap.verdict.value)
