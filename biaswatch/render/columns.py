"""The columns of findings: what each is called, how it is read, and in which tables it is shown.

A new statistic of a gap is one line of GAP_COLUMNS.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Flag, auto
from typing import Any

from shared.formatting import VERDICT_WORDS, interval, p_value

Row = Mapping[str, Any]
"""A gap or a group, with the target, scaffold, feature and dimension of its diagnosis."""


class Shown(Flag):
    """Where a column is shown."""

    TERMINAL = auto()
    DOCUMENT = auto()
    """Markdown and HTML."""
    CSV = auto()
    TABLES = TERMINAL | DOCUMENT
    ALL = TABLES | CSV


@dataclass(frozen=True)
class Column:
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


def estimate_text(estimate: Mapping[str, Any]) -> str:
    """Return an estimate as JSON holds it, with its interval or why it has none."""
    value, low, high, reason = (estimate.get(key) for key in ("value", "low", "high", "reason"))
    return interval(value, low, high, reason)


def _read(name: str) -> Callable[[Row], Any]:
    return lambda row: row.get(name)


def _field(name: str, shown: Shown, heading: str = "") -> Column:
    """Return a column of words or counts, the same in tables and in CSV."""
    return Column(name, shown, heading or name, lambda row: str(row[name]), _read(name))


def _estimate(name: str, shown: Shown, heading: str) -> Column:
    """Return a column of numbers, which have their intervals with them in tables."""
    return Column(
        name,
        shown,
        heading,
        lambda row: estimate_text(row[name]) if row.get(name) else "",
        lambda row: (row.get(name) or {}).get("value"),
        is_estimate=True,
        no_wrap=True,
    )


def _bound(name: str, estimate: str) -> Column:
    """Return a column of CSV: one end of an estimate's interval."""
    return Column(name, Shown.CSV, name, lambda _: "", lambda row: row[estimate].get(name))


def _p_value(name: str, shown: Shown, heading: str) -> Column:
    return Column(name, shown, heading, lambda row: p_value(row.get(name)), _read(name))


def _composed(name: str, shown: Shown, text: Callable[[Row], str], *, no_wrap: bool) -> Column:
    """Return a column whose text is put together from several fields."""
    return Column(name, shown, name, text, text, no_wrap=no_wrap)


def _verdict() -> Column:
    return Column(
        "verdict",
        Shown.ALL,
        "verdict",
        lambda row: VERDICT_WORDS[row["verdict"]],
        _read("verdict"),
        is_verdict=True,
    )


def _missing(group: Row) -> str:
    reasons = ", ".join(f"{count} {why}" for why, count in group["missing_reasons"].items())
    return f"{group['missing']}" + (f" ({reasons})" if reasons else "")


GAP_COLUMNS = (
    *(_field(name, Shown.CSV) for name in ("run", "target", "scaffold")),
    _field("feature", Shown.TERMINAL | Shown.CSV),
    *(_field(name, Shown.CSV) for name in ("dimension", "a", "b")),
    _composed("groups", Shown.TABLES, lambda gap: f"{gap['a']} - {gap['b']}", no_wrap=True),
    _estimate("gap", Shown.ALL, "gap [{level}]"),
    _bound("low", "gap"),
    _bound("high", "gap"),
    _p_value("p_value", Shown.DOCUMENT | Shown.CSV, "p"),
    _p_value("p_adjusted", Shown.ALL, "p (Holm)"),
    _estimate("effect_size", Shown.DOCUMENT | Shown.CSV, "effect size"),
    _estimate("impact_ratio", Shown.TABLES, "impact ratio"),
    _verdict(),
    _field("reason", Shown.CSV),
)
GROUP_COLUMNS = (
    _field("feature", Shown.TERMINAL),
    _composed(
        "group",
        Shown.TERMINAL,
        lambda group: f"{group['dimension']} {group['group']}",
        no_wrap=False,
    ),
    _field("group", Shown.DOCUMENT),
    _field("units", Shown.TABLES, "prompts"),
    _field("responses", Shown.TABLES, "answers"),
    _composed("missing", Shown.TABLES, _missing, no_wrap=False),
    _estimate("mean", Shown.TABLES, "mean [{level}]"),
    _estimate("selection_rate", Shown.TABLES, "selected [{level}]"),
)
CONTEXT = ("target", "scaffold", "feature", "dimension")
"""What a gap and a group take from their diagnosis."""


def columns(registry: tuple[Column, ...], where: Shown) -> list[Column]:
    """Return the columns that are shown there, in their order."""
    return [each for each in registry if where in each.shown]


def rows(diagnosis: Row, part: str, **more: object) -> list[Row]:
    """Return the gaps or groups of a diagnosis, each with where it belongs."""
    context = {name: diagnosis[name] for name in CONTEXT}
    return [{**more, **context, **each} for each in diagnosis[part]]
