"""Estimate the rounds, probes, tokens and cost of a monitor."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil

from biaswatch.planning.costs import CHARS_PER_TOKEN
from biaswatch.shared.analysis.monitors.blocks import PairBlocks, SuiteBlocks
from biaswatch.shared.contracts import Comparison, MonitorPlan, Suite, WatchedPair, set_of
from biaswatch.shared.stats.anytime.units import ONE_AND_ONE, SetShape

MILLION = 1_000_000
TokenPrices = tuple[float | None, float | None]
"""Price per million tokens read, and written."""


@dataclass(frozen=True)
class PlannedRounds:
    """Rounds of a monitor and their probes, tokens and cost; None where unknown."""

    rounds: int | None = None
    probes: int | None = None
    tokens: int | None = None
    cost: float | None = None
    why: str | None = None
    """The reason for a missing number of rounds."""


@dataclass(frozen=True)
class CallPrices:
    """Tokens of an answer, and prices of tokens."""

    answer_tokens: int
    prices: TokenPrices


class SuiteRound:
    """A round that asks a suite's probes."""

    def __init__(
        self, plan: MonitorPlan, suite: Suite, spending: CallPrices, most_rounds: int | None
    ) -> None:
        self._suite, self._repeats = suite, plan.repeats
        self._blocks = SuiteBlocks.of_probes(plan.random, suite.probes)
        sets = len(set(map(set_of, suite.probes)))
        self._share = plan.sets_per_round / sets if plan.sets_per_round else 1.0
        self._limits = {"most_rounds is": most_rounds}
        if plan.sets_per_round:  # each set is used once
            self._limits[f"the suite's {sets} sets are enough for"] = sets // plan.sets_per_round
        self._probes = round(len(suite.probes) * self._share) * plan.repeats
        chars = sum(
            sum(len(message.content) for message in probe.as_messages)
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
        """Return the rounds that collect this number of units, with their probes and cost."""
        rounds = ceil(units / self.units_per_round(comparison))
        if why := _too_many(rounds, self._limits):
            return PlannedRounds(why=why)
        cost = None if self._cost is None else round(rounds * self._cost, 2)
        return PlannedRounds(rounds, rounds * self._probes, rounds * self._tokens, cost)

    def units_per_round(self, comparison: Comparison) -> float:
        """Return how many units a round adds to a comparison."""
        return self._units(comparison) * self._share

    def _units(self, comparison: Comparison) -> float:
        """Count twins with both groups; without twins, a set is a unit on each of its sides.

        Unequal sides carry the information of two sides of their harmonic mean: 4 / (1/n1 + 1/n2).
        """
        first, second = self._sides(comparison.pair)
        if not comparison.watched.method.facts.needs_twins:
            return 4 / (1 / len(first) + 1 / len(second))
        return len(first.keys() & second.keys())

    def blocks(self, pair: WatchedPair) -> PairBlocks | None:
        """Return the blocks of sets that share no random factor; None without random factors."""
        return self._blocks.of(pair)

    def shapes(self, pair: WatchedPair) -> tuple[SetShape, ...]:
        """Return the numbers of answers per group in sets with both groups, repeats included.

        If no set has both groups, both sides get the sizes of the first group's sets.
        """
        first, second = self._sides(pair)
        both = first.keys() & second.keys()
        sizes = Counter((first[name], second[name]) for name in both) or Counter(
            (size, size) for size in first.values()
        )
        return tuple(
            SetShape(a * self._repeats, b * self._repeats, times / sizes.total())
            for (a, b), times in sorted(sizes.items())
        )

    def twins(self, pair: WatchedPair) -> bool:
        """Return whether most sets have both groups."""
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
    """A window of traffic, which costs no calls."""

    new_users: int | None
    """Expected new users of both groups per window; None if unknown."""
    most_rounds: int | None

    def shapes(self, pair: WatchedPair) -> tuple[SetShape, ...]:
        """Return one answer per user, the worst case."""
        del pair
        return ONE_AND_ONE

    def twins(self, pair: WatchedPair) -> bool:
        """Return False: users have no twins."""
        del pair
        return False

    def until(self, units: int, comparison: Comparison) -> PlannedRounds:
        """Return the windows with this number of new users, the same for every comparison."""
        del comparison
        if self.new_users is None:
            return PlannedRounds(
                why="the number of new users per window is unknown: set `new_users`"
            )
        windows = ceil(units / self.new_users)
        why = _too_many(windows, {"most_rounds is": self.most_rounds})
        return PlannedRounds(why=why) if why else PlannedRounds(windows)


def _too_many(rounds: int, limits: Mapping[str, int | None]) -> str | None:
    """Return a reason if the number of rounds exceeds a limit, with the lowest such limit."""
    exceeded = [
        (most, limit) for limit, most in limits.items() if most is not None and most < rounds
    ]
    if not exceeded:
        return None
    most, limit = min(exceeded)
    return f"the number of rounds needed is {rounds}, and {limit} {most}"
