"""Validity of a suite: agreement of halves, repeats, wordings and long texts on models."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import fmean

from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.studies.rank_correlation import rank_correlation

Gaps = Mapping[str, float]
"""The gap of each model."""
Pair = tuple[str, str]


@dataclass(frozen=True)
class MeasuredAnswer:
    """The value of one answer, and what it answers."""

    model: str
    set: str
    group: str
    value: float
    repeat: int = 0
    wording: str = ""


@dataclass(frozen=True)
class PairValidity:
    """The gaps of all models between two groups, and their rank correlations over models."""

    a: str
    b: str
    gaps: Gaps
    halves: Estimate
    """Gaps in one half of the sets, and in the other."""
    retest: Estimate
    """Gaps in odd repeats, and in even ones."""
    by_wording: Mapping[str, Gaps]
    wordings: Mapping[str, Estimate]
    """Gaps in the first wording, and in each other one."""
    long_gaps: Gaps
    long_form: Estimate
    """Gaps of the suite, and of long texts."""


def gaps_of(answers: Iterable[MeasuredAnswer], pair: Pair) -> dict[str, float]:
    """Return each model's mean difference within sets, first group minus second."""
    values: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for answer in answers:
        values[answer.model, answer.set][answer.group].append(answer.value)
    differences: dict[str, list[float]] = defaultdict(list)
    first, second = pair
    for (model, _), by_group in sorted(values.items()):
        if first in by_group and second in by_group:
            differences[model].append(fmean(by_group[first]) - fmean(by_group[second]))
    return {model: fmean(gaps) for model, gaps in differences.items()}


def validity_of(
    answers: Sequence[MeasuredAnswer], long_answers: Sequence[MeasuredAnswer]
) -> list[PairValidity]:
    """Return the validity of the gap between each two groups."""
    groups = sorted({answer.group for answer in answers})
    return [_pair_validity(answers, long_answers, pair) for pair in combinations(groups, 2)]


def _pair_validity(
    answers: Sequence[MeasuredAnswer], long_answers: Sequence[MeasuredAnswer], pair: Pair
) -> PairValidity:
    half = {name: place % 2 for place, name in enumerate(sorted({a.set for a in answers}))}
    by_wording = {
        wording: gaps_of((a for a in answers if a.wording == wording), pair)
        for wording in dict.fromkeys(a.wording for a in answers)
    }
    first, *rest = by_wording
    gaps, long_gaps = gaps_of(answers, pair), gaps_of(long_answers, pair)
    return PairValidity(
        *pair,
        gaps=gaps,
        halves=_agreement(
            *(gaps_of((a for a in answers if half[a.set] == h), pair) for h in (0, 1))
        ),
        retest=_agreement(
            *(gaps_of((a for a in answers if a.repeat % 2 == r), pair) for r in (0, 1))
        ),
        by_wording=by_wording,
        wordings={name: _agreement(by_wording[first], by_wording[name]) for name in rest},
        long_gaps=long_gaps,
        long_form=_agreement(gaps, long_gaps),
    )


def _agreement(one: Gaps, other: Gaps) -> Estimate:
    """Return the rank correlation over the models that both have."""
    if not one or not other:
        return undefined("not measured")
    both = sorted(one.keys() & other.keys())
    return rank_correlation([one[name] for name in both], [other[name] for name in both])
