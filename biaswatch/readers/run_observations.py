"""Observations of a run: the selected rows of its table, with the roles of its fields."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from biaswatch.readers.run_tables import Labels, RunTable, full_name, missing_answers, short_names
from biaswatch.readers.tables import joined_labels, observation_warnings
from biaswatch.shared.analysis.findings.observations import Observations, Whole, within
from biaswatch.shared.analysis.findings.scales import scale_notes, scaled
from biaswatch.shared.contracts.derived_features import (
    Scale,
    base_of,
    is_among,
    is_drift,
    measured_name,
    range_of,
)
from biaswatch.shared.contracts.likelihood import LIKELIHOOD
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

CONDITIONS = ("target", "scaffold")
"""Answers of different targets or scaffolds are never compared with one another."""


@dataclass(frozen=True)
class RunColumns:
    """Roles of the fields of a run's answers; empty for the roles that the run declares."""

    groups: Sequence[str] = ()
    features: Sequence[str] = ()
    unit: str | None = None
    domains: Sequence[str] = ()
    set: str | None = None
    targets: Sequence[str] = ()
    """Only answers of these targets; empty for all."""
    scaffolds: Sequence[str] = ()
    ranges: Mapping[str, Bounds | None] = field(default_factory=dict)
    """By feature, without its extractor; they replace the ranges that the run declares."""
    random: Sequence[str] = ()
    """Stimuli or facts that are random factors; they replace those that the run declares."""
    scale: Mapping[str, Scale] = field(default_factory=dict)
    """By feature, without its extractor; they replace the scales that the run declares."""


def run_observations(table: RunTable, columns: RunColumns) -> Observations:
    """Return the selected rows; each target and scaffold is a separate domain.

    Raises
    ------
    UsageError
        The run has no such field, feature, target or scaffold.
    """
    rows = _measured(table, columns)
    scales = {
        short: columns.scale.get(short, table.declared.scale[base_of(name)])
        for full, short in short_names(table.features).items()
        if base_of(name := full.split(".", 1)[1]) in table.declared.scale
        and short in rows.features
        and not is_drift(name)
    }
    return scaled(rows, scales)[0]


def _measured(table: RunTable, columns: RunColumns) -> Observations:
    """Return the selected rows with features as they were measured."""
    kept = _kept(table, {"target": columns.targets, "scaffold": columns.scaffolds})
    groups = _groups(table, columns.groups)
    features = measured_features(table, columns.features)
    sets = _taken(table, _field(table, columns.set or "set"), kept)
    baseline = np.column_stack([table.baseline(name)[kept] for name in features])
    own = {name: name.split(".", 1)[1] for name in features}
    declared = {**table.declared.ranges, **columns.ranges}
    ranges = {
        name: range_of(own[name], declared) for name in features if base_of(own[name]) in declared
    }
    short = short_names(table.features)
    return Observations(
        features=tuple(short[name] for name in features),
        values=np.column_stack(
            [within(table.values(name)[kept], ranges.get(name)) for name in features]
        ),
        ranges={short[name]: bounds for name, bounds in ranges.items()},
        groups={name: _taken(table, field, kept) for name, field in groups.items()},
        units=_taken(table, _field(table, columns.unit or "unit"), kept),
        sets=sets if any(sets) else None,
        domains=_domains(table, columns.domains, kept),
        random={
            name: _taken(table, _field(table, name), kept)
            for name in columns.random or table.declared.random
        },
        baseline=baseline if table.has_baselines else None,
        drawn=LIKELIHOOD not in _taken(table, "scaffold", kept),
        **_error_rates(table, own, short, kept),
    )


def _error_rates(
    table: RunTable, own: Mapping[str, str], short: Mapping[str, str], kept: Whole
) -> dict[str, Any]:
    """Return the columns of truth for the error rates that the suite declares."""
    rated = {short[name]: of for name, of in own.items() if of in table.declared.error_rates}
    if not rated or not np.isfinite(table.truth[kept]).any():
        return {}
    thresholds = {name: table.declared.selected_at_least[of] for name, of in rated.items()}
    return {
        "truth": table.truth[kept], "rated": tuple(rated), "selected_at_least": thresholds,
    }  # fmt: skip


def _field(table: RunTable, name: str) -> str:
    return full_name(name, table.fields, kind="field", of=table.name)


def _groups(table: RunTable, named: Sequence[str]) -> dict[str, str]:
    """Return the field of each dimension, by its displayed name."""
    if named:
        return {name: _field(table, name) for name in named}
    strata = {f"groups.{name}" for name in table.declared.strata}
    dimensions = sorted(
        name for name in table.fields if name.startswith("groups.") and name not in strata
    )
    if not dimensions:
        fields = ", ".join(short_names(table.fields).values())
        raise UsageError(f"{table.name} has no groups. Name a field with --group: {fields}.")
    return {field.removeprefix("groups."): field for field in dimensions}


def measured_features(table: RunTable, named: Sequence[str]) -> list[str]:
    """Return the full names of the named features, or of those that the suite diagnoses.

    Raises
    ------
    UsageError
        The run has no such feature, or no measured feature.
    """
    if named:
        names = [measured_name(name, table.declared.scale) for name in named]
        return [full_name(name, table.features, kind="feature", of=table.name) for name in names]
    wanted = table.declared.features
    features = [n for n in table.features if not wanted or is_among(n.split(".", 1)[1], wanted)]
    if not features:
        raise UsageError(f"{table.name} has no measured feature yet.")
    return features


def _kept(table: RunTable, wanted: Mapping[str, Sequence[str]]) -> Whole:
    """Return the rows of the named targets and scaffolds."""
    keep = np.ones(table.rows, dtype=bool)
    for condition, names in wanted.items():
        labels = table.labels(condition)
        present = dict.fromkeys(label for label in labels if label is not None)
        for name in names:
            if name not in present:
                raise UsageError(
                    f"{table.name} has no {condition} {name!r}. Known {condition}s:"
                    f" {', '.join(present)}."
                )
        if names:
            keep &= np.array([label in names for label in labels])
    return np.flatnonzero(keep)


def _taken(table: RunTable, field: str, rows: Whole) -> Labels:
    labels = table.labels(field)
    return [labels[row] for row in rows.tolist()]


def _domains(table: RunTable, named: Sequence[str], rows: Whole) -> Labels | None:
    """Return the domain of each row: varying targets and scaffolds, and the named fields."""
    conditions = [_taken(table, field, rows) for field in CONDITIONS]
    columns = [labels for labels in conditions if len(set(labels)) > 1]
    columns += [_taken(table, _field(table, name), rows) for name in named]
    return joined_labels(columns) if columns else None


def run_warnings(table: RunTable, rows: Observations) -> list[str]:
    """Return warnings about missing answers and about the rows."""
    scales = [note for feature in rows.features for note in scale_notes(feature)]
    return [
        *_gaps_left_out(table), *scales, *missing_answers(table), *observation_warnings(rows),
    ]  # fmt: skip


def _gaps_left_out(table: RunTable) -> list[str]:
    """Return a warning about declared gaps by stratum, which only the run's findings have."""
    if not (strata := table.declared.gaps_by):
        return []
    run = table.declared.run_id[:12]
    warning = (
        f"{table.name} also has the gaps by {', '.join(strata)}: `biaswatch diagnose {run} --config"
        f" domain={strata[0]}`. `biaswatch show {run} --all` has all of them in one family, with"
        " wider corrected intervals."
    )
    return [warning]
