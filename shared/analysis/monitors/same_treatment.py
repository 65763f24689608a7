"""The first question of a monitor: equal treatment of twins, about these names and texts."""

from dataclasses import dataclass
from functools import lru_cache
from math import log

import numpy as np

from biaswatch.shared.analysis.monitors.alpha_shares import gap_alpha
from biaswatch.shared.analysis.monitors.pair_counts import UNBALANCED, differences_of
from biaswatch.shared.analysis.monitors.round_answers import ClosedCounts
from biaswatch.shared.contracts import Comparison, Evidence, Method, MonitorPlan
from biaswatch.shared.contracts.columns import Columns, chosen_from
from biaswatch.shared.stats.anytime.bets import log_mean_exp, middles
from biaswatch.shared.stats.anytime.exchanges import log_wealth_of_differences
from biaswatch.shared.stats.arrays import Bools, Floats
from biaswatch.shared.stats.estimate import DIFFERS, NOT_SHOWN


@dataclass(frozen=True)
class SameTreatment:
    """The answer to the first question, or why there is none."""

    answer: str | None = None
    log_e: float | None = None
    reason: str | None = None

    @property
    def allows_more(self) -> bool:
        """Tell whether the other questions may be answered yes: the three nest."""
        return self.answer in (None, DIFFERS)


UNANSWERED = SameTreatment(reason="there are no twins")


def same_treatment(
    comparison: Comparison, counts: ClosedCounts, last: Evidence | None, plan: MonitorPlan
) -> SameTreatment:
    """Return whether twins are treated differently, by the rounds of the epoch up to this one."""
    watched, pair = comparison.watched, comparison.pair
    if watched.method is not Method.PAIRS:
        return SameTreatment(reason=f"the method `{watched.method}` compares no twins one by one")
    if pair.b is None:
        return SameTreatment(reason=NOT_ASKED[1])
    if counts.total.get(UNBALANCED, (0,))[0]:
        return SameTreatment(reason=NOT_ASKED[2])
    log_e = log_e_of_differences(differences_of(counts.total))
    was_shown = (
        last is not None and last.epoch == counts.round.epoch and last.same_treatment == DIFFERS
    )
    is_shown = was_shown or log_e >= same_treatment_bound(plan, counts.round.epoch)
    return SameTreatment(DIFFERS if is_shown else NOT_SHOWN, log_e)


def same_treatment_bound(plan: MonitorPlan, epoch: int) -> float:
    """Return the log evidence that shows different treatment, in one epoch."""
    return log(len(plan.all_comparisons) / gap_alpha(plan, epoch + 1))


def same_treatment_columns(
    gaps: Floats, has_rest: Bools, is_unbalanced: Bools, was_shown: Bools, bound: float
) -> Columns:
    """Return the same answers of many comparisons of twins.

    Parameters
    ----------
    gaps
        [comparisons, bins]: the differences of twins.
    has_rest, is_unbalanced
        Where a group is compared with all others, and where sets have sides of different sizes.
    was_shown
        Where an earlier round of the epoch has shown it.
    bound
        The log evidence that shows it.
    """
    log_es = logs_of_differences(gaps)
    is_tested = ~(has_rest | is_unbalanced)
    answers = np.where(was_shown | (log_es >= bound), 2, 1) * is_tested
    reasons = np.where(has_rest, 1, 2) * ~is_tested
    return {
        "same_treatment": chosen_from(ANSWERS, answers),
        "log_e_same_treatment": {"array": np.where(is_tested, log_es, np.nan)},
        "same_treatment_reason": chosen_from(NOT_ASKED, reasons),
    }


NOT_ASKED = (
    None,
    "a group and all others are no two labels of twins",
    "some sets have more answers of one group than of the other",
)
ANSWERS = (None, NOT_SHOWN, DIFFERS)


def log_e_of_differences(counts: Floats) -> float:
    """Return the log e-value of a histogram of twins' differences, against equal treatment."""
    return float(logs_of_differences(counts[None])[0])


def logs_of_differences(counts: Floats) -> Floats:
    """Return the log e-values of histograms, a row each."""
    logs = log_mean_exp(counts @ _log_factors(counts.shape[1]))
    return np.where(counts.any(axis=1), logs, 0.0)


@lru_cache
def _log_factors(bins: int) -> Floats:
    """Return [bins, bets]: the log factor of a difference, over its mean under both labels."""
    rows = [np.array([[value, -value]]) for value in middles(bins).tolist()]
    return np.array([log_wealth_of_differences(row) for row in rows])
