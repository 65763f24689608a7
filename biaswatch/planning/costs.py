"""What a run will ask of each model, before it asks: calls, tokens, money and time, about."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from biaswatch.services.generator.domain.model_calls import Prices, price_of
from biaswatch.services.generator.domain.scaffolds import CallResult, scaffold_of
from biaswatch.shared.contracts import (
    Comparison,
    MonitorPlan,
    Probe,
    Run,
    Suite,
    Target,
    WatchedPair,
)
from biaswatch.shared.contracts.expansion import probe_of, questions_of, set_of
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.stats.anytime.units import ONE_AND_ONE, SetShape

CHARS_PER_TOKEN = 4
ANSWER_TOKENS = 200
CALL_S = 2.0
"""Assumed of an answer; reasoning models write more and take longer."""
MOST_READ = 400
"""Questions whose calls are written out; those of a larger suite are taken evenly from it."""
MOST_CALLS = 100
"""Of one probe: no scaffold makes so many."""
MILLION = 1_000_000


@dataclass(frozen=True)
class EstimatedSpending:
    """What one model is asked for; None of the cost where the price table does not name it."""

    target: str
    calls: int
    tokens_read: int
    tokens_written: int
    cost: float | None
    seconds: float
    paid: bool
    """Whether anybody charges for it: recorded and simulated answers cost nothing."""


def estimated_spending(
    suite: Suite,
    targets: Sequence[Target],
    scaffolds: Sequence[str],
    repeats: int,
    *,
    at: datetime,
    prices: Prices,
    at_once: int,
) -> list[EstimatedSpending]:
    """Return what each model is asked for; judges are not among it.

    A token is taken for four characters, an answer for 200 tokens, a call for two seconds; calls
    that wait for others are written as if those had said nothing. `at_once` is how many calls one
    model has at the same time.

    Raises
    ------
    UnfitProbe
        A probe cannot be asked through a scaffold.
    """
    return [
        _of_target(target, list(_texts(suite, target, scaffolds, at)), repeats, prices, at_once)
        for target in targets
    ]


def in_words(spending: EstimatedSpending) -> str:
    """Return what a model is asked for, in one sentence; a server of your own has no price."""
    tokens = spending.tokens_read + spending.tokens_written
    calls = f"{spending.target}: about {spending.calls:,} call{'s' * (spending.calls != 1)}"
    if not spending.paid:
        return f"{calls}, which cost nothing."
    cost = "its price is not in the price table"
    if spending.cost is not None:
        cost = f"about {spending.cost:,.2f} by the price table"
    minutes = max(1, round(spending.seconds / 60))
    return f"{calls} and {tokens:,} tokens; {cost}; about {minutes:,} min at {CALL_S:g} s a call."


def _of_target(
    target: Target,
    asked: Sequence[tuple[int, int, float]],
    repeats: int,
    prices: Prices,
    at_once: int,
) -> EstimatedSpending:
    calls = ceil(repeats * sum(calls * weight for calls, _, weight in asked))
    read = ceil(repeats * sum(chars * weight for _, chars, weight in asked) / CHARS_PER_TOKEN)
    written, facts = calls * ANSWER_TOKENS, PROVIDERS[target.provider]
    price = price_of(target, prices)
    cost = None if price is None else (read * price.read + written * price.written) / MILLION
    paid = not facts.free
    return EstimatedSpending(
        target.name, calls, read, written, cost, calls * CALL_S / at_once if paid else 0.0, paid
    )


def _texts(
    suite: Suite, target: Target, scaffolds: Sequence[str], at: datetime
) -> Iterator[tuple[int, int, float]]:
    """Yield calls and characters of probes, and how many probes each stands for."""
    run = Run(
        at=at, suite=suite.name, suite_hash=suite.hash, targets=(target,), scaffolds=(*scaffolds,)
    )
    items = list(questions_of(run, suite))
    step = ceil(len(items) / MOST_READ)
    some = items[::step]
    for position, item in some:
        for scaffold in scaffolds:
            probe = probe_of(run, suite, item, target, scaffold, 0, at, position=position)
            yield (
                *_calls_of(probe, recorded=PROVIDERS[target.provider].recorded),
                len(items) / len(some),
            )


def _calls_of(probe: Probe, *, recorded: bool) -> tuple[int, int]:
    """Return how many calls a probe takes, and how many characters these ask."""
    if recorded:  # read from a file, whatever the scaffold was
        return 1, 0
    scaffold, results, chars = scaffold_of(probe.scaffold), dict[str, CallResult](), 0
    planned = scaffold.first(probe)
    while planned and len(results) < MOST_CALLS:
        chars += sum(len(message.content) for call in planned for message in call.messages)
        results |= {call.name: CallResult() for call in planned}
        planned = scaffold.then(probe, results)
    return len(results), chars


PROBE_CHARS_PER_TOKEN = 4
A_MILLION = 1_000_000
TokenPrices = tuple[float | None, float | None]
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
    prices: TokenPrices


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
        read = chars / len(suite.probes) / PROBE_CHARS_PER_TOKEN
        written, (price_read, price_written) = spending.answer_tokens, spending.prices
        self._tokens = ceil(self._probes * (read + written))
        self._cost = None
        if price_read is not None and price_written is not None:
            self._cost = self._probes * (read * price_read + written * price_written) / A_MILLION

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
            return PlannedRounds(
                why="the number of new users in a window is not known: give `new_users`"
            )
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
