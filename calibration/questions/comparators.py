"""Tests of the literature, implemented apart from the product, for each of the three questions."""

from functools import cache
from itertools import product
from typing import Any

import numpy as np
from scipy import stats

from calibration.questions.designs import FactorAnswers, Floats, Pair, Rng, Twins

FLIPS = 999
MAX_ENUMERATED_SETS = 12
SLACK = 1e-9


def exact_flips(twins: Twins, rng: Rng) -> float:
    """Return the p-value of the mean difference over all, or random, sign flips."""
    return _flips(twins[:, 0, 0] - twins[:, 1, 0], rng)


def signed_ranks(twins: Twins, rng: Rng) -> float:
    """Return the p-value of Wilcoxon's signed ranks over sign flips, ties and zeros included."""
    differences = twins[:, 0, 0] - twins[:, 1, 0]
    moved = differences[differences != 0]
    return _flips(stats.rankdata(np.abs(moved)) * np.sign(moved), rng)


def signs(twins: Twins, _rng: Rng) -> float:
    """Return the p-value of the sign test."""
    differences = twins[:, 0, 0] - twins[:, 1, 0]
    up, down = int((differences > 0).sum()), int((differences < 0).sum())
    return float(stats.binomtest(up, up + down).pvalue) if up + down else 1.0


def _flips(differences: Floats, rng: Rng) -> float:
    sets = len(differences)
    if not differences.any():
        return 1.0
    if sets <= MAX_ENUMERATED_SETS:
        return float(
            (np.abs(_patterns(sets) @ differences) >= abs(differences.sum()) - SLACK).mean()
        )
    drawn = np.abs((rng.integers(0, 2, (FLIPS, sets), dtype=np.int8) * 2.0 - 1) @ differences)
    return float((1 + (drawn >= abs(differences.sum()) - SLACK).sum()) / (FLIPS + 1))


@cache
def _patterns(sets: int) -> Floats:
    """Return [2 ** sets, sets]: all patterns of signs."""
    return np.array(list(product([-1.0, 1.0], repeat=sets)))


def bonferroni_flips(twins: Twins, rng: Rng) -> float:
    """Return the smallest p-value of all pairs and features, times their number."""
    groups, features = twins.shape[1:]
    p_values = [
        _flips(twins[:, a, feature] - twins[:, b, feature], rng)
        for feature in range(features)
        for a in range(groups)
        for b in range(a)
    ]
    return min(1.0, len(p_values) * min(p_values))


def friedman(twins: Twins, _rng: Rng) -> float:
    """Return the p-value of Friedman's test of three and more groups, Bonferroni over features."""
    p_values = [
        float(stats.friedmanchisquare(*twins[:, :, feature].T).pvalue)
        for feature in range(twins.shape[2])
    ]
    return min(1.0, len(p_values) * min(p_values))


def quasi_f(answers: FactorAnswers, _rng: Rng) -> float:
    """Return the p-value of the quasi-F of names within groups, crossed with texts.

    F' = (MS group + MS residual) / (MS name + MS group by text), by Satterthwaite.
    """
    names = len(np.unique(answers.factors["name"])) // 2
    table = answers.values.reshape(-1, 2, names)  # [texts, groups, names]
    texts = len(table)
    by_group = table.mean(axis=(0, 2))
    by_name, by_text = table.mean(axis=0), table.mean(axis=2)
    within_text = by_text - by_text.mean(axis=1, keepdims=True) - by_group + table.mean()
    ms_group = texts * names * float(np.square(by_group - table.mean()).sum())
    ms_name = texts * float(np.square(by_name - by_group[:, None]).sum()) / (2 * (names - 1))
    ms_text = names * float(np.square(within_text).sum()) / (texts - 1)
    residual = table - by_name[None] - by_text[:, :, None] + by_group[None, :, None]
    df_residual = 2 * (names - 1) * (texts - 1)
    ms_residual = float(np.square(residual).sum()) / df_residual
    above, below = ms_group + ms_residual, ms_name + ms_text
    df_above = above**2 / (ms_group**2 + ms_residual**2 / df_residual)
    df_below = below**2 / (ms_name**2 / (2 * (names - 1)) + ms_text**2 / (texts - 1))
    return float(stats.f.sf(above / below, df_above, df_below))


def two_way_t(answers: FactorAnswers, _rng: Rng) -> float:
    """Return the p-value of the two-way t within texts, by dummies and matrix products."""
    name, text = answers.factors["name"], answers.factors["text"]
    dummies = (text[:, None] == np.unique(text)).astype(float)
    regressors = np.column_stack([answers.of_a, dummies])
    bread = np.linalg.pinv(regressors.T @ regressors)
    coefficients = bread @ regressors.T @ answers.values
    scores = regressors * (answers.values - regressors @ coefficients)[:, None]

    def variance(codes: np.ndarray[Any, Any]) -> float:
        members = (codes[:, None] == np.unique(codes)).astype(float)
        sums = members.T @ scores
        return float((bread @ sums.T @ sums @ bread)[0, 0])

    names, texts = len(np.unique(name)) // 2, len(dummies.T)
    by_name = variance(name) * names / (names - 1)
    by_text = variance(text) * texts / (texts - 1)
    both = variance(name * (texts + 1) + text)
    error = np.sqrt(max(by_name + by_text - both, by_name, by_text))
    df = min(names, texts) - 1
    return float(2 * stats.t.sf(abs(coefficients[0]) / error, df))


def cluster_differences_t(answers: FactorAnswers, _rng: Rng) -> float:
    """Return the p-value of Student's t on the differences of templates."""
    template, of_a = answers.factors["template"], answers.of_a
    differences = [
        answers.values[(template == code) & of_a].mean()
        - answers.values[(template == code) & ~of_a].mean()
        for code in np.unique(template)
    ]
    return float(stats.ttest_1samp(differences, 0).pvalue) if np.ptp(differences) else 1.0


def cluster_means_t(answers: FactorAnswers, _rng: Rng) -> float:
    """Return the p-value of Welch's t on the means of companies."""
    company, of_a = answers.factors["company"], answers.of_a
    sides = [
        [answers.values[company == code].mean() for code in np.unique(company[side])]
        for side in (of_a, ~of_a)
    ]
    return float(stats.ttest_ind(*sides, equal_var=False).pvalue)


def welch(pair: Pair, _rng: Rng) -> float:
    """Return the p-value of Welch's t."""
    p_value = float(stats.ttest_ind(*pair, equal_var=False).pvalue)
    return p_value if np.isfinite(p_value) else 1.0
