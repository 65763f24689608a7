"""What one round of a monitor brings and costs: units of evidence, probes, tokens, money."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from biaswatch.shared.contracts import Comparison, MonitorPlan, Suite, WatchedPair
from biaswatch.shared.contracts.expansion import set_of
from biaswatch.shared.stats.anytime.units import ONE_AND_ONE, SetShape

CHARS_PER_TOKEN = 4
MILLION = 1_000_000
Prices = tuple[float | None, float | None]
"""Of a million tokens read, and written."""


@dataclass(frozen=True)
class PlannedRounds:
    """So many rounds, and what they ask for; None where it is not known."""

    rounds: int | None = None
    probes: int | None = None
    tokens: int | None = None
    cost: float | None = None
    why: str | None = None
    """Why there is no number of rounds."""


@dataclass(frozen=True)
class CallPrices:
    """What an answer has in tokens, and what these cost."""

    answer_tokens: int
    prices: Prices


class SuiteRound:
    """A round that asks a suite's probes."""

    def __init__(
        self, plan: MonitorPlan, suite: Suite, spending: CallPrices, most_rounds: int | None
    ) -> None:
        self._suite, self._repeats = suite, plan.repeats
        sets = len(set(map(set_of, suite.probes)))
        self._share = plan.sets_per_round / sets if plan.sets_per_round else 1.0
        self._limits = {"most_rounds is": most_rounds}
        if plan.sets_per_round:  # each set is asked once
            self._limits[f"the suite's {sets} sets are enough for"] = sets // plan.sets_per_round
        self._probes = round(len(suite.probes) * self._share) * plan.repeats
        chars = sum(
            sum(len(message.content) for message in probe.said)
            + sum(map(len, probe.variables.values()))
            for probe in suite.probes
        )
        read = chars / len(suite.probes) / CHARS_PER_TOKEN
        written, (price_read, price_written) = spending.answer_tokens, spending.prices
        self._tokens = ceil(self._probes * (read + written))
        self._cost = None
        if price_read is not None and price_written is not None:
            self._cost = self._probes * (read * price_read + written * price_written) / MILLION

    def until(self, units: int, comparison: Comparison) -> PlannedRounds:
        """Return the rounds that bring so many units of a comparison, and all they ask."""
        rounds = ceil(units / (self._units(comparison) * self._share))
        if why := _too_many(rounds, self._limits):
            return PlannedRounds(why=why)
        cost = None if self._cost is None else round(rounds * self._cost, 2)
        return PlannedRounds(rounds, rounds * self._probes, rounds * self._tokens, cost)

    def _units(self, comparison: Comparison) -> float:
        """Count twins with both groups; without twins, a set is a unit on each of its sides.

        Sides of different sizes tell as much as two of their harmonic mean: 4 / (1/n1 + 1/n2).
        """
        first, second = self._sides(comparison.pair)
        if not comparison.watched.method.facts.needs_twins:
            return 4 / (1 / len(first) + 1 / len(second))
        return len(first.keys() & second.keys())

    def shapes(self, pair: WatchedPair) -> tuple[SetShape, ...]:
        """Return how many answers of each group a set with both has, repeats included.

        Where no set has both, those of the first group's sets are taken for both.
        """
        first, second = self._sides(pair)
        both = first.keys() & second.keys()
        sizes = Counter((first[each], second[each]) for each in both) or Counter(
            (size, size) for size in first.values()
        )
        return tuple(
            SetShape(a * self._repeats, b * self._repeats, times / sizes.total())
            for (a, b), times in sorted(sizes.items())
        )

    def twins(self, pair: WatchedPair) -> bool:
        """Tell whether most sets have both groups."""
        first, second = self._sides(pair)
        return 2 * len(first.keys() & second.keys()) > len(first.keys() | second.keys())

    def _sides(self, pair: WatchedPair) -> tuple[Counter[str], Counter[str]]:
        """Count the probes of each side, by set."""
        sides: tuple[Counter[str], Counter[str]] = Counter(), Counter()
        for probe in self._suite.probes:
            group = probe.groups.get(pair.dimension)
            if group == pair.a:
                sides[0][set_of(probe)] += 1
            elif group is not None and pair.b in (None, group):
                sides[1][set_of(probe)] += 1
        return sides


@dataclass(frozen=True)
class TrafficWindow:
    """A window of traffic, which asks nothing and brings whoever comes."""

    new_users: int | None
    """Users of both groups who come for the first time, where somebody knows how many."""
    most_rounds: int | None

    def shapes(self, pair: WatchedPair) -> tuple[SetShape, ...]:
        """Return that each user has one answer, which is the worst case."""
        del pair
        return ONE_AND_ONE

    def twins(self, pair: WatchedPair) -> bool:
        """Tell that users have no twins."""
        del pair
        return False

    def until(self, units: int, comparison: Comparison) -> PlannedRounds:
        """Return the windows in which so many users come; the same for every comparison."""
        del comparison
        if self.new_users is None:
            return PlannedRounds(why="nobody said how many new users a window brings (--new-users)")
        windows = ceil(units / self.new_users)
        why = _too_many(windows, {"most_rounds is": self.most_rounds})
        return PlannedRounds(why=why) if why else PlannedRounds(windows)


def _too_many(rounds: int, limits: Mapping[str, int | None]) -> str | None:
    """Say which limit so many rounds go beyond; the lowest, where there are several."""
    known = {said: most for said, most in limits.items() if most is not None and most < rounds}
    if not known:
        return None
    said = min(known, key=lambda each: known[each])
    return f"the number of rounds needed is {rounds}, and {said} {known[said]}"
