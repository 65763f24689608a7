"""What one round of a monitor brings and costs: units of evidence, probes, tokens, money."""

from dataclasses import dataclass
from math import ceil

from shared.contracts import Comparison, Method, MonitorPlan, Suite, SuiteProbe, WatchedPair

CHARS_PER_TOKEN = 4
MILLION = 1_000_000
Prices = tuple[float | None, float | None]
"""Of a million tokens read, and written."""


@dataclass(frozen=True)
class Rounds:
    """So many rounds, and what they ask for; None where it is not known."""

    rounds: int | None = None
    probes: int | None = None
    tokens: int | None = None
    cost: float | None = None


class SuiteRound:
    """A round that asks a suite's probes."""

    def __init__(self, plan: MonitorPlan, suite: Suite, answer_tokens: int, prices: Prices) -> None:
        self._suite = suite
        sets = {probe.set for probe in suite.probes if probe.set}
        self._share = plan.sets_per_round / len(sets) if plan.sets_per_round else 1.0
        self._probes = round(len(suite.probes) * self._share) * plan.repeats
        read = sum(map(_chars, suite.probes)) / len(suite.probes) / CHARS_PER_TOKEN
        self._tokens = ceil(self._probes * (read + answer_tokens))
        self._cost = None
        if prices[0] is not None and prices[1] is not None:
            self._cost = self._probes * (read * prices[0] + answer_tokens * prices[1]) / MILLION

    def until(self, units: int, comparison: Comparison) -> Rounds:
        """Give the rounds that bring so many units of a comparison, and all they ask."""
        rounds = ceil(units / (self._units(comparison) * self._share))
        cost = None if self._cost is None else round(rounds * self._cost, 2)
        return Rounds(rounds, rounds * self._probes, rounds * self._tokens, cost)

    def _units(self, comparison: Comparison) -> int:
        """Count twins with both groups; without twins, a set is a unit on each of its sides."""
        first, second = self._sets(comparison.pair)
        if comparison.watched.method is Method.TWO_GROUPS:
            return len(first) + len(second)
        return len(first & second)

    def _sets(self, pair: WatchedPair) -> tuple[set[str], set[str]]:
        sides: tuple[set[str], set[str]] = set(), set()
        for probe in self._suite.probes:
            group = probe.groups.get(pair.dimension)
            if group == pair.a:
                sides[0].add(probe.set or probe.key)
            elif group is not None and pair.b in (None, group):
                sides[1].add(probe.set or probe.key)
        return sides


@dataclass(frozen=True)
class TrafficWindow:
    """A window of traffic, which asks nothing and brings whoever comes."""

    new_users: int | None
    """Users of both groups who come for the first time, where somebody knows how many."""

    def until(self, units: int, comparison: Comparison) -> Rounds:
        """Give the windows in which so many users come; the same for every comparison."""
        del comparison
        return Rounds(ceil(units / self.new_users) if self.new_users else None)


def _chars(probe: SuiteProbe) -> int:
    said = sum(len(message.content) for message in probe.said)
    return said + sum(map(len, probe.variables.values()))
