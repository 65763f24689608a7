"""Evidence of a search: an e-process for every hypothesis, by exchange of two labels of a set."""

from dataclasses import dataclass
from math import log

import numpy as np

from biaswatch.shared.stats.anytime.bets import both_ways, log_mean_exp
from biaswatch.shared.stats.anytime.exchanges import exchange_log_factors
from biaswatch.shared.stats.anytime.merged import PastDifferences
from biaswatch.shared.stats.arrays import Bools, Floats, Ints
from biaswatch.shared.stats.search.hypotheses import AskedCells, Region, SearchSpace

STAKES = (1.5, 5.0)
"""Bets on a contrast, in inverse units of the range; the others are learned from earlier sets."""
OWN_SHARES = (0.5, 1.0)
"""Multiples of the learned bet."""
BETS = len(OWN_SHARES) + 2 * len(STAKES)


@dataclass(frozen=True)
class SearchEvidence:
    """State of the e-processes of all hypotheses.

    Parameters
    ----------
    past
        Contrasts of earlier sets, [hypotheses] each.
    log_wealth
        [hypotheses, bets]
    log_e
        [hypotheses]: the log e-values, averages over all bets.
    largest_log_e
        [hypotheses]: the running maximum of `log_e`.
    """

    past: PastDifferences
    log_wealth: Floats
    log_e: Floats
    largest_log_e: Floats

    @classmethod
    def none(cls, space: SearchSpace) -> "SearchEvidence":
        """Return the evidence before the first question."""
        past = PastDifferences(*(np.zeros(space.hypotheses) for _ in range(3)))
        zeros = np.zeros(space.hypotheses)
        return cls(past, np.zeros((space.hypotheses, BETS)), zeros, zeros)

    def rejected(self, space: SearchSpace, alpha: float) -> Bools:
        """Return [hypotheses]: whether the evidence of each has ever reached its threshold.

        The chance that any true null hypothesis is ever rejected is at most alpha, however the sets
        were chosen and however often the evidence is read: each e-process starts at 1 and has a
        mean of at most 1 at every time, and the weights sum to 1 (Ville's inequality, union bound).
        """
        return np.asarray(self.largest_log_e >= space.log_thresholds(alpha))


def updated(
    evidence: SearchEvidence,
    space: SearchSpace,
    cells: AskedCells,
    answers: Floats,
    counted: Bools | None = None,
) -> SearchEvidence:
    """Return the evidence with one more batch of sets.

    The bets on a batch depend on earlier batches alone, so that an answer counts only for
    hypotheses whose bet and weight were fixed before its question was sent. The factor of a set is
    the mean, over the other groups, of the factor of a bet that is compared with the same bet on
    the two labels exchanged. Its mean is at most 1 also where the groups' answers have different
    spreads, if each difference of two groups is as likely as its opposite; exchanges of all labels
    at once do not promise that.

    Parameters
    ----------
    cells
        [sets]: where each set was sent.
    answers
        [sets, groups]: one answer for each twin, divided by the range of the answers. Sets with a
        missing answer must be left out by the caller, and counted.
    counted
        [sets, kinds of region]: whether each set counts for its region of each kind; all, if None.

    Returns
    -------
    SearchEvidence

    References
    ----------
    Fisher (1935), The design of experiments; Ramdas, Grünwald, Vovk and Shafer (2023).

    Examples
    --------
    >>> space = SearchSpace(topics=2, contexts=1, groups=2)
    >>> cells = AskedCells(np.zeros(20, dtype=np.int64), np.zeros(20, dtype=np.int64))
    >>> answers = np.column_stack([np.full(20, 0.75), np.full(20, 0.25)])
    >>> evidence = updated(SearchEvidence.none(space), space, cells, answers)
    >>> evidence.rejected(space, 0.05).tolist()  # topic 0, topic 1, context, everywhere, crossings
    [True, False, True, True, True, False]
    """
    differences = _differences(answers)
    hypotheses = space.of_sets(cells)
    is_evidence = hypotheses >= 0
    if counted is not None:
        is_evidence &= counted[:, :, None]
    rows, kinds, columns = np.nonzero(is_evidence)
    numbers = hypotheses[rows, kinds, columns]
    drawn = differences[rows, :, columns]
    contrasts = drawn.mean(axis=1)
    touched, places = np.unique(numbers, return_inverse=True)
    bets = _bets_on(_of(evidence.past, touched))[places]
    scores = bets[:, :, None] * drawn[:, None, :]
    factors = log_mean_exp(exchange_log_factors(np.stack([scores, -scores], axis=-1)))
    gains = np.zeros((len(touched), BETS))
    np.add.at(gains, places, factors)
    log_wealth, log_e = evidence.log_wealth.copy(), evidence.log_e.copy()
    log_wealth[touched] += gains
    log_e[touched] = log_mean_exp(log_wealth[touched])
    size = space.hypotheses
    past = PastDifferences(
        evidence.past.sets + np.bincount(numbers, minlength=size),
        evidence.past.sums + np.bincount(numbers, contrasts, size),
        evidence.past.squares + np.bincount(numbers, contrasts**2, size),
    )
    return SearchEvidence(past, log_wealth, log_e, np.maximum(evidence.largest_log_e, log_e))


def cannot_find_more(
    evidence: SearchEvidence, space: SearchSpace, alpha: float, sets_left: Ints | int
) -> bool:
    """Return whether no further hypothesis can reach its threshold with the sets that are left.

    A set raises a log e-value by at most the logarithm of 2. Crossings of a topic that is found are
    not open, nor are wider regions all of whose crossings are found: they would repeat a finding.

    Parameters
    ----------
    sets_left
        [hypotheses], or one for all: upper limits of the sets that can still count.
    """
    missing = space.log_thresholds(alpha) - evidence.log_e
    open_ = ~_is_covered(evidence.rejected(space, alpha), space)
    return not bool((open_ & (missing <= log(2) * sets_left)).any())


def _is_covered(rejected: Bools, space: SearchSpace) -> Bools:
    """Return [hypotheses]: true for those found and those inside regions found."""
    first = space.first
    own = rejected[first(Region.TOPIC) : first(Region.CONTEXT)].reshape(-1, space.contrasts)
    crossings = space.of_crossings(rejected)
    topics: Bools = own | np.all(crossings, axis=1)
    crossings = crossings | topics[:, None]
    covered = rejected.copy()
    for region, values in (
        (Region.TOPIC, topics),
        (Region.CONTEXT, np.all(crossings, axis=0)),
        (Region.EVERYWHERE, np.all(topics, axis=0)),
        (Region.CROSSING, crossings),
    ):
        covered[first(region) : first(region) + values.size] |= values.ravel()
    return covered


def _differences(answers: Floats) -> Floats:
    """Return [sets, others, contrasts]: the answer of each group minus that of each other one."""
    groups = answers.shape[1]
    shifted = (np.roll(answers, -shift, axis=1) for shift in range(1, groups))
    differences = np.stack([answers - other for other in shifted], axis=1)
    return differences[:, :, : 1 if groups == 2 else groups]


def _bets_on(past: PastDifferences) -> Floats:
    """Return [hypotheses, bets]: learned bets, then fixed ones in both directions."""
    learned = np.multiply.outer(past.own_bets, OWN_SHARES)
    fixed = both_ways(STAKES)
    return np.column_stack([learned, np.broadcast_to(fixed, (len(learned), len(fixed)))])


def _of(past: PastDifferences, hypotheses: Ints) -> PastDifferences:
    """Return the past of some hypotheses."""
    return PastDifferences(past.sets[hypotheses], past.sums[hypotheses], past.squares[hypotheses])
