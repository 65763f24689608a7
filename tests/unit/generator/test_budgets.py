"""What a run has spent is known at once, however lookups in the store and calls interleave."""

import asyncio
import threading
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from biaswatch.services.generator.handlers.run_limits import BudgetSpent, RunBudgets
from biaswatch.shared.contracts import Budget
from biaswatch.shared.store.calls import RunSpending
from tests.support.records import make_probe
from tests.support.waiting import PATIENCE_S

AT = datetime(2026, 3, 4, tzinfo=UTC)


class SpendingWithGate:
    """A store whose look at spending ends when it is told to, with what it found when it began."""

    def __init__(self, budget: Budget) -> None:
        self.kept = RunSpending(budget=budget)
        self.begun, self.gate = threading.Event(), threading.Event()
        self.gate.set()

    def spending(self, runs: Sequence[str]) -> dict[str, RunSpending]:
        result = dict.fromkeys(runs, self.kept)
        self.begun.set()
        assert self.gate.wait(PATIENCE_S)
        return result


def budgets_of(calls: SpendingWithGate) -> RunBudgets:
    return RunBudgets(calls, now=lambda: AT, clock=lambda: 0.0)  # type: ignore[arg-type]


async def test_what_is_spent_while_the_store_is_asked_is_not_forgotten() -> None:
    calls = SpendingWithGate(Budget(tokens=10))
    calls.gate.clear()
    budgets, probe = budgets_of(calls), make_probe()
    check = asyncio.create_task(budgets.check(probe, priced=True))
    await asyncio.to_thread(calls.begun.wait, PATIENCE_S)
    calls.kept = RunSpending(budget=Budget(tokens=10), tokens=10)
    with budgets.adding(probe, 10, None):
        calls.gate.set()
    with pytest.raises(BudgetSpent):
        await check


async def test_what_is_counted_twice_for_a_moment_refuses_nothing() -> None:
    calls = SpendingWithGate(Budget(tokens=10))
    calls.kept = RunSpending(budget=Budget(tokens=10), tokens=5)
    budgets, probe = budgets_of(calls), make_probe()
    await budgets.check(probe, priced=True)
    with budgets.adding(probe, 5, None):  # the same five, seen by the look before
        pass
    await budgets.check(probe, priced=True)


async def test_calls_wait_for_what_is_being_written_where_it_would_reach_the_budget() -> None:
    calls = SpendingWithGate(Budget(tokens=10))
    budgets, probe = budgets_of(calls), make_probe()
    await budgets.check(probe, priced=True)
    with budgets.adding(probe, 10, None):
        check = asyncio.create_task(budgets.check(probe, priced=True))
        await asyncio.sleep(0)
        calls.kept = RunSpending(budget=Budget(tokens=10), tokens=10)
    with pytest.raises(BudgetSpent):
        await check
