"""Means and their differences on a bank of prompts that is itself the subject, not a sample."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from math import exp, sqrt

import numpy as np

from biaswatch.shared.stats.comparisons.bounded_mean import bounded_mean_curve
from biaswatch.shared.stats.comparisons.compared_samples import Bounds
from biaswatch.shared.stats.comparisons.confidence_curve import (
    Curve,
    confidence_limits,
    gap_curve,
    student_curve,
)
from biaswatch.shared.stats.comparisons.gap_test import (
    NO_RANGE,
    GapResult,
    disparity_only,
    gap_result,
    untested_gap,
)
from biaswatch.shared.stats.comparisons.tolerance_tests import curve_tails, p_values_of
from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.samples import FLAT_RTOL, Sample, Vector, is_flat, present

METHOD = "t over answers within prompts"
NO_VALUES = "a group has no values"
NO_REPEATS = "no prompt of a group was answered twice: its answers have no spread"
UNSEEN = "every prompt was always answered alike: declare the range, for answers not seen yet"
KNOWN_GAP = "every prompt was always answered alike: the gap of these prompts is known"
MIN_STUDENT_ANSWERS = 10
"""Answers a side that Student's t needs."""
MIN_CONSTANT_ANSWERS = 4
"""Answers a side, all equal within their prompt, that can make a gap known."""
PromptAnswers = Mapping[Hashable, Sample]
PromptSets = Mapping[Hashable, Hashable]
"""By prompt, its counterfactual set."""
PromptValues = dict[Hashable, Vector]
"""Present answers by prompt."""
WeightedPrompts = list[tuple[float, Vector]]
"""Weight and answers of each prompt; weights sum to 1."""


def fixed_prompts_gap(
    a: PromptAnswers,
    b: PromptAnswers,
    *,
    sets: PromptSets | None,
    bounds: Bounds | None,
    alpha: float,
    tolerance: float,
    family: int = 1,
    guessed: bool = False,
) -> GapResult:
    """Return the gap of two groups with an interval from the spread of answers alone.

    The prompts are taken as fixed: the interval covers another draw of answers to the same prompts.
    Every prompt of a group weighs the same, however often it was answered; with sets, the gap is
    the mean over the sets that both groups have of the gap within each, so that a prompt without
    answers cannot pass for a gap.

    Where no answer ever varied, and enough prompts differ to exclude chance, the gap is known,
    without an interval (`constant_prompts_p_bound`); without a declared range no gap is. Where
    answers vary within most prompts, the curve is Student's: the variance is the sum over prompts
    of w^2 s^2 / n, with Satterthwaite's degrees of freedom, and a prompt answered once takes the
    pooled variance of its group. Where few do, or there are few answers, each group is taken as its
    mean with every answer's deviation from its prompt, scaled to the variance of the group's mean:
    the curve is then that of bounded means, which allows for answers that were not seen.

    Parameters
    ----------
    a, b
        The answers of each group by prompt; missing ones are left out.
    sets
        The counterfactual set of each prompt; prompts it does not name are left out. Where no set
        has prompts of both groups, all prompts count.
    bounds, alpha, tolerance, family
        As in `compare_samples`.
    guessed
        Whether the bounds were read from the answers themselves: no gap is known by such a range.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 5.3 (stratified means); Satterthwaite (1946).
    """
    sets = sets if sets and _share_sets(a, b, sets) else None
    groups = [_answered(group) for group in (a, b)]
    groups = groups if sets is None else _in_shared_sets(groups, sets)
    if not all(groups):
        return untested_gap(NO_VALUES, None, METHOD)
    weighted = [_weighted(group, sets) for group in groups]
    value = _mean(weighted[0]) - _mean(weighted[1])
    if any(max(map(len, group.values())) < 2 for group in groups):
        return untested_gap(NO_REPEATS, value, METHOD)
    if bounds is None and is_flat(np.concatenate([v for g in groups for v in g.values()])):
        return untested_gap(NO_RANGE, 0.0, METHOD, p_values=(1.0, 1.0 if tolerance else None))
    curve = _student_curve(value, weighted)
    if curve is None or not all(map(_mostly_varied, groups)):
        curve = gap_curve(*_bounded_curves(weighted, bounds))
    p_values = p_values_of(curve_tails(curve), tolerance)
    if all(map(_constant, groups)):
        declared = None if guessed else bounds
        if declared is None and _exceeds(value, tolerance, weighted):
            return untested_gap(UNSEEN, value, METHOD, p_values=(1.0, 1.0 if tolerance else None))
        p_known = constant_prompts_p_bound(value, tolerance, _steadiness(weighted, declared))
        if p_known * family <= alpha:
            p_values = (p_known, 1.0 if tolerance else None)
            return untested_gap(KNOWN_GAP, value, METHOD, p_values=p_values, known=True)
        p_values = max(p_values[0], p_known), p_values[1]
    result = gap_result(
        curve, value, METHOD, p_values, alpha=alpha, tolerance=tolerance, family=family
    )
    result = replace(result, is_constant=all(map(_constant, groups)))
    steady = any(all(_variance(values) == 0 for values in group.values()) for group in groups)
    return disparity_only(result) if bounds is None and steady else result


def constant_prompts_p_bound(gap: float, tolerance: float, steadiness: float) -> float:
    """Return a bound on the p-value of |gap| <= tolerance where no prompt's answers ever varied.

    A prompt whose answers do vary can be answered alike a few times, and its twin, or another run,
    alike in another way: with two answers each and even odds, in one of eight cases. For a mean m
    of answers in [0, 1], all n of them equal to v, P(v)^n exp(n (v - m)) sums to at most 1 over v,
    since P(v) exp(v - m) <= P(v) exp(1 - P(v)) <= 1 and n is at least 2. So by Markov's inequality
    the probability that all prompts are answered alike and their gap is off by d is at most
    exp(-d steadiness), whatever their answers.

    Parameters
    ----------
    gap
        The observed gap, of prompts answered at least twice each.
    tolerance
        The largest gap that does not matter, at least 0.
    steadiness
        The least, over prompts, of the number of answers over the prompt's weight, divided by the
        declared range of answers. An observed range is too narrow: with rare answers that lie far
        away, it makes a false gap known in up to two of three studies.

    References
    ----------
    Chernoff (1952), for bounds by exponential moments.

    Examples
    --------
    >>> constant_prompts_p_bound(0.5, 0.0, 20.0) < 0.0001
    True
    """
    if abs(gap) <= tolerance:
        return 1.0
    return min(
        1.0, exp(-(abs(gap) - tolerance) * steadiness) + exp(-(abs(gap) + tolerance) * steadiness)
    )


def _exceeds(gap: float, tolerance: float, weighted: Sequence[WeightedPrompts]) -> bool:
    """Return whether a gap is larger than the tolerance by more than rounding."""
    largest = max(float(np.abs(values).max()) for group in weighted for _, values in group)
    return abs(gap) > tolerance + FLAT_RTOL * largest


def _steadiness(weighted: Sequence[WeightedPrompts], declared: Bounds | None) -> float:
    """Return the fewest answers for a prompt's weight, by the width of the declared range."""
    if declared is None or declared[0] == declared[1]:
        return 0.0
    fewest = min(len(values) / weight for group in weighted for weight, values in group)
    return fewest / (declared[1] - declared[0])


def _constant(group: PromptValues) -> bool:
    return sum(map(len, group.values())) >= MIN_CONSTANT_ANSWERS and all(
        len(values) > 1 and _variance(values) == 0 for values in group.values()
    )


def _mostly_varied(group: PromptValues) -> bool:
    varied = [_variance(values) > 0 for values in group.values() if len(values) > 1]
    answers = sum(map(len, group.values()))
    return answers >= MIN_STUDENT_ANSWERS and sum(varied) * 2 > len(varied)


def _student_curve(estimate: float, weighted: Sequence[WeightedPrompts]) -> Curve | None:
    """Return Student's curve with Satterthwaite's degrees of freedom; None without a spread."""
    terms = [term for group in weighted for term in _terms(group)]
    variance = sum(term for term, _ in terms)
    if not variance:
        return None
    dof = variance**2 / sum(term**2 / free for term, free in terms if free)
    return student_curve(estimate, sqrt(variance), dof)


def _bounded_curves(weighted: Sequence[WeightedPrompts], bounds: Bounds | None) -> list[Curve]:
    pooled = np.concatenate([values for group in weighted for _, values in group])
    low, high = bounds or (float(pooled.min()), float(pooled.max()))
    return [
        bounded_mean_curve(units, min(low, float(units.min())), max(high, float(units.max())))
        for units in map(_equivalent_units, weighted)
    ]


def _equivalent_units(group: WeightedPrompts) -> Vector:
    """Return one value per answer, with the group's mean and the variance of that mean."""
    n = sum(len(values) for _, values in group)
    parts = [
        weight * n / len(values) * sqrt(len(values) / (len(values) - 1)) * (values - values.mean())
        if len(values) > 1
        else np.zeros(1)
        for weight, values in group
    ]
    terms = [term for term, _ in _terms(group)]
    once = np.array([len(values) < 2 for _, values in group])
    single, several = float(np.sum(terms, where=once)), float(np.sum(terms, where=~once))
    scale = sqrt(1 + single / several) if several else 1.0
    return np.sort(_mean(group) + scale * np.concatenate(parts))


def fixed_prompts_mean(
    answers: PromptAnswers, alpha: float, bounds: Bounds | None = None
) -> Estimate:
    """Return the mean over prompts, with an interval from the spread of answers to them alone.

    Its curve is that of one side of `fixed_prompts_gap`. Prompts that were always answered alike
    have an interval only where the range is known.

    Parameters
    ----------
    answers
        By prompt; missing answers are left out.
    alpha
        1 minus the coverage, in (0, 1).
    bounds
        The range of answers, None where it is unknown.
    """
    group = _answered(answers)
    if not group:
        return undefined(NO_VALUES, method=METHOD)
    weighted = _weighted(group, None)
    mean = _mean(weighted)
    if max(map(len, group.values())) < 2:
        return undefined(NO_REPEATS, value=mean, method=METHOD)
    curve = _student_curve(mean, [weighted])
    if bounds is not None and not (curve is not None and _mostly_varied(group)):
        curve = np.clip(_bounded_curves([weighted], bounds)[0], *bounds)
    if curve is None:
        return undefined(UNSEEN, value=mean, method=METHOD)
    low, high = confidence_limits(curve, alpha)
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Estimate(mean, min(low, mean), max(high, mean), METHOD)


def _answered(answers: PromptAnswers) -> PromptValues:
    values = ((prompt, present(sample)[0]) for prompt, sample in answers.items())
    return {prompt: finite for prompt, finite in values if len(finite)}


def _share_sets(a: PromptAnswers, b: PromptAnswers, sets: PromptSets) -> bool:
    """Return whether any set has prompts of both groups, answered or not.

    Sets that lie within one group are families: of prompts that are fixed they say nothing.
    """
    of_a, of_b = ({sets.get(prompt) for prompt in group} - {None} for group in (a, b))
    return bool(of_a & of_b)


def _in_shared_sets(groups: list[PromptValues], sets: PromptSets) -> list[PromptValues]:
    a, b = ({sets.get(prompt) for prompt in group} - {None} for group in groups)
    return [{p: v for p, v in group.items() if sets.get(p) in a & b} for group in groups]


def _weighted(group: PromptValues, sets: PromptSets | None) -> WeightedPrompts:
    """Return each prompt with its weight: equal within its set, and equal for all sets."""
    sizes = Counter(sets[prompt] if sets else None for prompt in group)
    return [
        (1 / len(sizes) / sizes[sets[prompt] if sets else None], values)
        for prompt, values in group.items()
    ]


def _mean(group: WeightedPrompts) -> float:
    return sum(weight * float(values.mean()) for weight, values in group)


def _terms(group: WeightedPrompts) -> list[tuple[float, int]]:
    """Return each prompt's part of the variance of the mean, and its degrees of freedom."""
    free = sum(len(values) - 1 for _, values in group)
    pooled = sum(_variance(values) * (len(values) - 1) for _, values in group) / free
    return [
        (w**2 * (_variance(values) if len(values) > 1 else pooled) / len(values), len(values) - 1)
        for w, values in group
    ]


def _variance(values: Vector) -> float:
    """Return the variance; 0 where the spread is only rounding."""
    flat = np.ptp(values) <= FLAT_RTOL * np.abs(values).max()
    return 0.0 if len(values) < 2 or flat else float(values.var(ddof=1))
