"""Features on the scale of logarithms or ranks, for skewed numbers such as lengths.

Both answer another question than the gap of means, so the feature has another name.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import log

import numpy as np

from biaswatch.shared.analysis.findings.groupings import AnalysisPlan
from biaswatch.shared.analysis.findings.measured_columns import MeasuredColumns
from biaswatch.shared.analysis.findings.observations import Observations, Whole, within
from biaswatch.shared.contracts.derived_features import Scale, base_of, is_drift, on_scale, scale_of
from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds


def scaled(
    observations: Observations, scales: Mapping[str, Scale]
) -> tuple[Observations, list[str]]:
    """Return observations with features on their scales, and what gaps of these are about.

    `words` becomes `log(words)` or `rank(words)`. Values that have no logarithm become missing.

    Raises
    ------
    ValueError
        A scale is of no feature, or a value lies outside the declared range.

    References
    ----------
    Conover and Iman (1981), Rank transformations as a bridge between parametric and nonparametric
    statistics; Brunner and Munzel (2000) for ranks of groups with unlike spread.
    """
    if not scales:
        return observations, []
    if unknown := sorted(set(scales) - set(observations.features)):
        features = ", ".join(observations.features)
        raise ValueError(
            f"`scale` names {unknown[0]!r}, which is not among the features: {features}"
        )
    values, ranges = observations.values.copy(), dict(observations.ranges)
    notes: list[str] = []
    baseline = None if observations.baseline is None else observations.baseline.copy()
    domains = observations.domain_codes[0]
    for index, feature in enumerate(observations.features):
        if feature not in scales:
            continue
        name, column, scale = _name(feature, scales), values[:, index].copy(), scales[feature]
        observations.bounds(index)
        ranges[name] = _range_on(scale, ranges.pop(feature, None))
        values[:, index] = _values_on(scale, column, domains)
        if baseline is not None:
            baseline[:, index] = _values_on(scale, baseline[:, index], domains)
        notes += scale_notes(name)
        if without := int((np.isfinite(column) & ~np.isfinite(values[:, index])).sum()):
            notes.append(f"{without} values of 0 or less have no logarithm and count as missing.")
    names = tuple(_name(feature, scales) for feature in observations.features)
    rated = observations.features if observations.rated is None else observations.rated
    unscaled = tuple(feature for feature in rated if feature not in scales)
    on_scales = replace(
        observations, features=names, values=values, ranges=ranges, baseline=baseline,
        rated=unscaled,
    )  # fmt: skip
    return on_scales, notes


def scaled_run(
    measured: Sequence[MeasuredColumns], plan: AnalysisPlan
) -> tuple[Sequence[MeasuredColumns], AnalysisPlan]:
    """Return a run's answers with features on the scales that its suite declares, and their plan.

    A drift over the turns stays as it is: it may be negative.
    """
    if not plan.scale:
        return measured, plan
    scales = {
        feature: plan.scale[base_of(feature)]
        for columns in measured
        for feature in {*columns.features, *plan.scale}
        if base_of(feature) in plan.scale and not is_drift(feature)
    }
    plan = plan.with_derived(name for columns in measured for name in columns.features)
    ranges = {
        _name(name, scales): _range_on(scales.get(name), e) for name, e in plan.ranges.items()
    }
    on_scales = replace(
        plan,
        features=tuple(_name(name, scales) for name in plan.features),
        measured={
            extractor: tuple(_name(name, scales) for name in names)
            for extractor, names in plan.measured.items()
        },
        ranges={**dict.fromkeys(_name(name, scales) for name in scales), **ranges},
    )
    return [_scaled_columns(columns, scales, plan) for columns in measured], on_scales


def _scaled_columns(
    columns: MeasuredColumns, scales: Mapping[str, Scale], plan: AnalysisPlan
) -> MeasuredColumns:
    numbers = columns.numbers.copy()
    for place, feature in enumerate(columns.features):
        if feature in scales:
            inside = within(numbers[place], plan.ranges.get(feature))
            numbers[place] = _values_on(scales[feature], inside, np.zeros(columns.rows, int))
    names = [_name(feature, scales) for feature in columns.features]
    order = sorted(range(len(names)), key=names.__getitem__)
    return replace(columns, features=tuple(names[at] for at in order), numbers=numbers[order])


def _name(feature: str, scales: Mapping[str, Scale]) -> str:
    return on_scale(feature, scales[feature]) if feature in scales else feature


def _range_on(scale: Scale | None, bounds: Bounds | None) -> Bounds | None:
    """Return a range on a scale; ranks have none, as a rank is never far from all others."""
    if scale is None or bounds is None:
        return bounds
    return (log(bounds[0]), log(bounds[1])) if scale is Scale.LOG and bounds[0] > 0 else None


def _values_on(scale: Scale, column: Floats, domains: Whole) -> Floats:
    """Return logarithms, or midranks within domains as shares: less a half, over their number."""
    if scale is Scale.LOG:
        return np.log(column, where=column > 0, out=np.full(len(column), np.nan))
    from scipy.stats import rankdata  # slow to load

    ranks = np.full(len(column), np.nan)
    for domain in np.unique(domains):
        rows = np.isfinite(column) & (domains == domain)
        ranks[rows] = (rankdata(column[rows]) - 0.5) / max(int(rows.sum()), 1)
    return ranks


def scale_notes(name: str) -> Iterator[str]:
    """Yield what gaps of a feature are about, if it is on a scale."""
    if (scaled_feature := scale_of(name)) is None:
        return
    scale, feature = scaled_feature
    meaning = {
        Scale.LOG: "geometric means: a gap of d means that that of a is e^d times that of b",
        Scale.RANK: (
            "mean ranks, from 0 to 1: between two groups, a gap of d means that an answer about a"
            " is larger than one about b with a probability of 0.5 + d (ties count half)"
        ),
    }
    yield (
        f"{name} compares {meaning[scale]}. The gap between the means of {feature} is another"
        " question."
    )
