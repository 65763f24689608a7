"""Whether a run may go on: its budget is not reached, and nobody has cancelled it."""

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from functools import reduce
from typing import Generic, TypeVar

from biaswatch.shared.contracts import Cancellation, Probe
from biaswatch.shared.runtime.blocking import BatchedLookup
from biaswatch.shared.store import Calls, Records
from biaswatch.shared.store.calls import RunSpending

FRESH_S = 1.0
"""How old an answer of the store may be: other replicas spend too, and runs are cancelled."""

V = TypeVar("V")
T = TypeVar("T")


class BudgetSpent(Exception):  # noqa: N818 - an outcome, not an accident
    """The probe's run may spend no more; the message is the reason, one word."""


class RunCancelled(Exception):  # noqa: N818 - an outcome, not an accident
    """The probe's run was cancelled."""


class _FreshValues(Generic[V]):
    """What the store says of each run, asked again once it is a second old."""

    def __init__(
        self, find: Callable[[Sequence[str]], Mapping[str, V]], empty: V, clock: Callable[[], float]
    ) -> None:
        self._lookup = BatchedLookup(find)
        self._empty, self._clock = empty, clock
        self._values: dict[str, tuple[float, V]] = {}
        self._writes: dict[str, list[asyncio.Event]] = {}
        """By run, the end of each write to the store that is under way."""
        self._looks: dict[str, list[list[Callable[[V], V]]]] = {}
        """By run, for each look under way, the changes since it began."""

    async def get(self, run_id: str) -> V:
        """Return the value of a run, at most a second old, with what was changed here since."""
        if run_id not in self._values or self._is_stale(run_id):
            await self.look(run_id)
        return self._values[run_id][1]

    async def look(self, run_id: str) -> V:
        """Return what the store says, once it has all that was being written to it.

        What is changed here meanwhile may or may not be in it. It is added to the value that `get`
        returns, which would lose it otherwise, and not to what this returns.
        """
        since: list[Callable[[V], V]] = []
        self._looks.setdefault(run_id, []).append(since)
        try:
            for ended in tuple(self._writes.get(run_id, ())):
                await ended.wait()
            found = await self._lookup.get(run_id) or self._empty
        finally:
            _drop(self._looks, run_id, since)
        self._values = {k: v for k, v in self._values.items() if not self._is_stale(k)}
        value = reduce(lambda known, change: change(known), since, found)
        self._values[run_id] = (self._clock(), value)
        return found

    @contextmanager
    def writing(self, run_id: str, change: Callable[[V], V]) -> Iterator[None]:
        """Change the value of a run at once, while it is being written to the store."""
        ended = asyncio.Event()
        self._writes.setdefault(run_id, []).append(ended)
        for since in self._looks.get(run_id, ()):
            since.append(change)
        if run_id in self._values:
            at, value = self._values[run_id]
            self._values[run_id] = (at, change(value))
        try:
            yield
        finally:
            _drop(self._writes, run_id, ended)
            ended.set()

    def _is_stale(self, run_id: str) -> bool:
        return self._clock() - self._values[run_id][0] > FRESH_S


def _drop(lists: dict[str, list[T]], key: str, gone: T) -> None:
    """Take a thing, itself and not its equal, from the list of a key; the key with the last."""
    lists[key] = [each for each in lists[key] if each is not gone]
    if not lists[key]:
        del lists[key]


class CancellationCheck:
    """Knows which runs were cancelled."""

    def __init__(self, records: Records, *, clock: Callable[[], float]) -> None:
        def find(runs: Sequence[str]) -> dict[str, list[Cancellation]]:
            return {run: list(records.read(Cancellation, run_id=run)) for run in set(runs)}

        none: list[Cancellation] = []
        self._cancellations = _FreshValues(find, none, clock)
        self._ended_here: dict[str, Cancellation] = {}
        """By run, its last cancellation by this process, which the store may not have yet."""

    def end(self, cancellations: Sequence[Cancellation]) -> None:
        """Ask nothing more of the runs that this process has cancelled."""
        self._ended_here.update({each.run_id: each for each in cancellations})

    def ended_here(self, probe: Probe) -> bool:
        """Tell whether this process has cancelled the run of a probe after it was planned."""
        ended = self._ended_here.get(probe.run_id)
        return ended is not None and ended.ends(probe)

    async def check(self, probe: Probe) -> None:
        """Raise RunCancelled where the run of a probe was cancelled after it was planned."""
        if self.ended_here(probe):
            raise RunCancelled
        if any(each.ends(probe) for each in await self._cancellations.get(probe.run_id)):
            raise RunCancelled


class RunBudgets:
    """Knows what each run has spent: by the store, and at once what is spent here."""

    def __init__(
        self, calls: Calls, *, now: Callable[[], datetime], clock: Callable[[], float]
    ) -> None:
        self._spending = _FreshValues(calls.spending, RunSpending(), clock)
        self._now = now
        self._stopped_at: dict[str, datetime] = {}

    async def check(self, probe: Probe, *, priced: bool) -> None:
        """Raise BudgetSpent where the probe's run may spend no more."""
        if not why_stop(await self._spending.get(probe.run_id), priced=priced):
            return
        # Its budget may have been raised a moment ago: before it is refused, look again.
        spending = await self._spending.look(probe.run_id)
        if reason := why_stop(spending, priced=priced):
            raise BudgetSpent(reason)

    def adding(
        self, probe: Probe, tokens: int | None, cost: float | None
    ) -> AbstractContextManager[None]:
        """Add what was spent here at once, while the store is being told."""
        return self._spending.writing(
            probe.run_id,
            lambda known: replace(
                known,
                tokens=known.tokens + (tokens or 0),
                cost=known.cost + (cost or 0.0),
                unknown_tokens=known.unknown_tokens + (tokens is None),
                unknown_cost=known.unknown_cost + (cost is None),
            ),
        )

    def stop(
        self, probe: Probe, reason: str, detail: str | None = None
    ) -> tuple[Cancellation, ...]:
        """Return the record that stops the run, once for all probes planned until now."""
        stopped_at = self._stopped_at.get(probe.run_id)
        if stopped_at and probe.at <= stopped_at:
            return ()
        now = max(self._now(), probe.at)
        self._stopped_at[probe.run_id] = now
        stop = Cancellation(
            tenant=probe.tenant,
            purpose=probe.purpose,
            at=now,
            run_id=probe.run_id,
            moment_ms=int(now.timestamp() * 1000),
            reason=reason,
            detail=detail,
        )
        return (stop,)


def why_stop(spending: RunSpending, *, priced: bool) -> str | None:
    """Return the reason a run must stop: its budget is reached, or cannot be watched."""
    budget = spending.budget
    if budget.cost is not None and not priced:
        return "no_price"
    if budget.tokens is not None:
        if spending.unknown_tokens:
            return "usage_unknown"
        if spending.tokens >= budget.tokens:
            return "budget_spent"
    if budget.cost is not None:
        if spending.unknown_cost:
            return "no_price"
        if spending.cost >= budget.cost:
            return "budget_spent"
    return None
