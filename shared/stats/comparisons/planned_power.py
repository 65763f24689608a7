"""Power of a study of given size, by simulation of the tests that judge it."""

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from math import ceil, sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.comparisons.assumed_answers import Answers, AssumedAnswers, Scores
from biaswatch.shared.stats.comparisons.compared_samples import (
    MIN_FAMILIES,
    MIN_UNITS,
    ComparedSamples,
)
from biaswatch.shared.stats.comparisons.fixed_prompts import fixed_prompts_gap
from biaswatch.shared.stats.comparisons.gap_test import GapResult, compare_samples
from biaswatch.shared.stats.samples import Vector

RUNS = 400
"""The standard error of a power of .8 is then .02."""
POWER = 0.8
MAX_SETS = 4096
"""Largest number of sets that is planned."""
SIZE_RTOL = 0.04
"""Relative tolerance of the smallest sufficient number."""
Rng = np.random.Generator


@dataclass(frozen=True)
class StudyShape:
    """Numbers of units of two groups, and of the prompts of a set."""

    pairs: int
    """Sets with prompts of both groups."""
    only_a: int = 0
    """Units of a without a twin."""
    only_b: int = 0
    prompts_a: int = 1
    """Prompts of a in each shared set."""
    prompts_b: int = 1
    family_a: int = 1
    """Prompts in each unit without a twin: more than one make it a family."""
    family_b: int = 1

    @property
    def min_single(self) -> int:
        """Units without a twin a side that are needed."""
        most = max(self.prompts_a, self.prompts_b, self.family_a, self.family_b)
        return MIN_UNITS if most == 1 else MIN_FAMILIES

    @property
    def size(self) -> int:
        """Number of sets, or else of units of the smaller side."""
        return self.pairs or min(self.only_a, self.only_b)

    def scaled(self, size: int) -> "StudyShape":
        """Return the same structure with another number of sets."""
        pairs, a, b = (
            round(count * size / self.size) for count in (self.pairs, self.only_a, self.only_b)
        )
        return replace(self, pairs=pairs, only_a=a, only_b=b)


@dataclass(frozen=True)
class PlannedTest:
    """Parameters of the test of the gap."""

    alpha: float = 0.05
    tolerance: float = 0.0
    family: int = 1
    """Comparisons that are declared together; Bonferroni corrects for them."""
    fixed_prompts: bool = False
    """True where the conclusion is about these prompts alone, so that answers are the units."""
    guessed: bool = False
    """True where the range of answers is not declared, so that no gap is known by it."""


@dataclass(frozen=True)
class SufficientSize:
    """The smallest sufficient number, and its power."""

    number: int
    power: float


def simulated_power(
    shape: StudyShape,
    repeats: int,
    answers: AssumedAnswers,
    test: PlannedTest,
    *,
    runs: int = RUNS,
    seed: int = 1,
) -> float:
    """Return the share of simulated studies that call the gap a disparity, in its direction.

    Each study is judged by `compare_samples`, or by `fixed_prompts_gap` where prompts are fixed, as
    a run is. The same seed gives the same answer. Standard error: sqrt(p (1 - p) / runs).

    Parameters
    ----------
    shape
        At least two pairs, or two units a side; fewer are never enough.
    repeats
        Answers to each prompt, at least 1.
    answers
        Their assumed distribution.
    test
        Parameters of the test.
    runs, seed
        Number of simulated studies, and the random seed.
    """
    rng = np.random.default_rng(seed)
    judged = _judged_fixed if test.fixed_prompts else _judged
    results = (judged(shape, repeats, answers, test, rng) for _ in range(runs))
    return sum(_detects(result, answers, test) for result in results) / runs


def smallest_enough(
    power_of: Callable[[int], float], *, power: float = POWER, furthest: int = MAX_SETS
) -> SufficientSize | None:
    """Return the smallest number of sets, or of repeats, with this power, to 4 % of it.

    By doubling, and then by bisection.

    Parameters
    ----------
    power_of
        Power by number, taken to be increasing.
    power
        In (0, 1).
    furthest
        Largest number to try.

    Returns
    -------
    SufficientSize or None
        None where `furthest` is not enough.
    """
    low, high = 1, 2
    while (reached := power_of(high)) < power:
        low, high = high, high * 2
        if high > furthest:
            return None
    while high - low > max(1.0, SIZE_RTOL * high):
        middle = ceil((low + high) / 2)
        if (middle_power := power_of(middle)) < power:
            low = middle
        else:
            high, reached = middle, middle_power
    return SufficientSize(high, reached)


def _detects(result: GapResult, answers: AssumedAnswers, test: PlannedTest) -> bool:
    value, p_value = result.marginal.value, result.p_disparity
    if value is None or p_value is None:
        return False
    same_sign = value * (answers.mean_a - answers.mean_b) > 0
    return same_sign and p_value * test.family <= test.alpha


def _judged(
    shape: StudyShape, repeats: int, answers: AssumedAnswers, test: PlannedTest, rng: Rng
) -> GapResult:
    """Judge means of sets, as in runs about the population; units without a twin are single."""
    pairs = [_unit_means(side) for side in _twins(shape, repeats, answers, rng)]
    both = np.isfinite(pairs[0]) & np.isfinite(pairs[1])
    single = [
        _unit_means(answers.drawn(mean, _family_scores(count, prompts, answers, rng), repeats, rng))
        for mean, count, prompts in (
            (answers.mean_a, shape.only_a, shape.family_a),
            (answers.mean_b, shape.only_b, shape.family_b),
        )
    ]
    only_a, only_b = (
        _present(np.concatenate([side[~both], rest]))
        for side, rest in zip(pairs, single, strict=True)
    )
    samples = ComparedSamples(
        pairs[0][both], pairs[1][both], only_a, only_b, answers.bounds, shape.min_single
    )
    return compare_samples(samples, alpha=test.alpha, tolerance=test.tolerance, family=test.family)


def _family_scores(count: int, prompts: int, answers: AssumedAnswers, rng: Rng) -> Scores:
    """Return normal scores of the prompts of families, correlated like twins."""
    if prompts == 1:
        return rng.standard_normal((count, 1))
    rho = answers.set_correlation
    own = rng.standard_normal((count, prompts))
    return np.asarray(sqrt(rho) * rng.standard_normal((count, 1)) + sqrt(1 - rho) * own)


def _judged_fixed(
    shape: StudyShape, repeats: int, answers: AssumedAnswers, test: PlannedTest, rng: Rng
) -> GapResult:
    """Judge answers to fixed prompts: twins differ by the gap alone."""
    fixed = replace(answers, set_correlation=1.0)
    sides: list[dict[Hashable, Vector]] = [{}, {}]
    sets: dict[Hashable, Hashable] = {}
    for side, drawn in enumerate(_twins(shape, repeats, fixed, rng, same_scores=True)):
        for prompt, place, of_prompt in _by_prompt(drawn):
            sides[side][side, place, prompt] = of_prompt
            sets[side, place, prompt] = place
    if not shape.pairs:
        prompts = shape.only_a * shape.family_a, shape.only_b * shape.family_b
        for side, (mean, n) in enumerate(
            zip((answers.mean_a, answers.mean_b), prompts, strict=True)
        ):
            # The same scores in both groups, so that these prompts have the assumed gap.
            scores = _even_scores(n)[:, None]
            drawn = fixed.drawn(mean, scores, repeats, rng)
            sides[side] = {place: of_prompt for _, place, of_prompt in _by_prompt(drawn)}
    return fixed_prompts_gap(
        *sides, sets=sets or None, bounds=answers.bounds, alpha=test.alpha,
        tolerance=test.tolerance, family=test.family, guessed=test.guessed,
    )  # fmt: skip


def _even_scores(n: int) -> Vector:
    """Return n scores spread evenly over the normal distribution."""
    return np.asarray(special.ndtri((np.arange(n) + 0.5) / n))


def _twins(
    shape: StudyShape, repeats: int, answers: AssumedAnswers, rng: Rng, *, same_scores: bool = False
) -> tuple[Answers, Answers]:
    """Return the answers of both groups in the sets that they share."""
    shared = rng.standard_normal((shape.pairs, 1))

    def drawn(mean: float, prompts: int) -> Answers:
        own = rng.standard_normal((shape.pairs, prompts)) if not same_scores else 0.0
        rho = answers.set_correlation
        scores: Scores = sqrt(rho) * shared + sqrt(1 - rho) * own + np.zeros((1, prompts))
        return answers.drawn(mean, scores, repeats, rng)

    return drawn(answers.mean_a, shape.prompts_a), drawn(answers.mean_b, shape.prompts_b)


def _by_prompt(drawn: Answers) -> Iterator[tuple[int, int, Vector]]:
    for place, of_set in enumerate(drawn):
        for prompt, of_prompt in enumerate(of_set):
            yield prompt, place, of_prompt


def _unit_means(drawn: Answers) -> Vector:
    """Return the mean of each set over its prompts, and of these over their answers."""
    return _means(_means(drawn))


def _means(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> Vector:
    """Return means of present values over the last axis; NaN without any."""
    present = np.isfinite(values)
    counts = present.sum(axis=-1)
    sums = np.where(present, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(sums, counts, out=np.full(counts.shape, np.nan), where=counts > 0))


def _present(values: Vector) -> Vector:
    return values[np.isfinite(values)]
