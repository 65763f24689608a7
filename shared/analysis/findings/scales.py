"""Features on the scale of logarithms or ranks, for skewed numbers such as lengths.

Both answer another question than the gap of means, so the feature has another name.
"""

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from math import log

import numpy as np
from scipy import stats

from biaswatch.shared.analysis.findings.observations import Floats, Observations, Whole
from biaswatch.shared.stats.comparisons.compared_samples import Bounds


class Scale(StrEnum):
    """The scale that a feature is compared on."""

    LOG = "log"
    """Natural logarithms: gaps are those of logarithms, ratios of geometric means."""
    RANK = "rank"
    """Midranks among the answers of a domain, as shares from 0 to 1."""


def scaled(
    observations: Observations, scales: Mapping[str, Scale]
) -> tuple[Observations, list[str]]:
    """Return observations with features on their scales, and what gaps of these are about.

    `words` becomes `log(words)` or `rank(words)`. Values that have no logarithm become missing.

    Raises
    ------
    ValueError
        A scale is of no feature.

    References
    ----------
    Conover and Iman (1981), Rank transformations as a bridge between parametric and nonparametric
    statistics; Brunner and Munzel (2000) for ranks of groups with unlike spread.
    """
    if unknown := sorted(set(scales) - set(observations.features)):
        raise ValueError(f"`scale` names {unknown[0]!r}, which is not among the features")
    values, ranges, notes = observations.values.copy(), dict(observations.ranges), []
    for index, feature in enumerate(observations.features):
        if feature not in scales:
            continue
        name, column = _name(feature, scales), values[:, index]
        if scales[feature] is Scale.LOG:
            ranges[name] = _log_range(ranges.pop(feature, None))
            without = int((np.isfinite(column) & (column <= 0)).sum())
            values[:, index] = np.log(column, where=column > 0, out=np.full(len(column), np.nan))
            notes.append(_log_note(feature, without))
        else:
            ranges[name] = None  # a rank is never far from all others
            values[:, index] = _ranks(column, observations.domain_codes[0])
            notes.append(_rank_note(feature))
    names = tuple(_name(feature, scales) for feature in observations.features)
    rated = observations.features if observations.rated is None else observations.rated
    unscaled = tuple(feature for feature in rated if feature not in scales)
    return replace(
        observations, features=names, values=values, ranges=ranges, rated=unscaled
    ), notes


def _name(feature: str, scales: Mapping[str, Scale]) -> str:
    return f"{scales[feature]}({feature})" if feature in scales else feature


def _log_range(bounds: Bounds | None) -> Bounds | None:
    if bounds is None or bounds[0] <= 0:
        return None
    return log(bounds[0]), log(bounds[1])


def _ranks(column: Floats, domains: Whole) -> Floats:
    """Return midranks within domains as shares: less a half, over the number of values."""
    ranks = np.full(len(column), np.nan)
    for domain in np.unique(domains):
        rows = np.isfinite(column) & (domains == domain)
        ranks[rows] = (stats.rankdata(column[rows]) - 0.5) / max(int(rows.sum()), 1)
    return ranks


def _log_note(feature: str, without: int) -> str:
    note = (
        f"log({feature}) compares geometric means: a gap of d means that that of a is e^d times"
        f" that of b. The gap between the means of {feature} is another question."
    )
    if not without:
        return note
    return f"{note} {without} values of 0 or less have no logarithm and count as missing."


def _rank_note(feature: str) -> str:
    return (
        f"rank({feature}) compares mean ranks, from 0 to 1: between two groups, a gap of d means"
        " that an answer about a is larger than one about b with a probability of 0.5 + d (ties"
        f" count half). The gap between the means of {feature} is another question."
    )
