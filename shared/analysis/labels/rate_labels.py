"""Labels of the truth as labels of error rates, each a mean that labels correct.

A rate over the rows with a positive truth is a ratio of means, P(decision and truth) / P(truth).
Near its estimate t, with p for P(truth), it is the mean of t + (decision - t) truth / p.
"""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from biaswatch.shared.analysis.findings.error_rates import (
    YES_OR_NO,
    decided,
    is_score,
    positive,
    rate_name,
)
from biaswatch.shared.analysis.findings.observations import Labels, Observations, coded
from biaswatch.shared.analysis.labels.table_corrections import LabelledColumn, labelled_rows_of
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.groups.error_rates import Rate

BY_TRUTH = {Rate.TRUE_POSITIVE: True, Rate.FALSE_POSITIVE: False}
"""Rates over rows with one truth, and which."""
ROUNDING = 1e-9


def rate_columns(seen: Observations, truth: LabelledColumn) -> Iterator[LabelledColumn]:
    """Yield a labelled column for each error rate of each feature, by labels of the truth.

    Parameters
    ----------
    seen
        A table with the truth as an instrument read it.
    truth
        Labels of the truth of some rows, by people.

    Raises
    ------
    ValueError
        A feature or the truth is neither yes or no, nor has it a threshold.
    """
    for index, feature in enumerate(seen.features):
        if seen.truth is None or (seen.rated is not None and feature not in seen.rated):
            continue
        values, threshold = seen.values[:, index], seen.selected_at_least.get(feature)
        read = positive(seen.truth, feature, threshold)
        truth_labels = replace(
            truth, labels=positive(truth.labels, feature, threshold), bounds=YES_OR_NO
        )
        if (decisions := decided(feature, values, threshold)) is not None:
            yield _mean(feature, Rate.ACCURACY, _equal(decisions, read), truth_labels, decisions)
            chosen = np.where(decisions == 1, read, np.nan)
            yield replace(truth_labels, feature=rate_name(feature, Rate.PRECISION), readings=chosen)
            for rate, is_positive in BY_TRUTH.items():
                name = rate_name(feature, rate)
                yield from _ratios(
                    seen, decisions, read, truth_labels, name, is_positive=is_positive
                )
        if is_score(values):
            name = rate_name(feature, Rate.CALIBRATION)
            labels = values[:, None] - truth_labels.labels
            yield replace(
                truth_labels,
                feature=name,
                labels=labels,
                bounds=(-1.0, 1.0),
                readings=values - read,
            )


def _mean(
    feature: str, rate: Rate, readings: Floats, truth_labels: LabelledColumn, decisions: Floats
) -> LabelledColumn:
    labels = _equal(decisions[:, None], truth_labels.labels)
    return replace(truth_labels, feature=rate_name(feature, rate), labels=labels, readings=readings)


def _equal(decisions: Floats, truth: Floats) -> Floats:
    """Return 1 where decision and truth are equal; nan where one is missing."""
    return decisions * truth + (1 - decisions) * (1 - truth)


def _ratios(
    seen: Observations,
    decisions: Floats,
    read: Floats,
    truth_labels: LabelledColumn,
    name: str,
    *,
    is_positive: bool,
) -> Iterator[LabelledColumn]:
    """Yield a rate over the rows with one truth, linear near its estimate in each group."""
    weight = read if is_positive else 1 - read
    weights = truth_labels.labels if is_positive else 1 - truth_labels.labels
    base = replace(truth_labels, feature=name, labels=weights, readings=decisions * weight)
    for dimension, levels in seen.groups.items():
        readings, labels = np.full(len(read), np.nan), np.full(weights.shape, np.nan)
        ends: list[float] = []
        for cell in _cells(seen, levels):
            rate, share = _pilot(seen, base, decisions, cell)
            known = np.isfinite(decisions * weight) & cell
            read_share = float(weight[known].mean()) if known.any() else 0.0
            if not share or not read_share:
                continue
            read_rate = float((decisions * weight)[known].mean()) / read_share
            around = decisions[cell]
            readings[cell] = _linear(around, weight[cell], read_rate, read_share)
            labels[cell] = _linear(around[:, None], weights[cell], rate, share)
            for mean, part in ((rate, share), (read_rate, read_share)):
                ends += _linear(np.array(YES_OR_NO), np.ones(2), mean, part).tolist()
        if ends:
            bounds = min(ends) - ROUNDING, max(ends) + ROUNDING
            yield replace(
                base, labels=labels, readings=readings, bounds=bounds, dimension=dimension
            )


def _linear(decisions: Floats, truth: Floats, rate: float, share: float) -> Floats:
    """Return values whose mean is the rate, if that is near, where the truth has this share."""
    return rate + (decisions - rate) * truth / share


def _cells(seen: Observations, levels: Labels) -> Iterator[Bools]:
    """Yield the rows of each group in each domain."""
    codes, domains = coded(levels)[0], seen.domain_codes[0]
    for code, domain in sorted({*zip(codes.tolist(), domains.tolist(), strict=True)}):
        if code >= 0:
            yield (codes == code) & (domains == domain)


def _pilot(
    seen: Observations, base: LabelledColumn, decisions: Floats, cell: Bools
) -> tuple[float, float]:
    """Return the rate and the share of rows with the truth, by the labels of a group alone."""
    drawn = labelled_rows_of(seen, base, np.arange(seen.rows)).drawn
    own = cell[drawn.rows]
    weights, truth = 1 / drawn.probabilities[own], drawn.labels[own]
    total = float(weights @ truth)
    if not total:
        return 0.0, 0.0
    positive_decisions = float(weights @ (truth * decisions[drawn.rows[own]]))
    return positive_decisions / total, total / float(weights.sum())
