"""Comparisons of one run as a matrix, and of two runs side by side."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from biaswatch.shared.contracts import Diagnosis, Gap, SummaryWord
from biaswatch.shared.contracts.record import computed_once
from biaswatch.shared.formatting import COULD_UNDO, number
from biaswatch.shared.lookup import grouped
from biaswatch.shared.presentation.findings import ComparisonView, comparison_views, title_of
from biaswatch.shared.presentation.names import ModelNames
from biaswatch.shared.presentation.questions import answered_questions, question_cell
from biaswatch.shared.presentation.slopes import Slope
from biaswatch.shared.presentation.tables import (
    Table,
    estimate_text,
    gap_cell,
    names,
    number_cell,
    numbers,
    text_cell,
    texts,
    verdict_cell,
    words,
)

MAX_COLUMNS = 6
"""More models become rows, where there are fewer comparisons."""
MAX_CELLS, MIN_PAIRS = 220, 10
"""Most cells of a matrix, for pages under 200 KB, and its fewest pairs of groups."""
STRONG_P, WEAK_P = 0.01, 0.05
"""Uncorrected levels for the color of a cell; they are not verdicts."""
BOTH = "before", "after"
MAX_SLOPES, MAX_PICTURES = 8, 4
Pair = tuple[str, str]


@dataclass(frozen=True)
class MatrixHeading:
    """Heading of a row or a column, with a link to its finding."""

    title: str
    finding_id: str | None = None


@dataclass(frozen=True)
class MatrixCell:
    """One comparison."""

    text: str
    kind: str
    """CSS class of the color."""
    title: str
    """The whole comparison in a sentence."""
    answers: str


@dataclass(frozen=True)
class ComparisonMatrix:
    """Comparisons to be read together."""

    title: str
    corner: str
    columns: tuple[MatrixHeading, ...]
    rows: tuple[tuple[MatrixHeading, tuple[MatrixCell | None, ...]], ...]
    left_out: int = 0
    """Pairs of groups with weaker evidence, without a row."""


def matrices_of(
    diagnoses: Sequence[Diagnosis], rows: Sequence[ComparisonView] | None = None
) -> list[ComparisonMatrix]:
    """Return a matrix for each model, or one if they share one feature.

    `rows` are the comparisons of the findings.
    """
    compared = [row for row in diagnoses if row.gaps and not row.stratum]
    model = ModelNames.among(compared).of

    def model_and_dimension(diagnosis: Diagnosis) -> str:
        return f"{model(diagnosis)}, by {words(diagnosis.dimension)}"

    def feature(diagnosis: Diagnosis) -> str:
        return words(diagnosis.feature)

    is_one_feature = len({(row.extractor, row.feature) for row in compared}) <= 1
    title, heading = (title_of, model) if is_one_feature else (model_and_dimension, feature)
    ordered = sorted(compared, key=title)
    views = comparison_views(compared) if rows is None else rows
    views_of = grouped((view.diagnosis.id, view) for view in views)
    return [
        _matrix(name, list(same), views_of, heading) for name, same in groupby(ordered, key=title)
    ]


def _matrix(
    title: str,
    diagnoses: Sequence[Diagnosis],
    views_of: Mapping[str, Sequence[ComparisonView]],
    heading: Callable[[Diagnosis], str],
) -> ComparisonMatrix:
    """Return pairs of groups by finding; many findings become rows."""
    by_pair = [
        {(view.gap.a, view.gap.b): view for view in views_of[diagnosis.id]}
        for diagnosis in diagnoses
    ]
    all_pairs = sorted(
        {pair for rows in by_pair for pair in rows}, key=lambda p: _strength(p, by_pair)
    )
    pairs = all_pairs[: max(MIN_PAIRS, MAX_CELLS // len(diagnoses))]
    left_out = len(all_pairs) - len(pairs)
    corner, row_names = _pair_names(pairs)
    column_names = tuple(MatrixHeading(heading(row), row.id) for row in diagnoses)
    columns = [
        tuple(_matrix_cell(rows[pair]) if pair in rows else None for pair in pairs)
        for rows in by_pair
    ]
    if len(column_names) > max(MAX_COLUMNS, len(pairs)):
        transposed = tuple(zip(column_names, columns, strict=True))
        return ComparisonMatrix(title, corner, row_names, transposed, left_out)
    rows = tuple(zip(row_names, zip(*columns, strict=True), strict=True))
    return ComparisonMatrix(title, corner, column_names, rows, left_out)


def _strength(pair: Pair, by_pair: Sequence[dict[Pair, ComparisonView]]) -> tuple[int, float, Pair]:
    """Return the sort key of a row: many disparities first, then strong evidence."""
    rows = [rows[pair] for rows in by_pair if pair in rows]
    p_values = [p for row in rows if (p := row.gap.comparable_p(row.gap.p_value)) is not None]
    return -sum(row.is_disparity for row in rows), min(p_values, default=1.0), pair


def _pair_names(pairs: Sequence[Pair]) -> tuple[str, tuple[MatrixHeading, ...]]:
    """Return the common second group for the corner, and the names of the rows."""
    seconds = {b for _, b in pairs}
    if len(seconds) == 1 and len(pairs) > 1:
        return f"minus {seconds.pop()}", tuple(MatrixHeading(a) for a, _ in pairs)
    return "", tuple(MatrixHeading(f"{a} minus {b}") for a, b in pairs)


def _matrix_cell(row: ComparisonView) -> MatrixCell:
    """Return a comparison as a cell, with the whole sentence as its title."""
    gap, shown = row.gap, estimate_text(row.gap.summary_gap)
    within = " ≈" if gap.summary is SummaryWord.NO_DISPARITY else ""
    doubt = f", but {COULD_UNDO}" if gap.survives_missing is False else ""
    return MatrixCell(
        text=number(gap.gap.value, 2) + within,
        kind=_color(row),
        title=f"{gap.a} minus {gap.b}: {shown}, adjusted {row.p}: {words(gap.summary)}{doubt}",
        answers=row.answers,
    )


def _color(row: ComparisonView) -> str:
    """Return the CSS class: direction of the gap, and its evidence without correction."""
    p, value = row.gap.comparable_p(row.gap.p_value), row.gap.gap.value
    if value is None:
        return "weak"
    side = "lower" if value < 0 else "higher"
    if row.is_disparity:
        return f"{side}3 found"
    if p is None or p >= WEAK_P:
        return "" if row.gap.summary is SummaryWord.NO_DISPARITY else "weak"
    return f"{side}{2 if p < STRONG_P else 1}"


@dataclass(frozen=True)
class ComparedGap:
    """One comparison of two runs."""

    model: str
    what: str
    groups: str
    before: Gap
    after: Gap
    tolerance: float = 0.0

    @property
    def moved(self) -> float | None:
        """The change of the gap."""
        before, after = self.before.gap.value, self.after.gap.value
        return None if before is None or after is None else after - before

    @computed_once
    def intervals(self) -> str:
        """`apart` or `meet`; `unknown` where one run has no interval."""
        one, two = self.before.gap, self.after.gap
        if one.low is None or one.high is None or two.low is None or two.high is None:
            return "unknown"
        return "apart" if one.high < two.low or two.high < one.low else "meet"

    @property
    def order(self) -> tuple[bool, bool, float, str, str]:
        """The sort key: intervals apart, other verdicts and large changes first."""
        is_same = self.before.summary is self.after.summary
        return self.intervals != "apart", is_same, -abs(self.moved or 0.0), self.what, self.groups


@dataclass(frozen=True)
class ComparedRuns:
    """Comparisons in both of two runs."""

    gaps: tuple[ComparedGap, ...]
    only_before: int
    only_after: int

    @property
    def unknown(self) -> int:
        """The number of comparisons without an interval in either run."""
        return sum(gap.intervals == "unknown" for gap in self.gaps)

    @property
    def new(self) -> int:
        """The number of disparities in the later run alone."""
        return sum(_is_disparity(gap.after) and not _is_disparity(gap.before) for gap in self.gaps)

    @property
    def gone(self) -> int:
        """The number of disparities in the earlier run alone."""
        return sum(_is_disparity(gap.before) and not _is_disparity(gap.after) for gap in self.gaps)


def compared_runs(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> ComparedRuns:
    """Return the comparisons of both runs; single models are compared with each other."""
    by_model = any(len({row.target for row in rows}) != 1 for rows in (before, after))
    one, two = (_by_subject(rows, by_model=by_model) for rows in (before, after))
    model_names = ModelNames.among([*before, *after])
    gaps = [_compared_gap(one[key], two[key], model_names) for key in one.keys() & two.keys()]
    return ComparedRuns(
        gaps=tuple(sorted(gaps, key=lambda gap: gap.order)),
        only_before=len(one.keys() - two.keys()),
        only_after=len(two.keys() - one.keys()),
    )


def _compared_gap(before: ComparisonView, after: ComparisonView, names: ModelNames) -> ComparedGap:
    """Return a comparison of both runs; different models are named one after the other."""
    first, second = before.diagnosis.target, after.diagnosis.target
    model = first if first == second else f"{first}, then {second}"
    return ComparedGap(
        model=names.of(before.diagnosis, model),
        what=title_of(before.diagnosis),
        groups=f"{before.gap.a} minus {before.gap.b}",
        before=before.gap,
        after=after.gap,
        tolerance=after.diagnosis.tolerance,
    )


def slopes_of(compared: ComparedRuns) -> list[tuple[str, float, list[Slope]]]:
    """Return title, tolerance and slopes of each number, the largest changes first."""
    several = len({gap.model for gap in compared.gaps}) > 1
    by_number = grouped((gap.what, gap) for gap in compared.gaps)
    return [
        (
            f"Gap in {what}, before and after",
            gaps[0].tolerance,
            [_slope(gap, with_model=several) for gap in gaps[:MAX_SLOPES]],
        )
        for what, gaps in list(by_number.items())[:MAX_PICTURES]
    ]


def _slope(gap: ComparedGap, *, with_model: bool) -> Slope:
    name = f"{gap.groups}, {gap.model}" if with_model else gap.groups
    verdicts = gap.before.summary, gap.after.summary
    return Slope(name, gap.before.gap, gap.after.gap, verdicts)


def compared_table(compared: ComparedRuns, max_rows: int | None = None) -> Table:
    """Return a row for each comparison."""
    shown = compared.gaps[:max_rows]
    questions = answered_questions([gap for row in shown for gap in (row.before, row.after)])
    columns = (
        *names("number", "groups", "model"),
        *numbers("gap before", "gap after", "moved by"),
        *texts("intervals", "verdict before", "verdict after"),
        *texts(*(f"{question.heading} {when}" for question in questions for when in BOTH)),
    )
    rows = [
        (
            text_cell(gap.what),
            text_cell(gap.groups),
            text_cell(gap.model),
            gap_cell(gap.before.gap),
            gap_cell(gap.after.gap),
            number_cell(gap.moved),
            text_cell(gap.intervals, chip="raised" if gap.intervals == "apart" else None),
            verdict_cell(gap.before.summary),
            verdict_cell(gap.after.summary),
            *(
                question_cell(question, of)
                for question in questions
                for of in (gap.before, gap.after)
            ),
        )
        for gap in shown
    ]
    return Table("Two runs side by side", columns, tuple(rows))


def _by_subject(
    diagnoses: Sequence[Diagnosis], *, by_model: bool
) -> dict[tuple[str, ...], ComparisonView]:
    """Return comparisons by what makes two of different runs the same."""
    return {
        (
            row.diagnosis.target if by_model else "",
            row.diagnosis.scaffold,
            row.diagnosis.extractor,
            title_of(row.diagnosis),
            row.gap.a,
            row.gap.b,
        ): row
        for row in comparison_views(diagnoses)
    }


def _is_disparity(gap: Gap) -> bool:
    return gap.summary is SummaryWord.DISPARITY
