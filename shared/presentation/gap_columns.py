"""Columns of comparisons; a new statistic of a gap is one line of GAP_COLUMNS."""

from operator import attrgetter

from biaswatch.shared.formatting import UNDEFINED, verdict_words
from biaswatch.shared.presentation.columns import (
    ESTIMATE,
    NAME,
    NAMING,
    NUMBER,
    FindingColumn,
    Shown,
    estimate_column,
    plain_column,
)
from biaswatch.shared.presentation.findings import ComparisonView
from biaswatch.shared.presentation.questions import (
    GROUP_EFFECT,
    TWINS,
    QuestionColumn,
    question_cell,
)
from biaswatch.shared.presentation.tables import TableCell, estimate_cell, p_cell, text_cell
from biaswatch.shared.presentation.verdicts import verdict_reason
from biaswatch.shared.stats.estimate import Question

HEADLINE = ("summary", "verdict", "headline", "scope", "twin_rate", "placebo_rate")


def _p_column(name: str, shown: Shown, heading: str) -> FindingColumn[ComparisonView]:
    """Return a column of p-values, null in files if too small to compute."""
    read = attrgetter(name)

    def cell(row: ComparisonView) -> TableCell:
        p = read(row.gap)
        return TableCell(p_cell(row.gap.comparable_p(p)).text, p)

    return FindingColumn(name, shown, heading, cell, NUMBER)


def _question_columns(question: QuestionColumn) -> tuple[FindingColumn[ComparisonView], ...]:
    """Return the answer with its p-value for tables, and both with the reason for files."""
    files, name = Shown.CSV | Shown.SEVERAL, question.name

    def cell(row: ComparisonView) -> TableCell:
        return question_cell(question, row.gap)

    return (
        FindingColumn(name, Shown.TABLES, question.heading, cell, is_optional=True),
        plain_column(name, Shown.CSV, f"gap.{name}"),
        plain_column(f"p_{name}", files, f"gap.p_{name}", f"p of {question.heading}"),
        plain_column(f"{name}_reason", Shown.CSV, f"gap.{name}_reason"),
    )


def _pair(row: ComparisonView) -> TableCell:
    """Return both groups, with a link to their answers."""
    href = f"/runs/{row.run_id}/answers?{row.answers}" if row.run_id else None
    return text_cell(f"{row.gap.a} - {row.gap.b}", href=href)


def _mean_gap(row: ComparisonView) -> TableCell:
    """Return the mean gap beside a shift in column gap."""
    return estimate_cell(row.gap.gap) if row.gap.twin_shift else text_cell(UNDEFINED)


def _gap_p(row: ComparisonView) -> TableCell:
    """Return the p-value of the mean gap before correction, where the gap is the headline."""
    gap = row.gap
    is_gap = gap.headline is Question.GAP
    return p_cell(gap.comparable_p(gap.p_value)) if is_gap else text_cell(UNDEFINED)


def _verdict(row: ComparisonView) -> TableCell:
    """Return the verdict with its doubts, as a chip."""
    verdict, survives, unmeasured = row.conclusion
    text = verdict_words(verdict, survives, unmeasured=unmeasured)
    return TableCell(text, verdict, chip=verdict)


def _why(row: ComparisonView) -> TableCell:
    """Return the reason for the verdict."""
    return text_cell(verdict_reason(row.gap, row.gap.reason))


GAP_COLUMNS: tuple[FindingColumn[ComparisonView], ...] = (
    *NAMING,
    plain_column("run", Shown.CSV, "run_id"),
    plain_column("target", Shown.CSV, "diagnosis.target"),
    plain_column("scaffold", Shown.CSV, "diagnosis.scaffold"),
    plain_column("feature", Shown.TERMINAL | Shown.CSV, "diagnosis.feature"),
    plain_column("dimension", Shown.CSV, "diagnosis.dimension"),
    plain_column("a", Shown.CSV, "gap.a"),
    plain_column("b", Shown.CSV, "gap.b"),
    FindingColumn("groups", Shown.TABLES, "groups", _pair, NAME),
    estimate_column("gap", Shown.TABLES, "gap [{level}]", "gap.summary_gap"),
    estimate_column("gap", Shown.CSV, "gap [{level}]", "gap.gap"),
    plain_column("low", Shown.CSV, "gap.gap.low"),
    plain_column("high", Shown.CSV, "gap.gap.high"),
    plain_column("summary_low", Shown.CSV, "gap.summary_gap.low"),
    plain_column("summary_high", Shown.CSV, "gap.summary_gap.high"),
    _p_column("p_summary", Shown.CSV, "p"),
    FindingColumn("p_value", Shown.DOCUMENT, "p", _gap_p, NUMBER, is_optional=True),
    _p_column("p_value", Shown.CSV, "p"),
    _p_column("p_adjusted", Shown.CSV, "adjusted p"),
    _p_column("p_summary", Shown.TABLES, "adjusted p"),
    estimate_column("effect_size", Shown.DOCUMENT | Shown.CSV, "effect size"),
    FindingColumn(
        "mean_gap",
        Shown.PAGES | Shown.DOCUMENT,
        "mean gap [{level}]",
        _mean_gap,
        ESTIMATE,
        is_optional=True,
    ),
    estimate_column("constant_shift", Shown.CSV, "constant shift [{level}]"),
    estimate_column("impact_ratio", Shown.TERMINAL | Shown.DOCUMENT, "impact ratio"),
    *_question_columns(TWINS),
    *_question_columns(GROUP_EFFECT),
    FindingColumn("verdict", Shown.TABLES, "summary", _verdict),
    *(plain_column(name, Shown.CSV, f"gap.{name}") for name in HEADLINE),
    plain_column("survives_missing", Shown.CSV, "gap.survives_missing"),
    plain_column("reason", Shown.CSV, "gap.reason"),
    FindingColumn("why", Shown.PAGES, "why", _why),
    plain_column("claim", Shown.CSV, "diagnosis.claim"),
)
