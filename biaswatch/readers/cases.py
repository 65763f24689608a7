"""Cases in a file become a 2x2 table: two groups, an outcome, filters, strata, covariates."""

import operator
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biaswatch.readers.columns import (
    DETECTED,
    NAME,
    as_booleans,
    check_columns,
    check_value_keys,
    check_values,
    column_keys,
    value_key,
)
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.tables.odds_ratio import adjusted_odds_ratio
from biaswatch.shared.stats.tables.stratified import Stratified, stratified

if TYPE_CHECKING:
    import pandas as pd

MOST_CATEGORIES = 50
_CONDITION = re.compile(r"^(?P<column>.+?)\s*(?P<sign>>=|<=|!=|=|>|<)\s*(?P<value>.+)$")
_ORDER: dict[str, Callable[[Any, Any], Any]] = {
    ">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt,
}  # fmt: skip


@dataclass(frozen=True)
class RowFilter:
    """A column compared with a value."""

    column: str
    sign: str
    value: str

    @property
    def names(self) -> list[str]:
        """The values named by the condition; empty for a comparison with a number."""
        return [] if self.sign in _ORDER else [name.strip() for name in self.value.split("|")]

    def check(self, frame: "pd.DataFrame", path: object) -> None:
        """Raise UsageError if the column is missing, or no row has a named value."""
        check_columns([self.column], frame, path)
        if self.names:
            check_values(self.names, frame[self.column], path)

    def met(self, frame: "pd.DataFrame", path: object) -> "pd.Series[Any]":
        """Return 1.0, 0.0, or NaN for an empty cell, for each row."""
        column = frame[self.column]
        met = self._ordered(column, path) if self.sign in _ORDER else self._equal(column)
        return met.astype(float).where(~column.isna(), np.nan)

    def _ordered(self, column: "pd.Series[Any]", path: object) -> "pd.Series[Any]":
        try:
            threshold = float(self.value)
        except ValueError:
            raise UsageError(
                f"{self.column}{self.sign} needs a number, not {self.value!r}."
            ) from None
        from biaswatch.readers.row_ids import floats_in

        numbers = floats_in(as_booleans(column))
        wrong = numbers.isna() & ~column.isna()
        if wrong.any():
            row = int(np.flatnonzero(wrong.to_numpy())[0])
            raise UsageError(
                f"{path}, row {row + 1}, column {self.column}: {str(column.iloc[row])[:60]!r} is"
                " not a number, but the condition compares it with one."
            )
        met: pd.Series[Any] = _ORDER[self.sign](numbers, threshold)
        return met

    def _equal(self, column: "pd.Series[Any]") -> "pd.Series[Any]":
        wanted = set(map(value_key, self.names))
        met = column.map(lambda value: value_key(value) in wanted)
        return ~met.astype(bool) if self.sign == "!=" else met.astype(bool)

    def __str__(self) -> str:
        return f"{self.column}{self.sign}{self.value}"


def row_filter(written: str) -> RowFilter:
    """Read a condition.

    Raises
    ------
    UsageError
        It has no column, no comparison or no value.
    """
    match = _CONDITION.match(written.strip())
    if not match:
        raise UsageError(
            f"{written!r} is not a condition. Write COLUMN=VALUE, COLUMN=A|B, COLUMN!=VALUE, or"
            " COLUMN>=NUMBER (also >, <=, <)."
        )
    return RowFilter(match["column"].strip(), match["sign"], match["value"].strip())


@dataclass(frozen=True)
class CasesQuestion:
    """The columns, groups and conditions of a comparison."""

    group: str
    groups: tuple[str, str]
    outcome: RowFilter
    where: Sequence[RowFilter] = ()
    strata: str | None = None
    adjust: Sequence[str] = ()
    alpha: float = 0.05


@dataclass(frozen=True)
class Cases:
    """The 2x2 table, its strata, its adjusted odds ratio, and notes for the reader."""

    counts: tuple[int, int, int, int]
    groups: tuple[str, str] = ("group 1", "group 2")
    outcome: str = "the outcome"
    value: str = "the outcome"
    strata: Stratified | None = None
    by_stratum: dict[str, tuple[int, int, int, int]] = field(default_factory=dict)
    adjusted: Estimate | None = None
    adjusted_for: Sequence[str] = ()
    notes: Sequence[str] = ()


def count_cases(path: Path, question: CasesQuestion) -> Cases:
    """Count a file's cases.

    Raises
    ------
    UsageError
        The file, a column, a group or a value cannot be used; the sentence names it.
    """
    from biaswatch.readers.table_files import frame_of

    frame = frame_of(path)
    check_columns([question.group, *filter(None, [question.strata]), *question.adjust], frame, path)
    rows = len(frame)
    for condition in (*question.where, question.outcome):
        condition.check(frame, path)
    groups = _groups(path, question, frame)
    for condition in question.where:
        frame = frame[condition.met(frame, path) == 1]
    notes = [*frame.attrs.get(DETECTED, [])]
    notes += [f"{len(frame)} of {rows} rows meet the conditions."] if question.where else []
    labels = column_keys(frame[question.group])
    _check_kept(path, question, labels)
    frame, labels = frame[labels.isin(groups)], labels[labels.isin(groups)]
    met = question.outcome.met(frame, path)
    known = ~met.isna()
    if question.strata:
        known &= ~frame[question.strata].isna()
    if excluded := int((~known).sum()):
        notes.append(f"{excluded} cases without an outcome or a stratum are excluded.")
    frame, labels, met = frame[known], labels[known], met[known]
    by_stratum = _by_stratum(frame, labels, met, question.strata, groups)
    adjusted, more = _adjusted(path, frame, labels == groups[0], met, question)
    return Cases(
        counts=_counts(labels, met, groups),
        groups=question.groups,
        outcome=question.outcome.column,
        value=str(question.outcome),
        strata=stratified(by_stratum.values(), alpha=question.alpha) if by_stratum else None,
        by_stratum=by_stratum,
        adjusted=adjusted,
        adjusted_for=question.adjust,
        notes=[*notes, *more],
    )


def _groups(path: Path, question: CasesQuestion, frame: "pd.DataFrame") -> tuple[str, str]:
    """Return the keys of both groups; raise UsageError if one has no row in the file."""
    keys = list(dict.fromkeys(column_keys(frame[question.group]).dropna()))
    sentence = f"{path} has no group {NAME} in its column {question.group!r}."
    check_value_keys(question.groups, keys, sentence)
    first, second = map(value_key, question.groups)
    if first == second:
        raise UsageError(f"The groups {' and '.join(question.groups)} are the same: name two.")
    return first, second


def _check_kept(path: Path, question: CasesQuestion, labels: "pd.Series[Any]") -> None:
    """Refuse conditions that leave a group without rows."""
    present = set(labels.dropna())
    conditions = ", ".join(map(str, question.where))
    for name in question.groups:
        if value_key(name) not in present:
            raise UsageError(f"{path}: no row of the group {name!r} meets {conditions}.")


def _counts(
    labels: "pd.Series[Any]", met: "pd.Series[Any]", groups: tuple[str, str]
) -> tuple[int, int, int, int]:
    a, c = (int((met[labels == group] == 1).sum()) for group in groups)
    b, d = (int((met[labels == group] == 0).sum()) for group in groups)
    return a, b, c, d


def _by_stratum(
    frame: "pd.DataFrame",
    labels: "pd.Series[Any]",
    met: "pd.Series[Any]",
    column: str | None,
    groups: tuple[str, str],
) -> dict[str, tuple[int, int, int, int]]:
    if not column:
        return {}
    strata = column_keys(frame[column])
    return {
        str(name): _counts(labels[strata == name], met[strata == name], groups)
        for name in sorted(set(strata))
    }


def _adjusted(
    path: Path,
    frame: "pd.DataFrame",
    is_first: "pd.Series[Any]",
    met: "pd.Series[Any]",
    question: CasesQuestion,
) -> tuple[Estimate | None, list[str]]:
    """Fit the cases with every covariate; return the estimate and a note on excluded cases."""
    if not question.adjust:
        return None, []
    complete = ~frame[list(question.adjust)].isna().any(axis=1)
    design = np.column_stack([_coded(path, frame[complete], name) for name in question.adjust])
    estimate = adjusted_odds_ratio(
        (met[complete] == 1).tolist(), is_first[complete].tolist(), design, alpha=question.alpha
    )
    excluded = int((~complete).sum())
    note = f"{excluded} cases lack a covariate and are excluded from the adjusted odds ratio."
    return estimate, [note] if excluded else []


def _coded(path: Path, frame: "pd.DataFrame", name: str) -> Floats:
    """Return a covariate's columns: numbers unchanged, categories as 0 and 1 without the first."""
    import pandas as pd

    from biaswatch.readers.row_ids import floats_in

    numbers = floats_in(frame[name])
    if not numbers.isna().any():
        return numbers.to_numpy(dtype=np.float64).reshape(-1, 1)
    words = column_keys(frame[name])
    if (kinds := words.nunique()) > MOST_CATEGORIES:
        raise UsageError(
            f"{path}: the covariate {name} has {kinds} categories; at most {MOST_CATEGORIES} can be"
            " adjusted for."
        )
    return pd.get_dummies(words, drop_first=True).to_numpy(dtype=np.float64)
