"""Estimate the calls, tokens, cost and time of a run."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from math import ceil

from biaswatch.services.generator.domain.model_calls import Prices, cost_of, price_of
from biaswatch.services.generator.domain.planned_calls import CallResult
from biaswatch.services.generator.domain.scaffolds import scaffold_of
from biaswatch.shared.contracts import Probe, Run, Suite, Target, probe_of, questions_of
from biaswatch.shared.contracts.providers import PROVIDERS

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
    cost = cost_of((read, written), price_of(target, prices))
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
