"""Simulated studies of assumed answers, judged by the tests of their headline question."""

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, replace
from math import sqrt

import numpy as np
from scipy import special

from biaswatch.shared.stats.arrays import Indices
from biaswatch.shared.stats.comparisons.assumed_answers import Answers, AssumedAnswers, Scores
from biaswatch.shared.stats.comparisons.compared_samples import (
    MIN_FAMILIES,
    MIN_UNITS,
    ComparedSamples,
)
from biaswatch.shared.stats.comparisons.fixed_prompts import fixed_prompts_gap
from biaswatch.shared.stats.comparisons.gap_test import compare_samples
from biaswatch.shared.stats.comparisons.random_factors import MIN_LEVELS, random_factor_gap
from biaswatch.shared.stats.comparisons.sign_flips import sign_flip_p
from biaswatch.shared.stats.comparisons.tolerance_tests import disparity_p
from biaswatch.shared.stats.estimate import Question, planned_headline
from biaswatch.shared.stats.samples import Vector

Rng = np.random.Generator
Tested = tuple[float | None, float | None]
"""A gap, and the p-value of the headline question before correction."""


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
    names: tuple[int, int] | None = None
    """Names of a and of b in the shared sets, 0 where they are not random; None without any
    random factor."""
    texts: int | None = None
    """Texts of the shared sets, where several sets are variants of one text."""

    @property
    def min_single(self) -> int:
        """Units without a twin a side that are needed."""
        most = max(self.prompts_a, self.prompts_b, self.family_a, self.family_b)
        return MIN_UNITS if most == 1 else MIN_FAMILIES

    @property
    def size(self) -> int:
        """Number of sets, or else of units of the smaller side."""
        return self.pairs or min(self.only_a, self.only_b)

    def headline(self, tolerance: float) -> Question:
        """Return the question that a study of this shape is planned to answer."""
        levels = [self.texts or self.pairs, *filter(None, self.names or ())]
        has_factors = self.names is not None and min(levels) >= MIN_LEVELS
        return planned_headline(
            tolerance=tolerance, has_random_factors=has_factors, has_twins=self.pairs > 0
        )

    def scaled(self, size: int) -> "StudyShape":
        """Return the same structure with another number of sets."""
        pairs, a, b = (
            round(count * size / self.size) for count in (self.pairs, self.only_a, self.only_b)
        )
        texts = self.texts and max(1, round(self.texts * size / self.size))
        return replace(self, pairs=pairs, only_a=a, only_b=b, texts=texts)


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


def judged_sample(
    shape: StudyShape, repeats: int, answers: AssumedAnswers, test: PlannedTest, rng: Rng
) -> Tested:
    """Judge means of sets, as in runs about the population; units without a twin are single."""
    factors = _drawn_factors(shape, rng)
    drawn = _twins(shape, repeats, answers, rng, factors=factors)
    pairs = [_unit_means(side) for side in drawn]
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
    headline = shape.headline(test.tolerance)
    beyond = _beyond_factors(drawn, factors, test.tolerance) if factors else (None, None)
    if factors and headline is not Question.SAME_TREATMENT:
        return beyond
    if headline is Question.SAME_TREATMENT:
        same = sign_flip_p(samples.differences) if samples.pairs else None
        value = float(samples.differences.mean()) if samples.pairs else None
        # About a few names, the gap that takes names as clusters has to be a disparity, too.
        return value, same if not factors or same is None else max(same, beyond[1] or 1.0)
    result = compare_samples(samples, alpha=test.alpha, tolerance=test.tolerance)
    return result.marginal.value, result.p_disparity


def _drawn_factors(shape: StudyShape, rng: Rng) -> "_DrawnFactors | None":
    """Return the texts of sets, and the names of prompts, each equally often."""
    if shape.names is None or not shape.pairs:
        return None
    sizes = ((shape.pairs, shape.prompts_a), (shape.pairs, shape.prompts_b))
    names = [
        rng.permutation(np.arange(size[0] * size[1]) % count).reshape(size) if count else None
        for size, count in zip(sizes, shape.names, strict=True)
    ]
    return _DrawnFactors(np.arange(shape.pairs) % (shape.texts or shape.pairs), names[0], names[1])


@dataclass(frozen=True)
class _DrawnFactors:
    """Random factors of the prompts of shared sets."""

    text: Indices
    """[sets]."""
    names_a: Indices | None
    """[sets, prompts]: None where names are not random."""
    names_b: Indices | None


def _beyond_factors(
    drawn: tuple[Answers, Answers], factors: _DrawnFactors, tolerance: float
) -> Tested:
    """Return the gap tested with names and texts as clusters."""
    means = [_means(side) for side in drawn]
    values = np.concatenate([side.ravel() for side in means])
    of_a = np.repeat([True, False], [side.size for side in means])
    codes = {"text": np.concatenate([np.repeat(factors.text, side.shape[1]) for side in drawn])}
    if factors.names_a is not None and factors.names_b is not None:
        other = factors.names_a.max() + 1 + factors.names_b
        codes["name"] = np.concatenate([factors.names_a.ravel(), other.ravel()])
    present = np.isfinite(values)
    gap = random_factor_gap(
        values[present], of_a[present], {name: code[present] for name, code in codes.items()}
    )
    return gap.gap, None if gap.p_value is None else disparity_p(gap.tails, tolerance)


def _family_scores(count: int, prompts: int, answers: AssumedAnswers, rng: Rng) -> Scores:
    """Return normal scores of the prompts of families, correlated like twins."""
    if prompts == 1:
        return rng.standard_normal((count, 1))
    rho = answers.set_correlation
    own = rng.standard_normal((count, prompts))
    return np.asarray(sqrt(rho) * rng.standard_normal((count, 1)) + sqrt(1 - rho) * own)


def judged_fixed(
    shape: StudyShape, repeats: int, answers: AssumedAnswers, test: PlannedTest, rng: Rng
) -> Tested:
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
    result = fixed_prompts_gap(
        *sides, sets=sets or None, bounds=answers.bounds, alpha=test.alpha,
        tolerance=test.tolerance, family=test.family, guessed=test.guessed,
    )  # fmt: skip
    return result.marginal.value, result.p_disparity


def _even_scores(n: int) -> Vector:
    """Return n scores spread evenly over the normal distribution."""
    return np.asarray(special.ndtri((np.arange(n) + 0.5) / n))


def _twins(
    shape: StudyShape,
    repeats: int,
    answers: AssumedAnswers,
    rng: Rng,
    *,
    same_scores: bool = False,
    factors: _DrawnFactors | None = None,
) -> tuple[Answers, Answers]:
    """Return the answers of both groups in the sets that they share.

    Sets that are variants of one text have the same scores, but for the effects of names.
    """
    text = factors.text if factors else np.arange(shape.pairs)
    texts, rho = int(text.max(initial=-1)) + 1, answers.set_correlation
    shared = rng.standard_normal((texts, 1))

    def drawn(mean: float, prompts: int, names: Indices | None) -> Answers:
        own = np.zeros((texts, prompts)) if same_scores else rng.standard_normal((texts, prompts))
        own = own[text]
        if names is not None:
            effects = rng.standard_normal(int(names.max()) + 1)[names]
            own = sqrt(answers.name_share) * effects + sqrt(1 - answers.name_share) * own
        scores: Scores = np.asarray(sqrt(rho) * shared[text] + sqrt(1 - rho) * own)
        return answers.drawn(mean, scores, repeats, rng)

    return (
        drawn(answers.mean_a, shape.prompts_a, factors.names_a if factors else None),
        drawn(answers.mean_b, shape.prompts_b, factors.names_b if factors else None),
    )


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
