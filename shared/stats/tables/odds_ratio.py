"""Odds ratios: of a 2x2 table, sample and conditional, and adjusted for covariates."""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp, inf, log, sqrt
from typing import Any

import numpy as np
from scipy import special

from biaswatch.shared.stats.arrays import Floats
from biaswatch.shared.stats.estimate import Estimate, check_alpha, undefined
from biaswatch.shared.stats.tables.contingency import ContingencyTable, no_margin

LOG_ODDS_TOL = 1e-14
"""Absolute tolerance of the logarithm of an odds ratio."""
MAX_CONDITIONAL_CASES = 20_000
"""Above it, the conditional odds ratio is the sample one to three digits if no cell is small."""
INFINITE = "infinite: the opposite cell is zero"


@dataclass(frozen=True)
class ConditionalDistribution:
    """Distribution of the count A given the margins."""

    counts: Floats
    """Possible counts less the observed A, so that no large numbers are subtracted."""
    log_weights: Floats
    """Log probability of each count at an odds ratio of 1, up to a constant."""
    start: float
    """A logarithm of an odds ratio near the data."""

    @property
    def least(self) -> bool:
        """Return whether A is as small as the margins allow."""
        return bool(self.counts[0] == 0)

    @property
    def most(self) -> bool:
        """Return whether A is as large as the margins allow."""
        return bool(self.counts[-1] == 0)

    def estimate(self) -> float:
        """Return the odds ratio at which A is the expectation: 0 or infinite at an end."""
        if self.least or self.most:
            return 0.0 if self.least else inf
        return self._solve(lambda chances: float(chances @ self.counts))

    def lower(self, tail: float) -> float:
        """Return the odds ratio at which A or more has this probability."""
        if self.least:
            return 0.0
        return self._solve(lambda chances: float(chances[self.counts >= 0].sum()) - tail)

    def upper(self, tail: float) -> float:
        """Return the odds ratio at which A or less has this probability."""
        if self.most:
            return inf
        return self._solve(lambda chances: tail - float(chances[self.counts <= 0].sum()))

    def _solve(self, rises: Callable[[Floats], float]) -> float:
        """Return the odds ratio where a function of the chances, rising with it, is zero."""
        from scipy.optimize import brentq  # slow to load

        def at(logarithm: float) -> float:
            weights = self.log_weights + logarithm * self.counts
            chances = np.exp(weights - weights.max())
            return rises(chances / chances.sum())

        low = high = self.start
        step = 1.0
        while at(low) > 0:
            low, step = low - step, 2 * step
        while at(high) < 0:
            high, step = high + step, 2 * step
        return exp(brentq(at, low, high, xtol=LOG_ODDS_TOL)) if low < high else exp(low)


def conditional(table: ContingencyTable) -> ConditionalDistribution:
    """Return the distribution of A given the margins, all above zero.

    scipy's `nchypergeom_fisher` is the same distribution; its odds ratio takes up to seven seconds
    for a table of 20,000 and loses the digits of an odds ratio near zero.

    References
    ----------
    Fisher (1935), The logic of inductive inference.
    """
    outcomes = table.a + table.c
    least, most = max(0, outcomes - table.n_2), min(table.n_1, outcomes)
    before = np.arange(least, most, dtype=float)
    # The weight of k + 1 over that of k: fewer digits are lost than with factorials.
    growth = (table.n_1 - before) * (outcomes - before)
    growth /= (before + 1) * (table.n_2 - outcomes + before + 1)
    log_weights = np.concatenate([[0.0], np.cumsum(np.log(growth))])
    a, b, c, d = (count + 0.5 for count in table.counts)
    return ConditionalDistribution(
        np.arange(least, most + 1, dtype=float) - table.a, log_weights, log(a * d / (b * c))
    )


def sample_odds_ratio(table: ContingencyTable, alpha: float) -> Estimate:
    """Return the sample odds ratio AD / BC with Woolf's interval.

    The interval is exp(log OR +- z sqrt(1/A + 1/B + 1/C + 1/D)). Each zero cell counts as 0.5, and
    `method` says so. Undefined where a margin is zero.

    Assumes independent cases. Asymptotic: where a cell is below 5, prefer the conditional one.

    References
    ----------
    Woolf (1955), On estimating the relation between blood group and disease.
    """
    method = "Woolf"
    if reason := no_margin(table):
        return undefined(reason, method=method)
    if 0 in table.counts:
        method = "Woolf, with 0.5 in the place of each zero cell"
    a, b, c, d = (count or 0.5 for count in table.counts)
    centre = log(a) + log(d) - log(b) - log(c)
    reach = -float(special.ndtri(alpha / 2)) * sqrt(1 / a + 1 / b + 1 / c + 1 / d)
    # Not exp(centre): the plain quotient is exact where exp and log would round.
    return Estimate((a * d) / (b * c), exp(centre - reach), exp(centre + reach), method)


def haldane_anscombe(table: ContingencyTable) -> float:
    """Return the odds ratio with 0.5 added to all four cells; finite for every table.

    References
    ----------
    Haldane (1956), The estimation and significance of the logarithm of a ratio of frequencies;
    Anscombe (1956), On estimating binomial response relations.
    """
    a, b, c, d = (count + 0.5 for count in table.counts)
    return (a * d) / (b * c)


def conditional_odds_ratio(table: ContingencyTable, alpha: float) -> Estimate:
    """Return the conditional maximum likelihood odds ratio with its exact interval.

    Given all margins, A follows Fisher's noncentral hypergeometric distribution; the estimate is
    the noncentrality whose mean is A, the interval inverts both one-sided exact tests at alpha/2
    and so covers at least 1 - alpha. It is 0 where A or D is zero, and infinite (None, with the
    lower bound) where B or C is. Undefined where a margin is zero and beyond
    `MAX_CONDITIONAL_CASES`.

    References
    ----------
    Fisher (1935), The logic of inductive inference; Cornfield (1956).
    """
    method = "conditional maximum likelihood, exact"
    if reason := no_margin(table):
        return undefined(reason, method=method)
    if table.n > MAX_CONDITIONAL_CASES:
        return undefined(f"not computed for more than {MAX_CONDITIONAL_CASES} cases", method=method)
    distribution = conditional(table)
    value, low, high = (
        distribution.estimate(),
        distribution.lower(alpha / 2),
        distribution.upper(alpha / 2),
    )
    return Estimate(_finite(value), low, _finite(high), method, INFINITE if value == inf else None)


def _finite(value: float) -> float | None:
    return None if value == inf else value


METHOD = "logistic regression, Wald interval"


def adjusted_odds_ratio(
    outcome: Sequence[bool], group: Sequence[bool], covariates: Floats, *, alpha: float = 0.05
) -> Estimate:
    """Return the odds ratio of group 1 over group 2 with the covariates held equal.

    Parameters
    ----------
    outcome, group
        For each case: whether it has the outcome, and whether it belongs to group 1.
    covariates
        A row for each case, a column for each covariate; categories as 0 and 1 without the first.

    Returns
    -------
    Estimate
        Undefined where the model cannot be fitted: collinear columns, an outcome that the columns
        separate completely, or fewer cases than columns.

    References
    ----------
    Hosmer and Lemeshow (2000), Applied logistic regression.
    """
    check_alpha(alpha)
    y = np.asarray(outcome, dtype=np.float64)
    design = np.column_stack(
        [np.ones(len(y)), np.asarray(group, dtype=np.float64), np.asarray(covariates, dtype=float)]
    )
    if len(y) <= design.shape[1]:
        return undefined("there are no more cases than columns", method=METHOD)
    if len(set(y.tolist())) == 1 or len(set(map(bool, group))) == 1:
        return undefined("outcome or group is the same for all cases", method=METHOD)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return undefined("a covariate follows from the others or from the group", method=METHOD)
    return _fitted(y, design, alpha)


def _fitted(y: Any, design: Any, alpha: float) -> Estimate:
    from statsmodels.discrete.discrete_model import Logit
    from statsmodels.tools.sm_exceptions import (
        ConvergenceWarning,
        PerfectSeparationError,
        PerfectSeparationWarning,
    )

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for kind in (ConvergenceWarning, PerfectSeparationWarning):
                warnings.simplefilter("error", kind)
            fit = Logit(y, design).fit(disp=0, maxiter=100)
            low, high = fit.conf_int(alpha)[1]
    except (ConvergenceWarning, PerfectSeparationWarning, PerfectSeparationError):
        return undefined("the columns part the outcome completely, or nearly so", method=METHOD)
    except np.linalg.LinAlgError:
        return undefined("the model has no single solution", method=METHOD)
    value = float(np.exp(fit.params[1]))
    return Estimate(value, float(np.exp(low)), float(np.exp(high)), METHOD)
