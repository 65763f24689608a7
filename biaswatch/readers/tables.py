"""Read tables of measurements and of applicants, and report mistakes."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd

from biaswatch.readers.columns import (
    DETECTED,
    as_booleans,
    check_columns,
    is_boolean,
    is_yes_no,
    listed_names,
)
from biaswatch.readers.numeric_columns import numbers_in
from biaswatch.readers.repeats import repeats_warning
from biaswatch.readers.row_ids import column_labels, label_form_warnings
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.studies.local_law_144 import applicant_score


@dataclass(frozen=True)
class TableColumns:
    """Roles of the columns of a table."""

    groups: Sequence[str]
    features: Sequence[str]
    baseline: str | None = None
    unit: str | None = None
    domains: Sequence[str] = ()
    """Columns whose labels together name the domain of a row."""
    set: str | None = None
    ranges: Mapping[str, Bounds | None] = field(default_factory=dict)
    """By feature: the smallest and the largest possible value."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """By feature: the columns of labels by people, one per person."""
    random: Sequence[str] = ()
    """Columns of random factors."""
    probability: str | None = None
    """The column of the probability that a row was sampled for labelling."""
    truth: str | None = None
    """The column of right answers."""
    selected_at_least: Mapping[str, float] = field(default_factory=dict)
    """By feature: the lowest value that counts as selected."""
    texts: Sequence[str] = ()
    """Columns of texts to show beside cases."""

    @property
    def ids(self) -> list[str]:
        """Columns that identify units, sets, random factors and domains."""
        return [*filter(None, [self.unit, self.set]), *self.random, *self.domains]

    @property
    def all(self) -> list[str]:
        """All columns that the analysis needs."""
        single = [self.baseline, self.unit, self.set, self.probability, self.truth]
        labels = [name for names in self.labels.values() for name in names]
        return [
            *self.groups, *self.features, *self.domains, *self.random, *labels, *self.texts,
            *filter(None, single),
        ]  # fmt: skip


def check_named(columns: TableColumns, names: Iterable[object], source: Path | str) -> None:
    """Raise UsageError with the names of the columns if no group or feature is selected."""
    if not (columns.groups and columns.features):
        raise UsageError(
            f"Name columns of {source} with --group and --feature. Its columns are"
            f" {listed_names(list(map(str, names)))}."
        )


def frame_observations(
    frame: pd.DataFrame, columns: TableColumns, path: Path | str
) -> tuple[Observations, list[str]]:
    """Return the rows of a frame as `observations` does; messages call it `path`.

    Raises
    ------
    UsageError
        A column or a value cannot be used; the message names it.
    """
    check_columns(columns.all, frame, path)
    if compared := sorted(set(columns.groups) & set(columns.random)):
        raise UsageError(
            f"{compared[0]} is a group, so it cannot be random, too: declare names, texts or"
            " templates as random."
        )
    if both := sorted({*columns.groups, *columns.random} & set(columns.features)):
        raise UsageError(f"{both[0]} is a feature, so it cannot be a group or random, too.")
    if unknown := sorted(columns.ranges.keys() - {*columns.features, columns.truth}):
        raise UsageError(
            f"`ranges` names {unknown[0]!r}, which is not among the features:"
            f" {listed_names(list(columns.features))}."
        )
    if frame.empty:
        raise UsageError(f"{path} has no rows.")
    values = np.column_stack([numbers_in(path, frame, name) for name in columns.features])
    seen = Observations(
        features=tuple(columns.features),
        values=values,
        groups={name: _labels(frame, name) for name in columns.groups},
        units=_labels(frame, columns.unit) if columns.unit else None,
        sets=_labels(frame, columns.set) if columns.set else None,
        domains=_domains(path, frame, columns.domains),
        baseline=_baseline(path, frame, columns),
        random={name: _labels(frame, name) for name in columns.random},
        ranges={**_boolean_ranges(frame, columns.features), **columns.ranges},
        truth=None if columns.truth is None else numbers_in(path, frame, columns.truth),
        selected_at_least=columns.selected_at_least,
    )
    doubtful = label_form_warnings(frame, seen.groups, columns.ids)
    detected = [*frame.attrs.get(DETECTED, []), *_decided(frame, columns.features)]
    return seen, [
        *detected,
        *_repeats(frame, columns, seen),
        *doubtful,
        *observation_warnings(seen),
    ]


def _decided(frame: pd.DataFrame, features: Sequence[str]) -> Iterator[str]:
    if names := [name for name in features if is_yes_no(frame[name])]:
        yield f"Yes and no count as 1 and 0 in {listed_names(names)}."


def _boolean_ranges(frame: pd.DataFrame, features: Sequence[str]) -> dict[str, Bounds]:
    """Return the range of the features that are true or false, which needs no declaration."""
    return {
        name: (0.0, 1.0) for name in features if is_boolean(frame[name]) or is_yes_no(frame[name])
    }


def _repeats(frame: pd.DataFrame, columns: TableColumns, seen: Observations) -> list[str]:
    """Point out columns that repeat within groups and are not declared."""
    if not columns.groups:
        return []
    warning = repeats_warning(
        frame,
        used=replace(columns, texts=()).all,
        groups=columns.groups,
        feature=columns.features[0],
        values=seen.values[:, 0],
        clusters=columns.set or columns.unit,
        random=columns.random,
    )
    return [] if warning is None else [warning]


def _labels(frame: pd.DataFrame, name: str) -> list[str | None]:
    return column_labels(as_booleans(frame[name]))


def _baseline(path: Path | str, frame: pd.DataFrame, columns: TableColumns) -> Floats | None:
    if columns.baseline is None:
        return None
    values = numbers_in(path, frame, columns.baseline)
    return np.repeat(values[:, None], len(columns.features), axis=1)


def _domains(
    path: Path | str, frame: pd.DataFrame, names: Sequence[str]
) -> list[str | None] | None:
    columns = []
    for name in names:
        labels = _labels(frame, name)
        if None in labels:
            raise UsageError(f"{path}, row {labels.index(None) + 1}: column {name} is empty.")
        columns.append(labels)
    return joined_labels(columns) if columns else None


def joined_labels(columns: Sequence[Sequence[str | None]]) -> list[str | None]:
    """Join the labels of each row; return None for a row without labels."""
    return [", ".join(filter(None, labels)) or None for labels in zip(*columns, strict=True)]


def observation_warnings(seen: Observations) -> list[str]:
    """Return warnings about missing values, missing groups and single groups."""
    warnings = []
    if infinite := int(np.isinf(seen.values).sum()):
        warnings.append(f"Infinite values count as missing ({infinite}).")
    warnings += [
        f"No row has a value of {name}: is it the right column?"
        for place, name in enumerate(seen.features)
        if not np.isfinite(seen.values[:, place]).any()
    ]
    if seen.truth is not None and (unknown := int((~np.isfinite(seen.truth)).sum())):
        warnings.append(
            f"{unknown} rows have no truth: error rates are those of the other rows, as if chance"
            " had chosen them within each group."
        )
    for name, labels in seen.random.items():
        if without := sum(label is None for label in labels):
            warnings.append(
                f"Rows without a {name} ({without}) each count as a {name} of their own. If some"
                " share one, fill in the column; otherwise p-values are too small."
            )
    return [*warnings, *_group_warnings(seen)]


def _group_warnings(seen: Observations) -> Iterator[str]:
    for name, labels in seen.groups.items():
        if without := sum(label is None for label in labels):
            are = "row has no {} and is" if without == 1 else "rows have no {} and are"
            of = "" if len(seen.groups) == 1 else f" of the comparisons by {name}"
            yield f"{without:,} {are.format(name)} left out{of}."
        if len(set(labels) - {None}) < 2:
            yield (f"{name} has fewer than two groups: there is nothing to compare.")
        elif seen.domains is not None and not _meet(labels, seen.domains):
            yield (f"No domain has two groups of {name}: there is nothing to compare.")


def _meet(labels: Iterable[str | None], domains: Iterable[str | None]) -> bool:
    """Return whether two groups have rows in one domain."""
    pairs = set(zip(domains, labels, strict=True))
    groups = Counter(domain for domain, label in pairs if label is not None)
    return max(groups.values(), default=0) > 1


@dataclass(frozen=True)
class ApplicantRows:
    """The scores and the categories of applicants, in one order."""

    scores: list[float | None]
    labels: dict[str, list[str | None]]
    """By dimension."""
    warnings: list[str]


def applicants_in(
    frame: pd.DataFrame, path: Path, groups: Sequence[str], score: str, unit: str | None
) -> ApplicantRows:
    """Return the applicants of a table; rows with the same unit are averaged.

    Raises
    ------
    UsageError
        A column is missing, no row has a score, or rows of one applicant have different categories.
    """
    warnings = []
    if unit:
        check_columns([unit], frame, path)
        named = [label is not None for label in column_labels(frame[unit])]
        if absent := named.count(False):
            warnings.append(f"{absent} of {len(named)} rows have no {unit} and are left out.")
            frame = frame[named]
    columns = TableColumns(list(groups), [score], unit=unit)
    check_columns(columns.all, frame, path)
    rows, _ = frame_observations(frame, columns, path)
    warnings += label_form_warnings(frame, rows.groups, columns.ids)
    applicants = _averaged(rows)
    if all(value is None for value in applicants.scores):
        raise UsageError(f"No row of {path} has a value of {score}: name another --score.")
    return ApplicantRows(applicants.scores, applicants.labels, warnings)


def _averaged(rows: Observations) -> ApplicantRows:
    scores: dict[int, list[float]] = defaultdict(list)
    first_row: dict[int, int] = {}
    units, values = rows.unit_codes.tolist(), rows.values[:, 0].tolist()
    for row, (unit, value) in enumerate(zip(units, values, strict=True)):
        scores[unit].append(value)
        first = first_row.setdefault(unit, row)
        for name, labels in rows.groups.items():
            if labels[row] != labels[first]:
                categories = " and ".join(str(labels[k] or "none") for k in (first, row))
                raise UsageError(
                    f"The applicant {rows.units[row] if rows.units else row} has several categories"
                    f" of {name}: {categories}. An applicant counts once: correct the rows, or name"
                    " another column by --unit."
                )
    labels_of = {
        name: [labels[row] for row in first_row.values()] for name, labels in rows.groups.items()
    }
    return ApplicantRows([applicant_score(own) for own in scores.values()], labels_of, [])
