"""Input of `compare`: the prompts that two runs have in common, from one gateway."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from biaswatch.diagnosis.sources import DECLARED, read_runs
from biaswatch.local.connections import Gateway
from biaswatch.readers.run_observations import (
    CONDITIONS,
    RunColumns,
    measured_features,
    run_observations,
)
from biaswatch.readers.run_tables import RunTable, missing_answers
from biaswatch.shared.analysis.changes.matched_prompts import MatchedPrompts, matched_prompts
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.contracts import Against, Claim
from biaswatch.shared.contracts.derived_features import scale_of
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

LEAST_SHARE_IN_COMMON = 0.5
"""Share of the smaller run's prompts; with fewer in common, whole runs are compared."""
Model = tuple[str, str]
"""A target and a scaffold."""


@dataclass(frozen=True)
class RunPart:
    """The answers of a run to compare."""

    run_id: str
    targets: Sequence[str] = ()
    scaffolds: Sequence[str] = ()


@dataclass(frozen=True)
class ComparisonInput:
    """The answers of two runs, and the declared analysis."""

    runs: list[tuple[str, Observations, Observations]]
    """All answers before and after, by target and scaffold."""
    matched: MatchedPrompts | None
    """The common prompts; None if they are too few, so that whole runs are compared."""
    warnings: list[str]
    about: dict[str, Any]
    claim: Claim
    alpha: float
    tolerance: float
    against: Against


def comparison_input(
    parts: tuple[RunPart, RunPart],
    groups: Sequence[str],
    features: Sequence[str],
    ranges: Mapping[str, Bounds | None],
    gateway: Gateway,
) -> ComparisonInput:
    """Read the answers of both runs; no model is called.

    Raises
    ------
    UsageError
        A run does not exist, or the runs have no target, feature or group in common.
    """
    if parts[0] == parts[1]:
        raise UsageError(
            "Both sides are the same answers. Name another run, or two targets of this one with"
            " --target and --other-target."
        )
    ids = list(dict.fromkeys(part.run_id for part in parts))
    of_run = dict(zip(ids, read_runs(ids, gateway), strict=True))
    before, after = (of_run[part.run_id] for part in parts)
    pairs, warnings = _paired_models(before, after, parts)
    shared, notes = _shared_features(before, after, features)
    columns = RunColumns(groups, shared, ranges=ranges)
    observed = [_paired_observations(before, after, pair, columns) for pair in pairs]
    runs = [run for run, _ in observed]
    warnings += dict.fromkeys([*notes, *(note for _, lines in observed for note in lines)])
    matched = matched_prompts(runs)
    warnings += _difference_warnings(before, after)
    if is_whole := _has_few_in_common(matched):
        warnings += _whole_run_warnings(matched, before)
    declared = before.declared
    return ComparisonInput(
        runs,
        None if is_whole else matched,
        [*warnings, *_missing_answer_warnings(before, after)],
        _about(before, after, matched),
        Claim.POPULATION if is_whole else declared.claim,
        DECLARED.alpha if declared.alpha is None else declared.alpha,
        DECLARED.tolerance if declared.tolerance is None else declared.tolerance,
        declared.compared,
    )


def _has_few_in_common(matched: MatchedPrompts) -> bool:
    """Return whether less than half of the smaller run's prompts are in the other."""
    fewer = min(matched.only_before, matched.only_after) + matched.prompts
    return matched.prompts < LEAST_SHARE_IN_COMMON * fewer


def _whole_run_warnings(matched: MatchedPrompts, before: RunTable) -> list[str]:
    """Return warnings for runs compared as a whole."""
    shared = matched.prompts or "no"
    warning = (
        f"The runs have {shared} prompts in common, so all prompts of each are compared, those in"
        " common in pairs: a change may be due to different prompts, and small changes are not"
        " found. Compare runs of one suite to rule that out."
    )
    if before.declared.claim is not Claim.BANK:
        return [warning]
    return [
        warning,
        "The claim is about the prompts' population, since the runs have no common bank.",
    ]


def _models(table: RunTable, part: RunPart) -> list[Model]:
    """Return the targets and scaffolds of the selected answers."""
    for field, names in zip(CONDITIONS, (part.targets, part.scaffolds), strict=True):
        present = sorted({label for label in table.labels(field) if label is not None})
        for name in names:
            if name not in present:
                raise UsageError(
                    f"The run {part.run_id} has no {field} {name!r}. Known {field}s:"
                    f" {', '.join(present)}."
                )
    rows = zip(*(table.labels(field) for field in CONDITIONS), strict=True)
    return sorted(
        {
            (str(target), str(scaffold))
            for target, scaffold in rows
            if (not part.targets or target in part.targets)
            and (not part.scaffolds or scaffold in part.scaffolds)
        }
    )


def _paired_models(
    before: RunTable, after: RunTable, parts: tuple[RunPart, RunPart]
) -> tuple[list[tuple[str, Model, Model]], list[str]]:
    """Pair targets and scaffolds by name, or by themselves if each run has one."""
    of_runs = [_models(before, parts[0]), _models(after, parts[1])]
    varying = [
        index
        for index in range(len(CONDITIONS))
        if any(len({model[index] for model in models}) > 1 for models in of_runs)
    ]
    first, second = (
        {", ".join(model[i] for i in varying): model for model in models} for models in of_runs
    )
    shared = [name for name in first if name in second]
    if not shared:
        raise UsageError(
            f"The runs share no target and scaffold: the first has {_model_list(of_runs[0])}, the"
            f" second {_model_list(of_runs[1])}. Select one of each with --target and"
            " --other-target."
        )
    models = [(name, first[name], second[name]) for name in shared]
    return models, list(_notes_of_one_run("", first, second))


def _notes_of_one_run(kind: str, first: Iterable[str], second: Iterable[str]) -> Iterator[str]:
    """Yield notes about names in one run alone."""
    for place, these, other_names in (("first", first, second), ("second", second, first)):
        known = set(other_names)
        if extra := [name for name in these if name not in known]:
            yield f"Only the {place} run has {kind}{', '.join(extra)}: left out."


def _model_list(models: Sequence[Model]) -> str:
    """Return targets and scaffolds as text."""
    return "; ".join(", ".join(model) for model in models) or "no answers"


def _shared_features(
    before: RunTable, after: RunTable, requested: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the features of both runs, and notes about others."""
    first, second = (measured_features(table, requested) for table in (before, after))
    shared = [name for name in first if name in second]
    if not shared:
        raise UsageError(
            f"The runs have no feature in common: {', '.join(first)}; {', '.join(second)}."
        )
    return shared, list(_notes_of_one_run("the measurements ", first, second))


def _paired_observations(
    before: RunTable, after: RunTable, pair: tuple[str, Model, Model], columns: RunColumns
) -> tuple[tuple[str, Observations, Observations], list[str]]:
    """Return the answers of a target and scaffold in both runs, under common names.

    Also return notes about dimensions and groups that only one run has.
    """
    name, *models = pair
    runs = [
        run_observations(table, replace(columns, targets=[target], scaffolds=[scaffold]))
        for table, (target, scaffold) in zip((before, after), models, strict=True)
    ]
    shared = [dimension for dimension in runs[0].groups if dimension in runs[1].groups]
    if not shared:
        raise UsageError("The runs have no group in common. Name a field with --group.")
    notes = [*_notes_of_one_run("the dimensions ", *(run.groups for run in runs))]
    for dimension in shared:
        levels = [sorted(set(run.groups[dimension]) - {None}, key=str) for run in runs]
        notes += _notes_of_one_run(f"of {dimension} ", *levels)  # type: ignore[arg-type]
    features = runs[0].features
    for own, other in zip(*(run.features for run in runs), strict=True):
        scales = [scaled[0] if (scaled := scale_of(feature)) else None for feature in (own, other)]
        if scales[0] is not scales[1]:
            raise UsageError(
                f"The suites of the runs put a feature on different scales, {own} and {other}: ask"
                " one of the runs again with the scale of the other, or leave out the feature with"
                " --feature."
            )
    first, second = (
        replace(
            run,
            features=features,
            groups={dimension: run.groups[dimension] for dimension in shared},
            ranges={
                new: run.ranges[own]
                for new, own in zip(features, run.features, strict=True)
                if own in run.ranges
            },
        )
        for run in runs
    )
    return (name, first, second), notes


def _difference_warnings(before: RunTable, after: RunTable) -> list[str]:
    """Return warnings about differences of suites, claims and extractors."""
    warnings = []
    if before.declared.suite != after.declared.suite:
        warnings.append(
            f"The runs have different suites, {before.declared.suite} and"
            f" {after.declared.suite}: prompts with the same key and groups count as equal."
        )
    if before.declared.claim is not after.declared.claim:
        warnings.append("The suites declare different claims: the claim of the first run is used.")
    first, second = (
        {extractor.name: extractor.version for extractor in table.declared.extractors}
        for table in (before, after)
    )
    warnings += [
        f"{name} measured the first run with version {version} and the second with {second[name]}:"
        " a change may be due to the instrument."
        for name, version in sorted(first.items())
        if second.get(name, version) != version
    ]
    return warnings


def _missing_answer_warnings(before: RunTable, after: RunTable) -> list[str]:
    """Return warnings about missing answers of either run."""
    if before is after:
        return missing_answers(before)
    return [
        f"In the {place} run, {line}"
        for place, table in (("first", before), ("second", after))
        for line in missing_answers(table)
    ]


def _about(before: RunTable, after: RunTable, matched: MatchedPrompts) -> dict[str, Any]:
    """Return the facts of the comparison for JSON."""
    return {
        "runs": [before.declared.run_id, after.declared.run_id],
        "suites": [before.declared.suite, after.declared.suite],
        "prompts": matched.prompts,
        "matched": not _has_few_in_common(matched),
        "only_before": matched.only_before,
        "only_after": matched.only_after,
    }
