"""One search for a change, round by round, by the functions that serve many at once."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from biaswatch.shared.stats.anytime.bets import STAKES
from biaswatch.shared.stats.anytime.change_search import (
    MAX_REFERENCES,
    References,
    are_due,
    log_evidence,
    made_references,
)
from biaswatch.shared.stats.anytime.judging import share_of_attempt
from biaswatch.shared.stats.anytime.late_starts import LateStarts
from tests.support.pair_histogram import PairHistogram

BETS = 2 * len(STAKES)
NOTHING = References(
    np.empty(0), np.empty(0), np.empty(0, dtype=np.int64), LateStarts.none(0, BETS)
)


def after_round(references: References, pairs: PairHistogram, step: int, round_: int) -> References:
    """Return references after a round, which only the newest takes as a possible first."""
    rows = len(references.values)
    if not rows:
        return references
    weights = np.full(rows, -np.inf)
    weights[-1] = np.log(share_of_attempt(step))
    return references.after(pairs.table.of_rows(np.zeros(rows, dtype=np.int64)), weights, round_)


def made(pairs: PairHistogram, rounds: int, alpha: float) -> References | None:
    """Return the reference that rounds are; None where it leaves nothing to bet on."""
    values, allowed = made_references(pairs.table, np.array([alpha]), np.zeros(1))
    if not allowed[0] < 1:
        return None
    return References(values, allowed, np.array([rounds]), LateStarts.none(1, BETS))


def newest(references: References, number: int) -> References:
    """Return the newest references."""
    rows = np.arange(len(references.values))[-number:]
    return References(
        references.values[rows], references.allowed[rows], references.rounds[rows],
        references.bets.of_rows(rows),
    )  # fmt: skip


def joined(one: References, other: References) -> References:
    """Return the references of both."""

    def both(name: str, of: str = "") -> Any:
        parts = (getattr(item, of) if of else item for item in (one, other))
        return np.concatenate([getattr(part, name) for part in parts])

    bets = LateStarts(both("log_wealth", "bets"), both("log_best", "bets"), both("starts", "bets"))
    return References(both("values"), both("allowed"), both("rounds"), bets)


def evidence_of_search(references: References) -> float | None:
    """Return the log evidence of a change; None before any."""
    if not len(references.values):
        return None
    [result] = log_evidence(references, np.zeros(1, dtype=np.int64)).tolist()
    return result if np.isfinite(result) else None


def search(rounds: Sequence[PairHistogram], *, first: int, alpha: float) -> Iterator[References]:
    """Return the references after each round."""
    references, total, steps = NOTHING, PairHistogram.empty(), 0
    for number, pairs in enumerate(rounds, start=1):
        total += pairs
        steps += bool(len(references.values))
        references = after_round(references, pairs, steps, number - 1)
        last = np.array([*references.rounds[-1:], np.nan][:1], dtype=np.float64)
        is_due = are_due(last, np.array([number]), first)[0]
        if is_due and (one := made(total, number, alpha)):
            references = newest(joined(references, one), MAX_REFERENCES)
        yield references
