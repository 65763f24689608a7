"""Comparisons of two groups whose responses cluster in prompts."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import statsmodels.api as sm
from scipy import stats

from shared.stats.alpha import check_alpha
from shared.stats.estimate import Estimate, undefined
from shared.stats.means import ROUNDING, Difference, difference
from shared.stats.present import Sample, Vector, present

Answers = Mapping[Any, Sample]
"""The answers of one group by prompt (a hashable key), the same key in both groups for the same."""

LEAST_PROMPTS = 10
"""Of each group, for the sandwich and the bootstrap: below, both understate the error."""

FLAT = 1e-6
"""Relative to the observed error: a draw with less spread than this has none."""

RESAMPLES = 1999

_CHUNK = 1_000_000
"""Counts of drawn prompts held at once (8 MB, and a few times that in between)."""

_Sums = np.ndarray[tuple[int, int], np.dtype[np.float64]]


@dataclass(frozen=True)
class Comparison:
    """A difference of means with what it rests on."""

    difference: Difference
    prompts_a: int
    prompts_b: int
    prompts_shared: int
    answers_a: int
    answers_b: int
    missing_a: int
    missing_b: int


@dataclass(frozen=True)
class _Group:
    """The finite answers of a group, by prompts that have any."""

    values: dict[Hashable, Vector]
    missing: int

    @classmethod
    def of(cls, answers: Answers) -> Self:
        found = {prompt: present(sample) for prompt, sample in answers.items()}
        # sorted: sums of the same answers are then equal to the last digit
        values = {prompt: np.sort(v) for prompt, (v, _) in found.items() if len(v)}
        return cls(values, sum(missing for _, missing in found.values()))

    def means(self) -> dict[Hashable, float]:
        return {prompt: float(values.mean()) for prompt, values in self.values.items()}

    def answers(self) -> int:
        return sum(len(values) for values in self.values.values())


def between_prompts(a: Answers, b: Answers, alpha: float) -> Comparison:
    """Compare the means of prompt means, prompts independent between groups (Welch's t).

    Every prompt counts the same, however many answers it has. Prompts without any finite answer
    are left out. Where groups share prompts this ignores the pairing and is too careful:
    use `within_prompts`.

    References
    ----------
    Welch (1947), The generalization of Student's problem.
    """
    check_alpha(alpha)
    x, y = _Group.of(a), _Group.of(b)
    found = difference(sorted(x.means().values()), sorted(y.means().values()), alpha, paired=False)
    return _counted(x, y, found)


def within_prompts(a: Answers, b: Answers, alpha: float) -> Comparison:
    """Compare the means of the prompts (or sets) that both groups answered: paired t.

    Prompts that one group alone answered are left out of the difference; `prompts_shared` says how
    many pairs remain. Every prompt counts the same.

    References
    ----------
    Student (1908), The probable error of a mean.
    """
    check_alpha(alpha)
    x, y = _Group.of(a), _Group.of(b)
    in_a, in_b = x.means(), y.means()
    pairs = sorted((in_a[prompt], in_b[prompt]) for prompt in in_a.keys() & in_b.keys())
    found = difference([p for p, _ in pairs], [p for _, p in pairs], alpha, paired=True)
    if not pairs:
        reason = undefined("the groups share no prompt", method="paired t over sets")
        found = Difference(reason, None)
    return _counted(x, y, found)


def cluster_robust(a: Answers, b: Answers, alpha: float) -> Comparison:
    """Compare the means of answers by least squares with errors clustered in prompts.

    Every answer counts the same, so the difference is not that of `between_prompts` where prompts
    have unequal numbers of answers. A prompt of both groups is one cluster, which pairs it. The
    sandwich has statsmodels' small-sample factor G/(G-1) (N-1)/(N-2) and t has G - 1 degrees of
    freedom, G being the number of prompts.

    Without an interval where a group has fewer than 10 prompts, as the sandwich is then too small;
    it stays somewhat too small where the groups' numbers of prompts are very unequal.

    References
    ----------
    Liang and Zeger (1986); Cameron and Miller (2015), A practitioner's guide to cluster-robust
    inference.
    """
    method = "least squares, errors clustered in prompts"
    check_alpha(alpha)
    x, y = _Group.of(a), _Group.of(b)
    sums = _sums(x, y)
    if stopped := _undefined(sums, method):
        return _counted(x, y, stopped)
    values, in_a, prompts = _long(x, y)
    model = sm.OLS(values, np.column_stack([np.ones(len(values)), in_a]))
    fit = model.fit(cov_type="cluster", cov_kwds={"groups": prompts}, use_t=True)
    gap, error = float(fit.params[1]), float(fit.bse[1])
    if error <= ROUNDING * float(np.abs(values).max()):
        no_spread = undefined("the prompts do not differ", value=gap, method=method)
        return _counted(x, y, Difference(no_spread, None))
    dof = len(sums) - 1
    reach = float(stats.t.ppf(1 - alpha / 2, dof)) * error
    p_value = float(2 * stats.t.sf(abs(gap) / error, dof))
    return _counted(x, y, Difference(Estimate(gap, gap - reach, gap + reach, method), p_value))


def cluster_bootstrap(
    a: Answers,
    b: Answers,
    alpha: float,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Comparison:
    """Compare the means of answers by resampling whole prompts: the studentised bootstrap.

    Prompts of both groups together are drawn with replacement, each with all its answers in both;
    each draw's difference is divided by its own clustered standard error (bootstrap-t), and the
    p-value is twice the smaller share of draws beyond the observed t, (b + 1) / (m + 1). Draws in
    which a group has no prompt are left out. Without an interval where a group has fewer than 10
    prompts. The result depends on `rng`, not on the order or the names of prompts.

    References
    ----------
    Efron (1981); Cameron, Gelbach and Miller (2008), Bootstrap-based improvements for inference
    with clustered errors.
    """
    method = "studentised bootstrap of prompts"
    check_alpha(alpha)
    x, y = _Group.of(a), _Group.of(b)
    sums = _sums(x, y)
    if stopped := _undefined(sums, method):
        return _counted(x, y, stopped)
    sums = _in_order(sums)
    gaps, errors = _gaps_and_errors(sums, np.ones((1, len(sums))))
    gap, error = float(gaps[0]), float(errors[0])
    scale = float(np.abs(sums[:, [0, 2]]).max())
    if error <= ROUNDING * scale:
        no_spread = undefined("the prompts do not differ", value=gap, method=method)
        return _counted(x, y, Difference(no_spread, None))
    drawn, spread = _drawn(sums, rng, resamples)
    if (spread <= FLAT * error).mean() > alpha / 2:
        reason = "too few answers differ: many draws of prompts have no spread"
        return _counted(x, y, Difference(undefined(reason, value=gap, method=method), None))
    t = (drawn - gap) / np.maximum(spread, FLAT * error)
    low, high = (float(q) for q in np.quantile(t, [alpha / 2, 1 - alpha / 2]))
    beyond = min(int((t >= gap / error).sum()), int((t <= gap / error).sum()))
    p_value = min(1.0, 2 * (beyond + 1) / (len(t) + 1))
    estimate = Estimate(gap, gap - high * error, gap - low * error, method)
    return _counted(x, y, Difference(estimate, p_value))


def _counted(a: _Group, b: _Group, found: Difference) -> Comparison:
    shared = len(a.values.keys() & b.values.keys())
    prompts = (len(a.values), len(b.values), shared)
    return Comparison(found, *prompts, a.answers(), b.answers(), a.missing, b.missing)


def _sums(a: _Group, b: _Group) -> _Sums:
    """Give per prompt: the sum and number of a's answers, and of b's."""
    rows = [
        (*_sum_and_number(a.values.get(prompt)), *_sum_and_number(b.values.get(prompt)))
        for prompt in {**a.values, **b.values}
    ]
    return np.array(rows, dtype=np.float64).reshape(-1, 4)


def _sum_and_number(values: Vector | None) -> tuple[float, int]:
    return (0.0, 0) if values is None else (float(values.sum()), len(values))


def _in_order(sums: _Sums) -> _Sums:
    """Sort prompts by what survives renaming, shuffling and adding a constant.

    Random draws then fall on the same prompts however they were given.
    """
    a, n_a, b, n_b = sums.T
    keys = (b - n_b * b.sum() / n_b.sum(), a - n_a * a.sum() / n_a.sum(), n_b, n_a)
    return sums[np.lexsort(keys)]


def _undefined(sums: _Sums, method: str) -> Difference | None:
    prompts_a, prompts_b = (int((sums[:, column] > 0).sum()) for column in (1, 3))
    if not prompts_a or not prompts_b:
        return Difference(undefined("a group has no values", method=method), None)
    if min(prompts_a, prompts_b) >= LEAST_PROMPTS:
        return None
    totals = sums.sum(axis=0)
    gap = float(totals[0] / totals[1] - totals[2] / totals[3])
    reason = f"fewer than {LEAST_PROMPTS} prompts in a group: use the means of prompts"
    return Difference(undefined(reason, value=gap, method=method), None)


def _long(a: _Group, b: _Group) -> tuple[Vector, Vector, Vector]:
    """Give one row per answer: its value, whether a gave it, and the number of its prompt."""
    numbers = {prompt: float(number) for number, prompt in enumerate({**a.values, **b.values})}
    parts = [
        (values, side, numbers[prompt])
        for side, group in ((1.0, a), (0.0, b))
        for prompt, values in group.values.items()
    ]
    lengths = [len(values) for values, _, _ in parts]
    in_a, prompts = (np.repeat([part[column] for part in parts], lengths) for column in (1, 2))
    return np.concatenate([values for values, _, _ in parts]), in_a, prompts


def _drawn(sums: _Sums, rng: np.random.Generator, resamples: int) -> tuple[Vector, Vector]:
    """Draw prompts with replacement, leaving out draws in which a group has none."""
    prompts = len(sums)
    step = max(1, _CHUNK // prompts)
    parts = []
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        chosen = rng.integers(0, prompts, (size, prompts)) + prompts * np.arange(size)[:, None]
        counts = np.bincount(chosen.reshape(-1), minlength=size * prompts)
        times = counts.reshape(size, prompts).astype(np.float64)
        kept = times[(times @ sums[:, [1, 3]] > 0).all(axis=1)]
        parts.append(_gaps_and_errors(sums, kept))
    return np.concatenate([gaps for gaps, _ in parts]), np.concatenate([e for _, e in parts])


def _gaps_and_errors(sums: _Sums, times: _Sums) -> tuple[Vector, Vector]:
    """Give for each draw of prompts the difference of means and its clustered standard error.

    A prompt pulls the difference by a linear form of its four sums, so the squared pulls of a draw
    add up to a quadratic form of the draw's sums of products: two matrix products for all draws.
    """
    centre_a, centre_b = sums[:, 0].sum() / sums[:, 1].sum(), sums[:, 2].sum() / sums[:, 3].sum()
    centred = sums.copy()  # products of large means would lose the digits that differ
    centred[:, 0] -= centre_a * sums[:, 1]
    centred[:, 2] -= centre_b * sums[:, 3]
    totals = times @ centred
    mean_a, mean_b = totals[:, 0] / totals[:, 1], totals[:, 2] / totals[:, 3]
    prompts = len(sums)
    products = (times @ (centred[:, :, None] * centred[:, None]).reshape(prompts, 16)).reshape(
        -1, 4, 4
    )
    form = np.stack(
        [1 / totals[:, 1], -mean_a / totals[:, 1], -1 / totals[:, 3], mean_b / totals[:, 3]], axis=1
    )
    variance = np.einsum("di,dij,dj->d", form, products, form) * prompts / (prompts - 1)
    gaps = mean_a - mean_b + (centre_a - centre_b)
    return np.asarray(gaps), np.sqrt(np.maximum(variance, 0.0))
