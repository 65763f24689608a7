"""Means and their differences on a bank of prompts that is itself the subject, not a sample."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from math import sqrt

import numpy as np
from scipy import stats

from shared.stats.comparisons.exact import ENOUGH_UNITS, FLAT, decided, label_p, larger
from shared.stats.comparisons.means_and_rates import ROUNDING, MeanDifference
from shared.stats.comparisons.relabelling import Stratum
from shared.stats.estimate import IntervalEstimate, undefined
from shared.stats.samples import Sample, Vector, present

METHOD = "t over answers within prompts"
NO_REPEATS = "no prompt of a group was answered twice: its answers have no spread"
NO_SPREAD = "all answers to a prompt are equal: a t interval would claim certainty"
Answers = Mapping[Hashable, Sample]


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
        The counterfactual set of each prompt; prompts it does not name are left out.

    Returns
    -------
    Difference
        Without interval and p-value where a group has no prompt with two answers, or no spread.
        Where every prompt was answered at least twice and always alike, the gap is known.

    References
    ----------
    Cochran (1977), Sampling Techniques, section 5.3 (stratified means); Satterthwaite (1946).
    """
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
        every = [values for group in groups for values in group.values()]
        largest = max(float(np.abs(values).max()) for values in every)
        known = min(map(len, every)) > 1 and abs(gap) > ROUNDING * largest
        return MeanDifference(undefined(NO_SPREAD, value=gap, method=METHOD), None, known=known)
    dof = _satterthwaite(variance, terms)
    error = sqrt(variance)
    reach = float(stats.t.ppf(1 - alpha / 2, dof)) * error
    p_value = float(2 * stats.t.sf(abs(gap) / error, dof))
    return MeanDifference(IntervalEstimate(gap, gap - reach, gap + reach, METHOD), p_value)


def exact_fixed_prompts_difference(
    a: Answers,
    b: Answers,
    alpha: float,
    *,
    sets: Mapping[Hashable, Hashable] | None = None,
    tolerance: float,
    rng: np.random.Generator,
) -> MeanDifference:
    """Return `within_bank`'s difference, decided by a permutation test where t is not enough.

    That is where a group has fewer than ten answers, or always the same one to each prompt. Labels
    of answers are then exchanged within sets, within prompts of both groups, or among all;
    the larger p-value of both tests counts. A group without spread leaves no interval.
    """
    found = fixed_prompts_difference(a, b, alpha, sets=sets)
    groups = [_answered(group) for group in (a, b)]
    groups = groups if sets is None else _in_shared_sets(groups, sets)
    flat = any(all(_variance(values) == 0 for values in group.values()) for group in groups)
    few = any(sum(map(len, group.values())) < ENOUGH_UNITS for group in groups)
    if found.p_value is None or not (flat or few):
        return found

    of_a, of_b = groups

    def test(gap: float) -> float | None:
        shifted = {prompt: values - gap for prompt, values in of_a.items()}
        by_t = fixed_prompts_difference(shifted, of_b, alpha, sets=sets).p_value
        return larger(by_t, label_p(_strata(shifted, of_b, sets), rng))

    return decided(found, test, tolerance, FLAT if flat else None)


def fixed_prompts_mean(answers: Answers, alpha: float) -> IntervalEstimate:
    """Return the mean over prompts, with an interval from the spread of answers to them alone.

    The variance and its degrees of freedom are `within_bank`'s, for one group; missing answers are
    left out.
    """
    group = _answered(answers)
    if not group:
        return undefined("a group has no values", method=METHOD)
    weighed = _weighed(group, None)
    mean = sum(weight * float(values.mean()) for weight, values in weighed)
    if max(map(len, group.values())) < 2:
        return undefined(NO_REPEATS, value=mean, method=METHOD)
    terms = _terms(weighed)
    variance = sum(term for term, _ in terms)
    if variance <= 0:
        return undefined(NO_SPREAD, value=mean, method=METHOD)
    reach = float(stats.t.ppf(1 - alpha / 2, _satterthwaite(variance, terms))) * sqrt(variance)
    return IntervalEstimate(mean, mean - reach, mean + reach, METHOD)


Group = dict[Hashable, Vector]
Weighed = list[tuple[float, Vector]]


def _answered(answers: Answers) -> Group:
    found = ((prompt, present(values)[0]) for prompt, values in answers.items())
    return {prompt: values for prompt, values in found if len(values)}


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


def _strata(a: Group, b: Group, sets: Mapping[Hashable, Hashable] | None) -> list[Stratum]:
    """Return the answers whose labels may be exchanged."""
    sides: tuple[dict[Hashable, list[Vector]], ...] = (defaultdict(list), defaultdict(list))
    for side, group in zip(sides, (a, b), strict=True):
        for prompt, values in group.items():
            shared = prompt if prompt in a and prompt in b else None
            side[sets[prompt] if sets else shared].append(values)
    return [
        Stratum(*(np.sort(np.concatenate(side[key])) for side in sides))
        for key in sides[0].keys() & sides[1].keys()
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
