"""Estimate the calls, tokens, cost and time of a run, and of the rounds of a monitor."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil

from biaswatch.services.generator.domain.model_calls import Prices, price_of
from biaswatch.services.generator.domain.planned_calls import CallResult
from biaswatch.services.generator.domain.scaffolds import scaffold_of
from biaswatch.shared.analysis.monitors.blocks import PairBlocks, SuiteBlocks
from biaswatch.shared.contracts import (
    Comparison,
    MonitorPlan,
    Probe,
    Run,
    Suite,
    Target,
    WatchedPair,
    probe_of,
    questions_of,
    set_of,
)
from biaswatch.shared.contracts.providers import PROVIDERS
from biaswatch.shared.stats.anytime.units import ONE_AND_ONE, SetShape

CHARS_PER_TOKEN = 4
ANSWER_TOKENS = 200
CALL_S = 2.0
"""Assumed length and duration of an answer; reasoning models exceed both."""
BATCH_S = 24 * 3600.0
"""The longest time that a batch takes; each step of a scaffold takes one."""
MOST_READ = 400
"""Questions whose calls are expanded; larger suites are sampled evenly."""
MOST_CALLS = 100
"""Bound on the calls of one probe; no scaffold reaches it."""
MILLION = 1_000_000


@dataclass(frozen=True)
class EstimatedSpending:
    """Estimated use of one model; the cost is None if the price table does not list it."""

    target: str
    calls: int
    tokens_read: int
    tokens_written: int
    cost: float | None
    seconds: float
    paid: bool
    """True unless the provider is free: recorded and simulated answers cost nothing."""
    examines: bool = False
    """True for the examination of a judge, which is done once a month."""


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
    """Estimate the spending of each target, without judges.

    Assumes four characters per token, 200 tokens per answer, two seconds per call and 24 hours per
    batch; calls that depend on earlier answers are built from empty answers. `at_once` is the
    number of concurrent calls per model.

    Raises
    ------
    UnfitProbe
        A scaffold cannot present a probe.
    """
    return [
        _of_target(
            target, list(_sampled_calls(suite, target, scaffolds, at)), repeats, prices, at_once
        )
        for target in targets
    ]


def in_words(spending: EstimatedSpending) -> str:
    """Return the estimate as one sentence."""
    tokens = spending.tokens_read + spending.tokens_written
    who = f"Examining the judge {spending.target}" if spending.examines else spending.target
    calls = f"{who}: about {spending.calls:,} call{'s' * (spending.calls != 1)}"
    if not spending.paid:
        return f"{calls}, which cost nothing."
    cost = "its price is not in the price table"
    if spending.cost is not None:
        cost = f"about {spending.cost:,.2f} by the price table"
    minutes = max(1, round(spending.seconds / 60))
    cached = " The replies are kept for this month." if spending.examines else ""
    duration = f"about {minutes:,} min at {CALL_S:g} s a call."
    if spending.seconds == BATCH_S:
        duration = "up to 24 hours for each batch."
    return f"{calls} and {tokens:,} tokens; {cost}; {duration}{cached}"


def examination_spending(
    judge: Target, questions: Sequence[str], prices: Prices, at_once: int
) -> EstimatedSpending:
    """Estimate the spending of the examination of a judge from its questions."""
    spending = _of_target(judge, [(1, len(text), 1.0) for text in questions], 1, prices, at_once)
    return replace(spending, examines=True)


def _of_target(
    target: Target,
    questions: Sequence[tuple[int, int, float]],
    repeats: int,
    prices: Prices,
    at_once: int,
) -> EstimatedSpending:
    calls = ceil(repeats * sum(calls * weight for calls, _, weight in questions))
    read = ceil(repeats * sum(chars * weight for _, chars, weight in questions) / CHARS_PER_TOKEN)
    written = calls * ANSWER_TOKENS
    price = price_of(target, prices)
    cost = None if price is None else (read * price.read + written * price.written) / MILLION
    paid = not PROVIDERS[target.provider].free
    seconds = BATCH_S if target.in_batches else calls * CALL_S / at_once
    return EstimatedSpending(
        target.name, calls, read, written, cost, seconds if paid else 0.0, paid
    )


def _sampled_calls(
    suite: Suite, target: Target, scaffolds: Sequence[str], at: datetime
) -> Iterator[tuple[int, int, float]]:
    """Yield calls, characters and sampling weight of the sampled probes."""
    run = Run(
        at=at, suite=suite.name, suite_hash=suite.hash, targets=(target,), scaffolds=(*scaffolds,)
    )
    items = list(questions_of(run, suite))
    step = ceil(len(items) / MOST_READ)
    sample = items[::step]
    for position, item in sample:
        for scaffold in scaffolds:
            probe = probe_of(run, suite, item, target, scaffold, 0, at, position=position)
            yield (
                *_calls_of(probe, recorded=PROVIDERS[target.provider].recorded),
                len(items) / len(sample),
            )


def _calls_of(probe: Probe, *, recorded: bool) -> tuple[int, int]:
    """Return the number of calls of a probe, and the characters of their messages."""
    if recorded:  # read from a file, independent of the scaffold
        return 1, 0
    scaffold, results, chars = scaffold_of(probe.scaffold), dict[str, CallResult](), 0
    planned = scaffold.first(probe)
    while planned and len(results) < MOST_CALLS:
        chars += sum(len(message.content) for call in planned for message in call.messages)
        results |= {call.name: CallResult() for call in planned}
        planned = scaffold.then(probe, results)
    return len(results), chars


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
