"""Error rates of decisions against the truth by group: estimates, comparisons, calibration."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from biaswatch.shared.analysis.findings.gap_samples import SampledGroups
from biaswatch.shared.analysis.findings.group_statistics import GroupIntervals
from biaswatch.shared.analysis.findings.groupings import ComparisonPlan, Grouping
from biaswatch.shared.analysis.findings.observations import Observations
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.groups.error_rates import COMPLEMENTS, EMPTY, TESTED, Rate, rate_rows
from biaswatch.shared.stats.tables.risks import wilson_limits

YES_OR_NO = (0.0, 1.0)
BINS = 10
"""Bins of equal width of calibration."""


@dataclass(frozen=True)
class GroupRate:
    """A rate of one group."""

    feature: str
    rate: Rate
    dimension: str
    domain: str
    group: str
    estimate: Estimate
    n: int
    """Answers that meet the condition and have a value."""
    n_missing: int


@dataclass(frozen=True)
class RatedGroups:
    """The groups of a dimension in the rows that a rate is about."""

    feature: str
    rate: Rate
    sampled: SampledGroups
    is_feature: bool = False
    """True where the rate is the mean of the feature itself, which is compared already."""
    scores: Floats | None = None
    """[rows]: the scores themselves, where the rate is the calibration error."""

    @property
    def name(self) -> str:
        """Its name as a feature of its own."""
        return self.feature if self.is_feature else rate_name(self.feature, self.rate)

    @cached_property
    def intervals(self) -> GroupIntervals:
        """Intervals of each group by itself."""
        sampled = self.sampled
        plan = sampled.plan
        return GroupIntervals(sampled.observations, sampled.grouping, plan.claim, plan.alpha)

    @property
    def is_compared(self) -> bool:
        """True where it adds comparisons of its own."""
        return not self.is_feature and self.sampled.observations.rows > 0

    def estimate(self, group: int, share: float = 1.0) -> Estimate:
        """Return the rate of a group, with 1 - alpha x share as the coverage of its interval."""
        if not self.sampled.observations.rows:
            return undefined(EMPTY.get(self.rate, "no row has a truth"))
        of = self.intervals
        of = of if share == 1 else replace(of, alpha=of.alpha * share)
        estimate = of.mean(group, 0) if self.rate is Rate.CALIBRATION else of.rate(group, 0)
        if estimate.value is None and (reason := EMPTY.get(self.rate)):
            return undefined(reason)
        return estimate


def rate_name(feature: str, rate: Rate) -> str:
    """Return the name of a rate as a feature: `hired.true_positive_rate`."""
    return f"{feature}.{rate}"


def rated_groups(
    observations: Observations, groupings: Sequence[Grouping], plan: ComparisonPlan
) -> list[RatedGroups]:
    """Return the groups of each dimension for every rate of every feature; empty without a truth.

    Raises
    ------
    ValueError
        A feature is neither yes or no, nor has it a threshold, nor is it a score from 0 to 1; or
        the truth is not yes or no.
    """
    if observations.truth is None:
        return []
    return [
        rated
        for index, feature in enumerate(observations.features)
        if observations.rated is None or feature in observations.rated
        for rated in _rated(observations, index, groupings, plan)
    ]


def _rated(
    observations: Observations, index: int, groupings: Sequence[Grouping], plan: ComparisonPlan
) -> Iterator[RatedGroups]:
    feature, values = observations.features[index], observations.values[:, index]
    truth = observations.truth if observations.truth is not None else np.full(len(values), np.nan)
    for rated in rates_of(feature, values, truth, observations.selected_at_least.get(feature)):
        of_rate = _subset(observations, rated, feature)
        for grouping in groupings:
            part = replace(grouping, codes=grouping.codes[rated.rows])
            sampled = SampledGroups(of_rate, part, plan)
            scores = values[rated.rows] if rated.rate is Rate.CALIBRATION else None
            yield RatedGroups(feature, rated.rate, sampled, rated.is_feature, scores)


@dataclass(frozen=True)
class RatedRows:
    """The rows of one rate of one feature, and their values."""

    rate: Rate
    rows: Bools
    """[n]: True where the row meets the condition."""
    values: Floats
    """[rows that do]"""
    is_feature: bool

    @property
    def bounds(self) -> Bounds:
        """The range of the values."""
        return (-1.0, 1.0) if self.rate is Rate.CALIBRATION else YES_OR_NO


def rates_of(
    feature: str, values: Floats, truth: Floats, threshold: float | None
) -> Iterator[RatedRows]:
    """Yield the rows of every rate that a feature has.

    Raises
    ------
    ValueError
        The feature, or the truth, is not yes or no, and there is no threshold.
    """
    decisions, known = decided(feature, values, threshold), positive(truth, feature, threshold)
    chosen: list[tuple[Rate, Floats]] = []
    if decisions is not None:
        chosen += [(rate, decisions) for rate in (Rate.SELECTION, *TESTED)]
    if is_score(values):
        chosen.append((Rate.CALIBRATION, values))
    for rate, column in chosen:
        rows = rate_rows(rate, column, known)
        same = rate is Rate.SELECTION and np.array_equal(column, values, equal_nan=True)
        yield RatedRows(rate, rows.rows, rows.values[rows.rows], same)


def decided(feature: str, values: Floats, threshold: float | None) -> Floats | None:
    """Return decisions, 1 or 0 and nan where missing; None for scores without a threshold.

    Raises
    ------
    ValueError
        The values are neither decisions nor scores from 0 to 1, and there is no threshold.
    """
    present = np.isfinite(values)
    if threshold is not None:
        return np.where(present, values >= threshold, np.nan)
    if np.isin(values[present], YES_OR_NO).all():
        return np.where(present, values, np.nan)
    if is_score(values):
        return None
    raise ValueError(
        f"{feature} is not a decision of 0 or 1: set the lowest value that counts as selected, as"
        f" in selected_at_least={feature}=3"
    )


def is_score(values: Floats) -> bool:
    """Return whether values could be probabilities: from 0 to 1, and not decisions alone."""
    present = values[np.isfinite(values)]
    if not len(present) or present.min() < 0 or present.max() > 1:
        return False
    return not np.isin(present, YES_OR_NO).all()


def positive(truth: Floats, feature: str, threshold: float | None) -> Floats:
    """Return the truth as 1 or 0, nan where it is not known.

    Raises
    ------
    ValueError
        It is not yes or no, and there is no threshold.
    """
    known = np.isfinite(truth)
    if np.isin(truth[known], YES_OR_NO).all():
        return truth
    if threshold is None:
        raise ValueError(
            f"the truth is not 0 or 1: set the lowest value that counts as positive, as in"
            f" selected_at_least={feature}=3"
        )
    return np.where(known, truth >= threshold, np.nan)


def _subset(observations: Observations, rated: RatedRows, feature: str) -> Observations:
    """Return some rows with the values of a rate as their one feature."""
    name = rate_name(feature, rated.rate)
    part = observations.at(np.flatnonzero(rated.rows))
    return replace(
        part, features=(name,), values=rated.values[:, None], baseline=None,
        ranges={name: rated.bounds}, truth=None,
    )  # fmt: skip


def group_rates(rated: Sequence[RatedGroups]) -> Iterator[GroupRate]:
    """Yield every rate of every group, the complements of error rates included."""
    for of in rated:
        yield from _group_rates(of, of.rate, is_complement=False)
        for complement, rate in COMPLEMENTS.items():
            if rate is of.rate:
                yield from _group_rates(of, complement, is_complement=True)


def _group_rates(of: RatedGroups, rate: Rate, *, is_complement: bool) -> Iterator[GroupRate]:
    grouping, values = of.sampled.grouping, of.sampled.observations.values[:, 0]
    for code, group in enumerate(grouping.groups):
        own = values[grouping.codes == code]
        present = int(np.isfinite(own).sum())
        estimate = of.estimate(code)
        yield GroupRate(
            feature=of.feature,
            rate=rate,
            dimension=grouping.name,
            domain=grouping.domains[group.domain],
            group=group.name,
            estimate=_complement(estimate) if is_complement else estimate,
            n=present,
            n_missing=len(own) - present,
        )


def _complement(estimate: Estimate) -> Estimate:
    value, low, high = (
        None if end is None else 1 - end for end in (estimate.value, estimate.high, estimate.low)
    )
    return replace(estimate, value=value, low=low, high=high)


@dataclass(frozen=True)
class CalibrationBin:
    """The scores of a group in one tenth of the range from 0 to 1."""

    feature: str
    dimension: str
    domain: str
    group: str
    score: float
    """The mean score."""
    positive: Estimate
    """The share of positive truths."""
    n: int


def calibration_bins(rated: Sequence[RatedGroups], alpha: float) -> Iterator[CalibrationBin]:
    """Yield the mean score and the share of positive truths of each group, by tenths of scores.

    Intervals are Wilson's, for independent rows; they decide nothing.
    """
    for of in rated:
        if of.rate is Rate.CALIBRATION and of.scores is not None:
            yield from _bins(of, of.scores, alpha)


def _bins(of: RatedGroups, scores: Floats, alpha: float) -> Iterator[CalibrationBin]:
    grouping, beyond = of.sampled.grouping, of.sampled.observations.values[:, 0]
    place = np.minimum((np.nan_to_num(scores) * BINS).astype(np.intp), BINS - 1)
    for code, group in enumerate(grouping.groups):
        own = (grouping.codes == code) & np.isfinite(beyond)
        for of_bin in np.unique(place[own]).tolist():
            rows = own & (place == of_bin)
            truth = scores[rows] - beyond[rows]
            limits = wilson_limits(round(float(truth.sum())), len(truth), alpha)
            yield CalibrationBin(
                of.feature, grouping.name, grouping.domains[group.domain], group.name,
                float(scores[rows].mean()), Estimate(float(truth.mean()), *limits, "Wilson"),
                len(truth),
            )  # fmt: skip
