"""Bets that may begin with any round, between the records that keep them and their table."""

from collections.abc import Sequence

import numpy as np

from biaswatch.shared.contracts import Bets
from biaswatch.shared.stats.anytime.bets import STAKES
from biaswatch.shared.stats.anytime.late_starts import LateStarts

BETS = 2 * len(STAKES)


def late_starts_of(kept: Sequence[Bets]) -> LateStarts:
    """Return the table of bets, a row each; before their first round, they have earned nothing."""
    found = LateStarts.none(len(kept), BETS)
    for row, each in enumerate(kept):
        if each.log_wealth:
            found.log_wealth[row] = each.log_wealth
            found.log_best[row] = each.log_best
            found.starts[row] = each.starts
    return found


def bets_of(found: LateStarts) -> list[Bets]:
    """Return what is kept of each row.

    What a bet would have earned since its best beginning is kept where it is a gain: otherwise its
    best beginning is the next round.
    """
    best = np.maximum(found.log_best, 0)
    columns = (each.tolist() for each in (found.log_wealth, best, found.starts))
    return [
        # They come from numbers alone: to check each again would take longer than to compute it.
        Bets.model_construct(log_wealth=tuple(wealth), log_best=tuple(best), starts=tuple(starts))
        for wealth, best, starts in zip(*columns, strict=True)
    ]
