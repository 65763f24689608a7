"""Changes of a gap, or of a mean, between two runs."""

from collections.abc import Hashable
from dataclasses import dataclass, replace
from statistics import fmean

from biaswatch.shared.lookup import grouped
from biaswatch.shared.stats.comparisons.compared_samples import Bounds, ComparedSamples, SampleParts
from biaswatch.shared.stats.comparisons.confidence_curve import gap_curve
from biaswatch.shared.stats.comparisons.fixed_prompts import (
    PromptAnswers,
    PromptSets,
    fixed_prompts_gap,
)
from biaswatch.shared.stats.comparisons.gap_test import (
    NO_SPREAD,
    ONE_UNIT,
    GapResult,
    gap_result,
    mean_gap,
    sample_curve,
    untested_gap,
)
from biaswatch.shared.stats.comparisons.tolerance_tests import curve_tails, p_values_of
from biaswatch.shared.stats.estimate import Estimate
from biaswatch.shared.stats.samples import Sample, is_flat, present

METHOD = "two gaps, joined by their curves"


@dataclass(frozen=True)
class TwoRunsAnswers:
    """The answers of two runs to the prompts of one group, by prompt."""

    before: PromptAnswers
    after: PromptAnswers

    @property
    def answered(self) -> set[Hashable]:
        """The prompts with a value in both runs."""
        shared = self.before.keys() & self.after.keys()
        return {p for p in shared if all(len(present(r[p])[0]) for r in (self.before, self.after))}


@dataclass(frozen=True)
class ChangeResult:
    """A change with its tests, and the values before and after."""

    result: GapResult
    before: float | None
    after: float | None


def fixed_prompts_level_change(
    answers: TwoRunsAnswers,
    *,
    bounds: Bounds | None,
    alpha: float,
    tolerance: float,
    family: int,
    guessed: bool = False,
) -> ChangeResult:
    """Return the change of the mean over the prompts that both runs answered.

    Every prompt weighs the same in both runs.

    Parameters
    ----------
    answers
        The answers of both runs.
    bounds, alpha, tolerance, family, guessed
        As in `fixed_prompts_gap`.
    """
    own: PromptSets = {prompt: prompt for prompt in answers.answered}
    result = fixed_prompts_gap(
        answers.after, answers.before, sets=own, bounds=bounds, alpha=alpha, tolerance=tolerance,
        family=family, guessed=guessed,
    )  # fmt: skip
    before, after = (_mean(run, own) for run in (answers.before, answers.after))
    return ChangeResult(result, before, after)


def fixed_prompts_gap_change(
    a: TwoRunsAnswers,
    b: TwoRunsAnswers,
    *,
    sets: PromptSets | None,
    bounds: Bounds | None,
    alpha: float,
    tolerance: float,
    family: int = 1,
    guessed: bool = False,
) -> ChangeResult:
    """Return the gap of a and b after, less their gap before, on prompts that both runs answered.

    The change is twice the gap of two halves: a after with b before, against a before with b
    after. So `fixed_prompts_gap` tests it, at half of the tolerance. With sets, those count that
    both groups have answered prompts of; each weighs the same. Prompts of a and of b differ.

    Parameters
    ----------
    a, b
        The answers of each group in both runs.
    sets
        The counterfactual set of each prompt; prompts it does not name are left out.
    bounds, alpha, tolerance, family, guessed
        As in `fixed_prompts_gap`.
    """
    of_a, of_b = _in_shared_sets(a, b, sets)
    rising: dict[Hashable, Sample] = {}
    falling: dict[Hashable, Sample] = {}
    halves: dict[Hashable, Hashable] = {}
    for side, prompts, up, down in (("a", of_a, a.after, a.before), ("b", of_b, b.before, b.after)):
        for prompt, prompt_set in prompts.items():
            rising[side, prompt], falling[side, prompt] = up[prompt], down[prompt]
            halves[side, prompt] = (side, prompt_set)
    half = fixed_prompts_gap(
        rising, falling, sets=halves, bounds=bounds, alpha=alpha, tolerance=tolerance / 2,
        family=family, guessed=guessed,
    )  # fmt: skip
    result = replace(
        half, marginal=_doubled(half.marginal), simultaneous=_doubled(half.simultaneous)
    )
    before, after = (
        None if (x := _mean(p, of_a)) is None or (y := _mean(q, of_b)) is None else x - y
        for p, q in ((a.before, b.before), (a.after, b.after))
    )
    return ChangeResult(result, before, after)


def _in_shared_sets(
    a: TwoRunsAnswers, b: TwoRunsAnswers, sets: PromptSets | None
) -> tuple[PromptSets, PromptSets]:
    """Return the set of each prompt used, for a and for b; without sets, all are in one."""
    sets_a, sets_b = ({sets.get(p) if sets else 0 for p in group.before} for group in (a, b))
    paired = sets if (sets_a & sets_b) - {None} else None  # else sets are families
    of_a, of_b = ({p: paired.get(p) if paired else 0 for p in group.answered} for group in (a, b))
    both = (set(of_a.values()) & set(of_b.values())) - {None}
    kept_a, kept_b = ({p: s for p, s in of.items() if s in both} for of in (of_a, of_b))
    return kept_a, kept_b


def _mean(answers: PromptAnswers, sets: PromptSets) -> float | None:
    """Return the mean over sets of the mean over their prompts; None without a prompt."""
    means = grouped(
        (prompt_set, float(present(answers[prompt])[0].mean()))
        for prompt, prompt_set in sets.items()
    )
    return fmean(map(fmean, means.values())) if means else None


def _doubled(half: Estimate) -> Estimate:
    value, low, high = (None if v is None else 2 * v for v in (half.value, half.low, half.high))
    return replace(half, value=value, low=low, high=high)


def change_samples(samples: ComparedSamples) -> ComparedSamples:
    """Return the changes of twins as samples of an unknown range, where they vary.

    A change of a gap could be four times the range of answers, and no comparison of runs comes
    near that: the test is Student's t with exact sign flips of the differences of differences.
    """
    differences = samples.differences if samples.pairs else samples.only_a
    if samples.weight < 1 or not len(differences) or is_flat(differences):
        return samples
    return replace(samples, bounds=None)


def gap_change(
    after: ComparedSamples,
    before: ComparedSamples,
    *,
    alpha: float,
    tolerance: float,
    family: int = 1,
) -> GapResult:
    """Return the gap after less the gap before, with its tests.

    Each gap has its own confidence curve; both are joined like the curves of two means. Prompts
    that both runs asked correlate the errors of the two gaps, which makes the interval too wide,
    not too narrow.

    Parameters
    ----------
    after, before
        The units of both groups in each run.
    alpha, tolerance, family
        As in `compare_samples`.
    """
    values = [mean_gap(samples) for samples in (after, before)]
    value = None if values[0] is None or values[1] is None else values[0] - values[1]
    if value is None or not (after.testable and before.testable):
        return untested_gap(ONE_UNIT, value, METHOD)
    regular = all(SampleParts.of(samples).all_regular for samples in (after, before))
    if after.bounds is None and not regular:
        p_values = (1.0, 1.0 if tolerance else None)
        return untested_gap(NO_SPREAD, value, METHOD, p_values=p_values)
    curve = gap_curve(sample_curve(after), sample_curve(before))
    p_values = p_values_of(curve_tails(curve), tolerance)
    return gap_result(
        curve, value, METHOD, p_values, alpha=alpha, tolerance=tolerance, family=family
    )
