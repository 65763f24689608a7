"""The users of a window by stratum: counted like the evidence, and evidence of nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from biaswatch.shared.analysis.monitors.methods.two_groups import SIDES
from biaswatch.shared.analysis.monitors.traffic import shares_of_range, side_histogram
from biaswatch.shared.analysis.monitors.traffic_users import MatchableUsers
from biaswatch.shared.analysis.monitors.window_columns import Places, WindowColumns
from biaswatch.shared.contracts import Comparison, StratumUsers
from biaswatch.shared.stats.anytime.pairs import BINS as PAIR_BINS
from biaswatch.shared.stats.anytime.two_groups import BINS

Stratum = tuple[str, ...]
MOST_STRATA = 20
"""Of a comparison in one window; facts may be anything that a sender writes."""
MOST_IN_A_WINDOW = 150
"""Of all comparisons together, so that the record stays small."""
LONGEST_FACT = 40
"""Characters of a fact in the name of a stratum."""
AT_ONCE = 65_536


class StrataCounts:
    """The users of each stratum: the `most` largest by name, and the others together."""

    def __init__(
        self, comparison: Comparison, window: WindowColumns, users: MatchableUsers, most: int
    ) -> None:
        self._comparison, self._window, self._users = comparison, window, users
        there = np.bincount(users.strata, minlength=len(window.strata_by_code)).tolist()
        by_name: Counter[Stratum] = Counter()
        for stratum, count in zip(window.strata_by_code, there, strict=True):
            if count:
                by_name[_short(stratum)] += count
        kept = _largest(by_name, most)
        names = [short if (short := _short(s)) in kept else () for s in window.strata_by_code]
        self._names = sorted({name if name in kept else () for name in by_name})
        numbers = {name: number for number, name in enumerate(self._names)}
        self._number = np.array([numbers.get(name, -1) for name in names], dtype=np.int64)
        self._differences = np.zeros((len(self._names), PAIR_BINS), dtype=np.int64)
        self._matched = np.zeros((len(self._names), len(SIDES)), dtype=np.int64)

    def add(self, stratum: int, differences: Places, matched: Sequence[int]) -> None:
        """Add matches of one stratum, by its code: their differences, and how many of each side."""
        number = self._number[stratum]
        self._differences[number] += differences
        self._matched[number] += matched

    def counted(self) -> tuple[StratumUsers, ...]:
        """Return the strata, by name."""
        first, second = (self._side(side) for side in range(len(SIDES)))
        return tuple(
            StratumUsers(
                facts=name,
                first=_sparse(first[number].tolist()),
                second=_sparse(second[number].tolist()),
                matched=tuple(self._matched[number].tolist()),
                differences=_sparse(self._differences[number].tolist()),
            )
            for number, name in enumerate(self._names)
        )

    def _side(self, side: int) -> Places:
        """Return the histograms of one side's users, a row for each stratum."""
        found, users = np.zeros((len(self._names), BINS), dtype=np.int64), self._users
        for begin in range(0, len(users.users), AT_ONCE):
            some = slice(begin, begin + AT_ONCE)
            mine = users.first[some] == (side == 0)
            codes, numbers = users.users[some][mine], self._number[users.strata[some][mine]]
            shares = shares_of_range(self._comparison.watched, users.values[some][mine])
            units = self._window.user_hashes(codes)
            for number in np.unique(numbers).tolist():
                its = numbers == number
                found[number] += side_histogram(self._comparison, side, units[its], shares[its])
        return found


def most_strata(comparisons: int) -> int:
    """Return how many strata each of so many comparisons tells apart."""
    return max(1, min(MOST_STRATA, MOST_IN_A_WINDOW // max(1, comparisons)))


def _short(stratum: Stratum) -> Stratum:
    return tuple(fact[:LONGEST_FACT] for fact in stratum)


def _largest(by_name: Mapping[Stratum, int], most: int) -> set[Stratum]:
    ordered = sorted(by_name, key=lambda stratum: (-by_name[stratum], stratum))
    return set(ordered[:most])


def _sparse(counts: Iterable[int]) -> dict[int, int]:
    return {place: count for place, count in enumerate(counts) if count}
