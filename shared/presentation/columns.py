"""The columns of findings: what each is called, how it is read, and in which tables it is shown.

A new statistic of a gap is one line of GAP_COLUMNS.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Flag, auto
from typing import Generic, Protocol, TypeVar

from biaswatch.shared.contracts import Diagnosis, Estimate, Gap, GroupSummary
from biaswatch.shared.formatting import by_evidence, interval, number, p_value, verdict_words
from biaswatch.shared.presentation.run_summary import title_of


@dataclass(frozen=True)
class GapRow:
    """A gap with the diagnosis it belongs to, and its run where that is known."""

    diagnosis: Diagnosis
    gap: Gap
    run: str = ""
    model: str = ""
    """What the model is called among the others of a table."""


@dataclass(frozen=True)
class GroupRow:
    """A group with the diagnosis it belongs to."""

    diagnosis: Diagnosis
    group: GroupSummary
    model: str = ""
    """What the model is called among the others of a table."""


class OfDiagnosis(Protocol):
    """What belongs to a diagnosis."""

    @property
    def diagnosis(self) -> Diagnosis:
        """The diagnosis."""

    @property
    def model(self) -> str:
        """What its model is called among the others."""


Row = TypeVar("Row", bound=OfDiagnosis)
"""A gap's row or a group's."""


class Shown(Flag):
    """Where a column is shown."""

    TERMINAL = auto()
    DOCUMENT = auto()
    """Markdown and HTML."""
    CSV = auto()
    TABLES = TERMINAL | DOCUMENT
    ALL = TABLES | CSV


@dataclass(frozen=True)
class Column(Generic[Row]):
    """One column of findings."""

    name: str
    """Its name in CSV."""
    shown: Shown
    heading: str
    """What people read above it; `{level}` is replaced by what the intervals cover."""
    text: Callable[[Row], str]
    """The cell that people read; it is empty where the statistic does not apply."""
    value: Callable[[Row], object]
    """The cell in CSV, unrounded."""
    is_estimate: bool = False
    """A terminal puts the interval below the number."""
    no_wrap: bool = False
    is_verdict: bool = False
    """It is coloured, or bold, by the verdict."""
    is_optional: bool = False
    """A document leaves it out where no row has a cell; a terminal does so with every column."""
    is_name: bool = False
    """A document says it once above the table where all rows have the same."""


class HasInterval(Protocol):
    """An estimate, of the contracts or of the statistics."""

    @property
    def value(self) -> float | None:
        """The number."""

    @property
    def low(self) -> float | None:
        """The lower end of its interval."""

    @property
    def high(self) -> float | None:
        """The upper end."""

    @property
    def reason(self) -> str | None:
        """Why the number or its interval is undefined."""


def estimate_text(estimate: HasInterval) -> str:
    """Return an estimate with its interval, or with the reason why it has none."""
    return interval(estimate.value, estimate.low, estimate.high, estimate.reason)


def _field(
    name: str, shown: Shown, read: Callable[[Row], object], heading: str = ""
) -> Column[Row]:
    """Return a column of words or counts, the same in tables and in CSV."""
    return Column(name, shown, heading or name, lambda row: str(read(row)), read)


def _estimate(
    name: str, shown: Shown, heading: str, read: Callable[[Row], Estimate | None]
) -> Column[Row]:
    """Return a column of numbers, which have their intervals with them in tables."""

    def text(row: Row) -> str:
        return estimate_text(found) if (found := read(row)) else ""

    def value(row: Row) -> float | None:
        return found.value if (found := read(row)) else None

    return Column(
        name, shown, heading, text, value, is_estimate=True, no_wrap=True, is_optional=True
    )


def _gap_p(
    name: str, shown: Shown, heading: str, read: Callable[[Gap], float | None]
) -> Column[GapRow]:
    """Return a column of p-values of gaps."""

    def text(row: GapRow) -> str:
        return p_value(row.gap.comparable_p(read(row.gap)))

    return Column(name, shown, heading, text, lambda row: read(row.gap))


def _composed(name: str, shown: Shown, text: Callable[[Row], str], *, no_wrap: bool) -> Column[Row]:
    """Return a column whose text is put together from several fields."""
    return Column(name, shown, name, text, text, no_wrap=no_wrap)


def _missing(row: GroupRow) -> str:
    reasons = ", ".join(f"{count} {why}" for why, count in row.group.missing_reasons.items())
    return f"{row.group.missing}" + (f" ({reasons})" if reasons else "")


def _shrunken(row: GroupRow) -> str:
    found = row.group.shrunken_mean
    return number(found.value) if found and found.value is not None else ""


def rank_text(row: GroupRow) -> str:
    """Return the rank with all ranks it may be; one that is certain stands alone."""
    found = row.group.rank
    if found is None or found.value is None or found.low is None or found.high is None:
        return ""
    if found.low == found.high:
        return f"{found.value:.0f}"
    return f"{found.value:.0f} ({found.low:.0f} to {found.high:.0f})"


def _number(diagnosis: Diagnosis) -> str:
    return title_of(diagnosis) + (" (a stratum)" if diagnosis.stratum else "")


def _naming() -> tuple[Column[Row], Column[Row]]:
    """Return the columns that say which number it is, and of which model."""

    def named(name: str, text: Callable[[Row], str]) -> Column[Row]:
        return Column(name, Shown.DOCUMENT, name, text, text, is_name=True)

    return (
        named("number", lambda row: _number(row.diagnosis)),
        named("model", lambda row: row.model or row.diagnosis.target),
    )


GAP_COLUMNS: tuple[Column[GapRow], ...] = (
    *_naming(),
    _field("run", Shown.CSV, lambda row: row.run),
    _field("target", Shown.CSV, lambda row: row.diagnosis.target),
    _field("scaffold", Shown.CSV, lambda row: row.diagnosis.scaffold),
    _field("feature", Shown.TERMINAL | Shown.CSV, lambda row: row.diagnosis.feature),
    _field("dimension", Shown.CSV, lambda row: row.diagnosis.dimension),
    _field("a", Shown.CSV, lambda row: row.gap.a),
    _field("b", Shown.CSV, lambda row: row.gap.b),
    _composed("groups", Shown.TABLES, lambda row: f"{row.gap.a} - {row.gap.b}", no_wrap=True),
    _estimate("gap", Shown.ALL, "gap [{level}]", lambda row: row.gap.gap),
    _field("low", Shown.CSV, lambda row: row.gap.gap.low),
    _field("high", Shown.CSV, lambda row: row.gap.gap.high),
    _gap_p("p_value", Shown.DOCUMENT | Shown.CSV, "p", lambda gap: gap.p_value),
    _gap_p("p_adjusted", Shown.ALL, "family p", lambda gap: gap.p_adjusted),
    _estimate(
        "effect_size", Shown.DOCUMENT | Shown.CSV, "effect size", lambda row: row.gap.effect_size
    ),
    _estimate("impact_ratio", Shown.TABLES, "impact ratio", lambda row: row.gap.impact_ratio),
    Column(
        "verdict",
        Shown.ALL,
        "verdict",
        lambda row: verdict_words(
            row.gap.verdict,
            row.gap.survives_missing,
            unmeasured=row.diagnosis.is_unmeasured(row.gap),
        ),
        lambda row: row.gap.verdict.value,
        is_verdict=True,
    ),
    _field("survives_missing", Shown.CSV, lambda row: row.gap.survives_missing),
    _field("reason", Shown.CSV, lambda row: row.gap.reason),
    _field("claim", Shown.CSV, lambda row: row.diagnosis.claim),
)
GROUP_COLUMNS: tuple[Column[GroupRow], ...] = (
    *_naming(),
    _field("group", Shown.TABLES, lambda row: row.group.group),
    _field("units", Shown.TABLES, lambda row: row.group.units, "prompts"),
    _field("responses", Shown.TABLES, lambda row: row.group.responses, "answers"),
    _composed("missing", Shown.TABLES, _missing, no_wrap=False),
    _estimate("mean", Shown.TABLES, "mean [{level}]", lambda row: row.group.mean),
    _estimate(
        "selection_rate", Shown.TABLES, "selected [{level}]", lambda row: row.group.selection_rate
    ),
    Column("shrunken_mean", Shown.TABLES, "shrunken mean", _shrunken, _shrunken, is_optional=True),
    Column(
        "rank", Shown.TABLES, "rank ({level})", rank_text, rank_text, no_wrap=True, is_optional=True
    ),
)


def columns(registry: Sequence[Column[Row]], where: Shown) -> list[Column[Row]]:
    """Return the columns that are shown there, in their order."""
    return [each for each in registry if where in each.shown]


def gap_rows(diagnosis: Diagnosis, run: str = "") -> list[GapRow]:
    """Return a row for each gap of a diagnosis, those that say the most first."""
    return [GapRow(diagnosis, gap, run) for gap in gaps_by_evidence(diagnosis)]


def gaps_by_evidence(diagnosis: Diagnosis) -> list[Gap]:
    """Return what is decided first, then the rest by p-value and by size."""
    return sorted(
        diagnosis.gaps,
        key=lambda gap: (
            by_evidence(gap.verdict, gap.comparable_p(gap.p_adjusted), gap.gap.value),
            gap.a,
            gap.b,
        ),
    )


def group_rows(diagnosis: Diagnosis, model: str = "") -> list[GroupRow]:
    """Return a row for each group of a diagnosis."""
    return [GroupRow(diagnosis, group, model) for group in diagnosis.groups]
