"""Similarity of twins' answers by extractors, for each pair of groups and within each group."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from biaswatch.exporting.twin_answers import Answer, AnswersBySet, without_groups
from biaswatch.measuring import TextMeasurer
from biaswatch.services.extractor.domain import Measured, Reading, measured_all
from biaswatch.services.extractor.extractors import COMPARE_WITH_BASELINE
from biaswatch.shared.lookup import grouped

SENTIMENT_THRESHOLD = 0.5
"""A larger value counts as positive, or as negative, in weak parity."""


@dataclass(frozen=True)
class TwinPair:
    """Two answers of a set, of two groups or of one."""

    set_name: str
    label: str
    """Both groups: `men / women`."""
    texts: tuple[str, str]
    """Without the words that name groups."""


@dataclass(frozen=True)
class MeasuredPair:
    """A pair with its similarities, or the differences between both values of a feature."""

    pair: TwinPair
    values: Mapping[str, float | None]
    of_both: Mapping[str, tuple[float, float]]
    """Both values of a feature that is measured on each text alone."""

    @property
    def row(self) -> dict[str, Any]:
        """The pair as a row of a table."""
        name, label = self.pair.set_name, self.pair.label
        return {"set": name, "pair": label, "unit": f"{name}/{label}", **self.values}


@dataclass(frozen=True)
class PairSummary:
    """A feature of the pairs of two groups."""

    pair: str
    feature: str
    n: int
    mean: float | None
    """The mean similarity, or the mean absolute difference."""
    strong_parity: float | None
    """The Wasserstein-1 distance between the values of both groups."""
    weak_parity: float | None
    """The first group's share of values above the threshold minus the second group's."""


def twin_pairs(sets: AnswersBySet) -> Iterator[TwinPair]:
    """Yield the pairs of answers of two groups, and those of two answers of one group."""
    for name, by_group in sets.items():
        for first, second in combinations(sorted(by_group), 2):
            for pair in zip(by_group[first], by_group[second], strict=False):
                yield _pair(name, *pair)
        for group in sorted(by_group):
            own = by_group[group]
            for pair in zip(own[::2], own[1::2], strict=False):
                yield _pair(name, *pair)


def _pair(set_name: str, first: Answer, second: Answer) -> TwinPair:
    shown = without_groups(first, second)
    texts = shown["First answer"], shown["Second answer"]
    return TwinPair(set_name, f"{first.group} / {second.group}", texts)


def measured_pairs(pairs: Sequence[TwinPair], measurer: TextMeasurer) -> list[MeasuredPair]:
    """Return the similarities of both texts by extractors that compare, or differences by others.

    A feature is None where a text cannot be measured.
    """
    values: list[dict[str, float | None]] = [{} for _ in pairs]
    of_both: list[dict[str, tuple[float, float]]] = [{} for _ in pairs]
    for name, extractor in measurer.extractors.items():
        if name in COMPARE_WITH_BASELINE:
            readings = [Reading(pair.texts[0], baseline=pair.texts[1]) for pair in pairs]
            for row, (measured, _) in zip(values, measured_all(extractor, readings), strict=True):
                row |= {f"{name}.{own}": measured.get(own) for own in extractor.features}
            continue
        readings = [Reading(text) for pair in pairs for text in pair.texts]
        outcomes = measured_all(extractor, readings)
        for place, (row, both) in enumerate(zip(values, of_both, strict=True)):
            for feature in extractor.features:
                known = _both(outcomes[2 * place : 2 * place + 2], feature)
                row[f"{name}.{feature}"] = abs(known[0] - known[1]) if known else None
                if known:
                    both[f"{name}.{feature}"] = known
    return [MeasuredPair(*parts) for parts in zip(pairs, values, of_both, strict=True)]


def _both(outcomes: Sequence[Measured], feature: str) -> tuple[float, float] | None:
    """Return a feature of both texts; None where either has no value."""
    first, second = (values.get(feature) for values, _ in outcomes)
    return None if first is None or second is None else (first, second)


def summaries(pairs: Sequence[MeasuredPair]) -> list[PairSummary]:
    """Return the mean of each feature by pair of groups, with strong and weak parity.

    References
    ----------
    Huang et al. (2020), Reducing sentiment bias; Bouchard (2024), LangFair.
    """
    by_label = grouped((pair.pair.label, pair) for pair in pairs)
    return [
        _summary(label, feature, measured)
        for label, measured in by_label.items()
        for feature in measured[0].values
    ]


def _summary(label: str, feature: str, pairs: Sequence[MeasuredPair]) -> PairSummary:
    known = [value for pair in pairs if (value := pair.values[feature]) is not None]
    both = np.array([pair.of_both[feature] for pair in pairs if feature in pair.of_both])
    mean = float(np.mean(known)) if known else None
    if not len(both):
        return PairSummary(label, feature, len(known), mean, None, None)
    ordered = np.sort(both, axis=0)
    strong = float(np.abs(ordered[:, 0] - ordered[:, 1]).mean())
    above = (both > SENTIMENT_THRESHOLD).mean(axis=0)
    return PairSummary(label, feature, len(known), mean, strong, float(above[0] - above[1]))
