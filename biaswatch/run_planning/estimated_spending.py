"""What a run will ask of each model, before it asks: calls, tokens, money and time, about."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from biaswatch.services.generator.domain.model_calls import Prices, price_of
from biaswatch.services.generator.domain.scaffolds import CallResult, scaffold_of
from biaswatch.shared.contracts import Probe, Run, Suite, Target
from biaswatch.shared.contracts.expansion import asked_of, probe_of
from biaswatch.shared.contracts.providers import PROVIDERS

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
    items = list(asked_of(run, suite))
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
