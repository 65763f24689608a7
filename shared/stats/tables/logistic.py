"""The odds ratio of a group, adjusted for covariates by logistic regression."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biaswatch.shared.stats.estimate import IntervalEstimate, check_alpha, undefined

METHOD = "logistic regression, Wald interval"


def adjusted_odds_ratio(
    outcome: Sequence[bool],
    group: Sequence[bool],
    covariates: NDArray[np.float64],
    *,
    alpha: float = 0.05,
) -> IntervalEstimate:
    """Return the odds ratio of group 1 over group 2 with the covariates held equal.

    Parameters
    ----------
    outcome, group
        For each case whether it has the outcome, and whether it is of group 1.
    covariates
        A row for each case, a column for each covariate; categories as 0 and 1 without the first.

    Returns
    -------
    Estimate
        Undefined where the model cannot be fitted: a column that follows from others, an outcome
        that the columns part completely, or fewer cases than columns.

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


def _fitted(y: Any, design: Any, alpha: float) -> IntervalEstimate:
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
            found = Logit(y, design).fit(disp=0, maxiter=100)
            low, high = found.conf_int(alpha)[1]
    except (ConvergenceWarning, PerfectSeparationWarning, PerfectSeparationError):
        return undefined("the columns part the outcome completely, or nearly so", method=METHOD)
    except np.linalg.LinAlgError:
        return undefined("the model has no single solution", method=METHOD)
    value = float(np.exp(found.params[1]))
    return IntervalEstimate(value, float(np.exp(low)), float(np.exp(high)), METHOD)
