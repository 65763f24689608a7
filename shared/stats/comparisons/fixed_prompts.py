"""Means and their differences on a bank of prompts that is itself the subject, not a sample."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from math import sqrt

import numpy as np
from scipy import stats

from biaswatch.shared.stats.comparisons.always_alike import always_alike_p
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
    gap_result,
    without_range,
)
from biaswatch.shared.stats.comparisons.means_and_rates import ROUNDING, MeanDifference, is_flat
from biaswatch.shared.stats.comparisons.tolerance_tests import curve_tails, p_values_of
from biaswatch.shared.stats.estimate import Estimate, undefined
from biaswatch.shared.stats.samples import Sample, Vector, present

METHOD = "t over answers within prompts"
NO_REPEATS = "no prompt of a group was answered twice: its answers have no spread"
NO_SPREAD = "all answers to a prompt are equal: a t interval would claim certainty"
UNSEEN = "every prompt was always answered alike: declare the range, for answers not seen yet"
KNOWN_GAP = "every prompt was always answered alike: the gap of these prompts is known"
ENOUGH_ANSWERS = 10
"""A side: of fewer, Student's t is not relied on."""
LEAST_ALIKE = 4
"""A side, where all are equal: fewer are equal by chance too often to be called always the same."""
Answers = Mapping[Hashable, Sample]
Group = dict[Hashable, Vector]
Weighed = list[tuple[float, Vector]]


def fixed_prompts_difference(
    a: Answers, b: Answers, alpha: float, *, sets: Mapping[Hashable, Hashable] | None = None
) -> MeanDifference:
    """Return the difference of two groups with an interval from the spread of answers alone.

    The prompts are taken as fixed: another draw of answers to the same prompts is what the
    interval covers, and what the conclusion is about. Every prompt of a group weighs the same,
    however often it was answered; with sets, the gap is the mean over the sets that both groups
    have of the gap within each, so that a prompt nobody answered cannot pass for a gap. The
    variance is the sum over prompts of w_p^2 s_p^2 / n_p; the degrees of freedom are
    Satterthwaite's. A prompt answered once takes the pooled variance of its group.

    Parameters
    ----------
    a, b
        The answers of each group by prompt; missing ones are left out.
    alpha
        1 minus the coverage, in (0, 1).
    sets
        The counterfactual set of each prompt; prompts it does not name are left out. Where no set
        has prompts of both groups, all prompts count.

    Returns
    -------
    Difference
        Without interval and p-value where a group has no prompt with two answers, or no spread.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 5.3 (stratified means); Satterthwaite (1946).
    """
    sets = sets if sets and _share_sets(a, b, sets) else None
    groups = [_answered(group) for group in (a, b)]
    if sets is not None:
        groups = _in_shared_sets(groups, sets)
    if not all(groups):
        return MeanDifference(undefined("a group has no values", method=METHOD), None)
    weighed = [_weighed(group, sets) for group in groups]
    means = [sum(w * float(values.mean()) for w, values in group) for group in weighed]
    gap = means[0] - means[1]
    if any(max(len(values) for _, values in group) < 2 for group in weighed):
        return MeanDifference(undefined(NO_REPEATS, value=gap, method=METHOD), None)
    terms = [term for group in weighed for term in _terms(group)]
    variance = sum(term for term, _ in terms)
    if variance <= 0:
        return MeanDifference(undefined(NO_SPREAD, value=gap, method=METHOD), None)
    dof = _satterthwaite(variance, terms)
    error = sqrt(variance)
    reach = float(stats.t.ppf(1 - alpha / 2, dof)) * error
    p_value = float(2 * stats.t.sf(abs(gap) / error, dof))
    return MeanDifference(Estimate(gap, gap - reach, gap + reach, METHOD), p_value)


def fixed_prompts_gap(
    a: Answers,
    b: Answers,
    *,
    sets: Mapping[Hashable, Hashable] | None,
    bounds: Bounds | None,
    alpha: float,
    tolerance: float,
    family: int = 1,
    guessed: bool = False,
) -> GapResult:
    """Return the gap of `fixed_prompts_difference` with tests that hold for flat groups too.

    Where no answer ever varied, and so many differ that this is no chance, the gap is known,
    without an interval (`always_alike_p`); without a declared range nothing is. Where answers vary
    within most prompts, the curve is Student's. Where few do, or there are few answers, each group
    is taken as its mean with every answer's deviation from its prompt, so weighed that its variance
    is that of the group's mean: the curve is then that of bounded means, which allows for answers
    that were not seen.

    Parameters
    ----------
    a, b, sets
        As of `fixed_prompts_difference`.
    bounds, alpha, tolerance, family
        As of `compare_samples`.
    guessed
        Whether the bounds were read from the answers themselves: no gap is known by such a range.
    """
    sets = sets if sets and _share_sets(a, b, sets) else None
    groups = [_answered(group) for group in (a, b)]
    groups = groups if sets is None else _in_shared_sets(groups, sets)
    found = fixed_prompts_difference(a, b, alpha, sets=sets)
    value = found.estimate.value
    if value is None or any(max(map(len, group.values())) < 2 for group in groups):
        return GapResult(found.estimate, found.estimate, None, None)
    if bounds is None and is_flat(np.concatenate([v for g in groups for v in g.values()])):
        nothing = undefined(NO_RANGE, value=0.0, method=METHOD)
        return GapResult(nothing, nothing, 1.0, 1.0 if tolerance else None)
    weighed = [_weighed(group, sets) for group in groups]
    curve = _student_curve(value, weighed)
    if curve is None or not all(map(_mostly_varied, groups)):
        curve = gap_curve(*_bounded_curves(weighed, bounds))
    p_values = p_values_of(curve_tails(curve), tolerance)
    if all(map(_always_alike, groups)):
        declared = None if guessed else bounds
        if declared is None and _beyond(value, tolerance, weighed):
            nothing = undefined(UNSEEN, value=value, method=METHOD)
            return GapResult(nothing, nothing, 1.0, 1.0 if tolerance else None)
        p_known = always_alike_p(value, tolerance, _steadiness(weighed, declared))
        if p_known * family <= alpha:
            known = undefined(KNOWN_GAP, value=value, method=METHOD)
            return GapResult(known, known, p_known, 1.0 if tolerance else None, known=True)
        p_values = max(p_values[0], p_known), p_values[1]
    result = gap_result(
        curve, value, METHOD, p_values, alpha=alpha, tolerance=tolerance, family=family
    )
    steady = any(all(_variance(values) == 0 for values in group.values()) for group in groups)
    return without_range(result) if bounds is None and steady else result


def _beyond(gap: float, tolerance: float, weighed: Sequence[Weighed]) -> bool:
    """Return whether a gap is larger than the tolerance by more than rounding."""
    largest = max(float(np.abs(values).max()) for group in weighed for _, values in group)
    return abs(gap) > tolerance + ROUNDING * largest


def _steadiness(weighed: Sequence[Weighed], declared: Bounds | None) -> float:
    """Return the fewest answers for a prompt's weight, by the width of the declared range."""
    if declared is None or declared[0] == declared[1]:
        return 0.0
    fewest = min(len(values) / weight for group in weighed for weight, values in group)
    return fewest / (declared[1] - declared[0])


def _always_alike(group: Group) -> bool:
    return sum(map(len, group.values())) >= LEAST_ALIKE and all(
        len(values) > 1 and _variance(values) == 0 for values in group.values()
    )


def _mostly_varied(group: Group) -> bool:
    varied = [_variance(values) > 0 for values in group.values() if len(values) > 1]
    answers = sum(map(len, group.values()))
    return answers >= ENOUGH_ANSWERS and sum(varied) * 2 > len(varied)


def _student_curve(gap: float, weighed: Sequence[Weighed]) -> Curve | None:
    terms = [term for group in weighed for term in _terms(group)]
    variance = sum(term for term, _ in terms)
    return student_curve(gap, sqrt(variance), _satterthwaite(variance, terms)) if variance else None


def _bounded_curves(weighed: Sequence[Weighed], bounds: Bounds | None) -> list[Curve]:
    every = np.concatenate([values for group in weighed for _, values in group])
    low, high = bounds or (float(every.min()), float(every.max()))
    stand_ins = [_stand_in(group) for group in weighed]
    return [
        bounded_mean_curve(each, min(low, float(each.min())), max(high, float(each.max())))
        for each in stand_ins
    ]


def _stand_in(group: Weighed) -> Vector:
    """Return as many values as answers, with the group's mean and the variance of that mean."""
    n = sum(len(values) for _, values in group)
    mean = sum(weight * float(values.mean()) for weight, values in group)
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
    return np.sort(mean + scale * np.concatenate(parts))


def fixed_prompts_mean(answers: Answers, alpha: float, bounds: Bounds | None = None) -> Estimate:
    """Return the mean over prompts, with an interval from the spread of answers to them alone.

    Its curve is that of one side of `fixed_prompts_gap`: Student's where answers vary within most
    prompts, else that of bounded means, where the range is known. Prompts that were always answered
    alike have an interval only by such a range. Missing answers are left out.
    """
    group = _answered(answers)
    if not group:
        return undefined("a group has no values", method=METHOD)
    weighed = _weighed(group, None)
    mean = sum(weight * float(values.mean()) for weight, values in weighed)
    if max(map(len, group.values())) < 2:
        return undefined(NO_REPEATS, value=mean, method=METHOD)
    curve = _student_curve(mean, [weighed])
    if bounds is not None and not (curve is not None and _mostly_varied(group)):
        curve = np.clip(_bounded_curves([weighed], bounds)[0], *bounds)
    if curve is None:
        return undefined(UNSEEN, value=mean, method=METHOD)
    low, high = confidence_limits(curve, alpha)
    if bounds is not None:
        low, high = max(low, bounds[0]), min(high, bounds[1])
    return Estimate(mean, min(low, mean), max(high, mean), METHOD)


def _answered(answers: Answers) -> Group:
    found = ((prompt, present(values)[0]) for prompt, values in answers.items())
    return {prompt: values for prompt, values in found if len(values)}


def _share_sets(a: Answers, b: Answers, sets: Mapping[Hashable, Hashable]) -> bool:
    """Return whether any set has prompts of both groups, answered or not.

    Sets that lie within one group are families: of prompts that are fixed they say nothing.
    """
    of_a, of_b = ({sets.get(prompt) for prompt in group} - {None} for group in (a, b))
    return bool(of_a & of_b)


def _in_shared_sets(groups: list[Group], sets: Mapping[Hashable, Hashable]) -> list[Group]:
    a, b = ({sets.get(prompt) for prompt in group} - {None} for group in groups)
    return [{p: v for p, v in group.items() if sets.get(p) in a & b} for group in groups]


def _weighed(group: Group, sets: Mapping[Hashable, Hashable] | None) -> Weighed:
    """Return each prompt's weight: alike in its set, and the sets alike."""
    sizes = Counter(sets[prompt] if sets else None for prompt in group)
    return [
        (1 / len(sizes) / sizes[sets[prompt] if sets else None], values)
        for prompt, values in group.items()
    ]


def _terms(group: Weighed) -> list[tuple[float, int]]:
    """Return each prompt's part of the variance of the mean, and its degrees of freedom."""
    free = sum(len(values) - 1 for _, values in group)
    pooled = sum(_variance(values) * (len(values) - 1) for _, values in group) / free
    return [
        (w**2 * (_variance(values) if len(values) > 1 else pooled) / len(values), len(values) - 1)
        for w, values in group
    ]


def _satterthwaite(variance: float, terms: Sequence[tuple[float, int]]) -> float:
    return variance**2 / sum(term**2 / free for term, free in terms if free)


def _variance(values: Vector) -> float:
    """Return the variance; a spread that arithmetic has made is none."""
    flat = np.ptp(values) <= ROUNDING * np.abs(values).max()
    return 0.0 if len(values) < 2 or flat else float(values.var(ddof=1))
