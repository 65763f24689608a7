"""What so many labels will bring: how wide a gap's interval is to be, and which gap is found."""

from dataclasses import dataclass
from math import ceil, log, log1p, sqrt

from scipy import special

from biaswatch.shared.stats.estimate import check_alpha

POWER = 0.8


@dataclass(frozen=True)
class PlannedLabels:
    """What is to be expected of so many labels of each of two groups."""

    labels_of_a_group: int
    correlation: float
    """Of labels and readings; 0 is labels alone."""
    half_width: float
    """Half of the interval of a gap of two groups, in the number's units."""
    smallest_gap: float
    """The gap that is found four times in five."""


def planned_labels(
    spread: float, answers: int, labels: int, correlation: float, alpha: float
) -> PlannedLabels:
    """Return what so many labels of each of two groups are to bring, before any is made.

    The variance of a corrected mean is s^2 (1 - r^2) / n + s^2 r^2 / N, with n of N answers
    labelled, as in prediction-powered inference with the best tuning.

    Parameters
    ----------
    spread
        Standard deviation of labels within a group; before there are any, that of readings.
    answers, labels
        Of each group: N and n, at least 1.
    correlation
        Of labels and readings, from 0 to 1.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Angelopoulos, Duchi and Zrnic (2023), PPI++: Efficient prediction-powered inference, 6.
    """
    check_alpha(alpha)
    n = min(labels, answers)
    explained = correlation**2
    error = spread * sqrt(2 * ((1 - explained) / n + explained / answers))
    reach = -float(special.ndtri(alpha / 2))
    return PlannedLabels(
        n, correlation, reach * error, (reach + float(special.ndtri(POWER))) * error
    )


def widest_share(answers: int, units: int, labels: int, alpha: float) -> float:
    """Return how far a corrected mean's interval reaches on one side where labels hardly vary.

    As a share of the scale, at most 1. Labels that all agree do not show that the others do: each
    labelled answer stands for answers / labels others, and the mean of so many prompts, which could
    each be as far off as that, is known to within their Clopper-Pearson limit.

    Parameters
    ----------
    answers, units, labels
        Of each group: answers, the prompts that they are answers to, and labels; at least 1.
    alpha
        1 minus the coverage, in (0, 1).

    References
    ----------
    Clopper and Pearson (1934), mid-p; Gaffke (2005), as `bounded_mean` has it.
    """
    check_alpha(alpha)
    n = min(labels, answers)
    return float(min(1.0, answers / n * (1 - alpha ** (1 / units))))


def labels_for_share(share: float, answers: int, units: int, alpha: float) -> int | None:
    """Return the labels of a group from which on `widest_share` is at most a share.

    None where not even all answers labelled are enough: it takes more prompts.
    """
    if widest_share(answers, units, answers, alpha) > share:
        return None
    return min(answers, ceil(answers * float(1 - alpha ** (1 / units)) / share))


def units_for_share(share: float, labelled_share: float, alpha: float) -> int:
    """Return the prompts of a group from which on `widest_share` is at most a share.

    Parameters
    ----------
    share
        Of the scale, in (0, 1).
    labelled_share
        Of the answers that are labelled, in (0, 1]: as many of those to more prompts.
    alpha
        1 minus the coverage, in (0, 1).
    """
    check_alpha(alpha)
    return ceil(log(alpha) / log1p(-share * labelled_share))
