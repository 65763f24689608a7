"""What `compare` reads: the prompts that two runs have in common, from one gateway."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from biaswatch.diagnosis.sources import DECLARED, read_runs
from biaswatch.local.connections import Gateway
from biaswatch.readers.run_tables import (
    CONDITIONS,
    RunColumns,
    RunTable,
    measured_features,
    missing_answers,
    run_observations,
)
from biaswatch.shared.analysis.changes.matched_prompts import MatchedPrompts, matched_prompts
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.contracts import Against, Claim
from biaswatch.shared.errors import UsageError
from biaswatch.shared.stats.comparisons.compared_samples import Bounds

LEAST_SHARE_IN_COMMON = 0.5
"""Of the prompts of the run that has fewer: below, these prompts do not stand for the runs."""
Model = tuple[str, str]
"""A target and a scaffold."""


@dataclass(frozen=True)
class RunPart:
    """A run, and which of its answers are compared."""

    run_id: str
    targets: Sequence[str] = ()
    scaffolds: Sequence[str] = ()


@dataclass(frozen=True)
class ComparisonInput:
    """What both runs have, and what is known of them."""

    runs: list[tuple[str, Observations, Observations]]
    """By target and scaffold, all answers before and after."""
    matched: MatchedPrompts | None
    """The prompts of both; None where so few are, that all prompts of each run count."""
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
    """Return the prompts of both runs with all answers; nothing is asked of any model.

    Raises
    ------
    UsageError
        The runs have no target, feature or group in common, or one of them is not there.
    """
    if parts[0] == parts[1]:
        raise UsageError(
            "These are the same answers twice. Name another run, or two targets of this one with"
            " --target and --other-target."
        )
    ids = list(dict.fromkeys(part.run_id for part in parts))
    of_run = dict(zip(ids, read_runs(ids, gateway), strict=True))
    before, after = (of_run[part.run_id] for part in parts)
    pairs, warnings = _paired_models(before, after, parts)
    shared, alone = _shared_features(before, after, features)
    columns = RunColumns(groups, shared, ranges=ranges)
    observed = [_observed(before, after, pair, columns) for pair in pairs]
    runs = [run for run, _ in observed]
    warnings += dict.fromkeys([*alone, *(each for _, said in observed for each in said)])
    matched = matched_prompts(runs)
    warnings += _differences(before, after)
    if whole := _is_whole(matched):
        warnings += _whole_words(matched, before)
    declared = before.declared
    return ComparisonInput(
        runs,
        None if whole else matched,
        [*warnings, *_missing(before, after)],
        _about(before, after, matched),
        Claim.POPULATION if whole else declared.claim,
        DECLARED.alpha if declared.alpha is None else declared.alpha,
        DECLARED.tolerance if declared.tolerance is None else declared.tolerance,
        declared.compared,
    )


def _is_whole(matched: MatchedPrompts) -> bool:
    """Return whether most prompts of the run that has fewer are not in the other."""
    fewer = min(matched.only_before, matched.only_after) + matched.prompts
    return matched.prompts < LEAST_SHARE_IN_COMMON * fewer


def _whole_words(matched: MatchedPrompts, before: RunTable) -> list[str]:
    shared = matched.prompts or "no"
    said = [
        (
            f"The runs have {shared} prompts in common, so all prompts of each are compared, those"
            " in common in pairs: a change may be the prompts', and smaller ones are not found."
            " Compare runs of one suite to rule that out."
        )
    ]
    if before.declared.claim is Claim.BANK:
        said.append("The claim is about the prompts' population: the runs have no common bank.")
    return said


def _models(table: RunTable, part: RunPart) -> list[Model]:
    """Return the targets and scaffolds of the answers that are asked for."""
    for field, names in zip(CONDITIONS, (part.targets, part.scaffolds), strict=True):
        there = sorted({label for label in table.labels(field) if label is not None})
        for name in names:
            if name not in there:
                raise UsageError(
                    f"The run {part.run_id} has no {field} {name!r}. There are: {', '.join(there)}."
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
    """Pair targets and scaffolds by name; what each run has one of is paired whatever its name."""
    found = [_models(*each) for each in zip((before, after), parts, strict=True)]
    named = [
        index
        for index in range(len(CONDITIONS))
        if any(len({model[index] for model in models}) > 1 for models in found)
    ]
    first, second = (
        {", ".join(model[i] for i in named): model for model in models} for models in found
    )
    shared = [name for name in first if name in second]
    if not shared:
        raise UsageError(
            f"The runs share no target and scaffold: the first has {_listed(found[0])}, the second"
            f" {_listed(found[1])}. Name one of each with --target and --other-target."
        )
    models = [(name, first[name], second[name]) for name in shared]
    return models, list(_of_one_run_alone("", first, second))


def _of_one_run_alone(kind: str, first: Iterable[str], second: Iterable[str]) -> Iterator[str]:
    """Say what only one of the runs has, and that nothing is said of it."""
    for place, these, others in (("first", first, second), ("second", second, first)):
        there = set(others)
        if alone := [name for name in these if name not in there]:
            yield f"Only the {place} run has {kind}{', '.join(alone)}: left out."


def _listed(models: Sequence[Model]) -> str:
    return "; ".join(", ".join(model) for model in models) or "no answers"


def _shared_features(
    before: RunTable, after: RunTable, named: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Return the features that both runs measure, and what is said of the others."""
    first, second = (measured_features(table, named) for table in (before, after))
    shared = [name for name in first if name in second]
    if not shared:
        raise UsageError(
            f"The runs have no feature in common: {', '.join(first)}; {', '.join(second)}."
        )
    return shared, list(_of_one_run_alone("the measurements ", first, second))


def _observed(
    before: RunTable, after: RunTable, pair: tuple[str, Model, Model], columns: RunColumns
) -> tuple[tuple[str, Observations, Observations], list[str]]:
    """Return the answers of a target and scaffold in both runs, with the same names in both.

    Beside them, what is said of the dimensions and groups that one run alone has.
    """
    name, *models = pair
    runs = [
        run_observations(table, replace(columns, targets=[target], scaffolds=[scaffold]))
        for table, (target, scaffold) in zip((before, after), models, strict=True)
    ]
    shared = [dimension for dimension in runs[0].groups if dimension in runs[1].groups]
    if not shared:
        raise UsageError("The runs have no group in common. Name a field by --group.")
    said = [*_of_one_run_alone("the dimensions ", *(run.groups for run in runs))]
    for dimension in shared:
        levels = [sorted(set(run.groups[dimension]) - {None}, key=str) for run in runs]
        said += _of_one_run_alone(f"of {dimension} ", *levels)  # type: ignore[arg-type]
    features = runs[0].features
    one, other = (
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
    return (name, one, other), said


def _differences(before: RunTable, after: RunTable) -> list[str]:
    """Return what differs between the runs beyond their answers."""
    said = []
    if before.declared.suite != after.declared.suite:
        said.append(
            f"The runs are of different suites, {before.declared.suite} and"
            f" {after.declared.suite}: prompts with the same key and groups are taken for the same."
        )
    if before.declared.claim is not after.declared.claim:
        said.append("The suites declare different claims: that of the first run is used.")
    first, second = (
        {each.name: each.version for each in table.declared.extractors} for table in (before, after)
    )
    said += [
        f"{name} measured the first run in version {version} and the second in {second[name]}: a"
        " change may be the instrument's."
        for name, version in sorted(first.items())
        if second.get(name, version) != version
    ]
    return said


def _missing(before: RunTable, after: RunTable) -> list[str]:
    if before is after:
        return missing_answers(before)
    return [
        f"In the {place} run, {line}"
        for place, table in (("first", before), ("second", after))
        for line in missing_answers(table)
    ]


def _about(before: RunTable, after: RunTable, matched: MatchedPrompts) -> dict[str, Any]:
    return {
        "runs": [before.declared.run_id, after.declared.run_id],
        "suites": [before.declared.suite, after.declared.suite],
        "prompts": matched.prompts,
        "matched": not _is_whole(matched),
        "only_before": matched.only_before,
        "only_after": matched.only_after,
    }
