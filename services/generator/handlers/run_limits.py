"""Limits of a run: its budget and its cancellation."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime

from biaswatch.shared.contracts import Cancellation, Probe
from biaswatch.shared.runtime.threads import BatchedLookup
from biaswatch.shared.store import Calls, Records
from biaswatch.shared.store.calls import RunSpending

MAX_AGE_S = 1.0
"""Maximum age of cached spending and cancellations; other processes change them as well."""


class BudgetSpent(Exception):  # noqa: N818 - an outcome, not an accident
    """The run of a probe may spend no more; the message is the reason, one word."""


class RunCancelled(Exception):  # noqa: N818 - an outcome, not an accident
    """The run of a probe was cancelled."""


class CancellationCheck:
    """Checks whether runs were cancelled; results are cached for a second."""

    def __init__(self, records: Records, *, clock: Callable[[], float]) -> None:
        def find(runs: Sequence[str]) -> dict[str, list[Cancellation]]:
            return {run: list(records.read(Cancellation, run_id=run)) for run in set(runs)}

        self._lookup = BatchedLookup(find)
        self._clock = clock
        self._cache: dict[str, tuple[float, list[Cancellation]]] = {}
        self._cancelled_here: dict[str, Cancellation] = {}
        """The last cancellation of a run by this process; the store may not have it yet."""

    def cancel(self, cancellations: Sequence[Cancellation]) -> None:
        """Apply cancellations that this process publishes."""
        self._cancelled_here.update({record.run_id: record for record in cancellations})

    def is_cancelled_here(self, probe: Probe) -> bool:
        """Tell whether this process cancelled the run of a probe after the probe was planned."""
        cancellation = self._cancelled_here.get(probe.run_id)
        return cancellation is not None and cancellation.ends(probe)

    async def check(self, probe: Probe) -> None:
        """Raise RunCancelled if the run of a probe was cancelled after the probe was planned."""
        if self.is_cancelled_here(probe):
            raise RunCancelled
        if any(record.ends(probe) for record in await self._cancellations(probe.run_id)):
            raise RunCancelled

    async def _cancellations(self, run_id: str) -> list[Cancellation]:
        oldest = self._clock() - MAX_AGE_S
        if (entry := self._cache.get(run_id)) and entry[0] >= oldest:
            return entry[1]
        records = await self._lookup.get(run_id) or []
        self._cache = {run: entry for run, entry in self._cache.items() if entry[0] >= oldest}
        self._cache[run_id] = (self._clock(), records)
        return records


@dataclass(eq=False)
class _Read:
    """A query of the spending of a run while it is under way."""

    added: RunSpending = field(default_factory=RunSpending)
    """The amounts that were added since it started; its result may lack them."""


class _CachedSpending:
    """The spending of one run: the sums in the store, and what this process adds to them."""

    def __init__(self) -> None:
        self.value = RunSpending()
        self.read_at = float("-inf")
        self._reads: set[_Read] = set()
        self._writes: set[asyncio.Event] = set()
        """Set when the write to the store is finished."""

    @property
    def is_busy(self) -> bool:
        """True if a query or a write is under way."""
        return bool(self._reads or self._writes)

    @contextmanager
    def adding(self, amount: RunSpending) -> Iterator[None]:
        """Add an amount at once, while the body of the context stores it."""
        self.value = self.value.plus(amount)
        for read in self._reads:
            read.added = read.added.plus(amount)
        written = asyncio.Event()
        self._writes.add(written)
        try:
            yield
        finally:
            self._writes.remove(written)
            written.set()

    async def read(
        self, run_id: str, lookup: BatchedLookup[RunSpending], clock: Callable[[], float]
    ) -> RunSpending:
        """Return the sums in the store after all writes that are under way.

        Amounts that are added during the query may be in its result already. They are added to
        `value`, which would lose them otherwise, and not to what this method returns.
        """
        read = _Read()
        self._reads.add(read)
        try:
            for written in tuple(self._writes):
                await written.wait()
            stored = await lookup.get(run_id) or RunSpending()
        finally:
            self._reads.remove(read)
        self.value, self.read_at = stored.plus(read.added), clock()
        return stored


class RunBudgets:
    """Checks the spending of runs: the sums in the store plus what this process adds."""

    def __init__(
        self, calls: Calls, *, now: Callable[[], datetime], clock: Callable[[], float]
    ) -> None:
        self._lookup = BatchedLookup(calls.spending)
        self._now, self._clock = now, clock
        self._runs: dict[str, _CachedSpending] = {}
        self._stopped_at: dict[str, datetime] = {}

    async def check(self, probe: Probe, *, priced: bool) -> None:
        """Raise BudgetSpent if the run of a probe may spend no more."""
        run = self._run(probe.run_id)
        if self._is_stale(run):
            await run.read(probe.run_id, self._lookup, self._clock)
            self._forget_stale()
        if not why_stop(run.value, priced=priced):
            return
        # The budget may have been raised since: read it again before refusing.
        spending = await run.read(probe.run_id, self._lookup, self._clock)
        if reason := why_stop(spending, priced=priced):
            raise BudgetSpent(reason)

    @contextmanager
    def adding(self, probe: Probe, tokens: int | None, cost: float | None) -> Iterator[None]:
        """Count the cost of a call at once, while the body of the context stores it."""
        amount = RunSpending(tokens or 0, cost or 0.0, int(tokens is None), int(cost is None))
        with self._run(probe.run_id).adding(amount):
            yield

    def stop(
        self, probe: Probe, reason: str, detail: str | None = None
    ) -> tuple[Cancellation, ...]:
        """Return the record that stops the run, once for all probes planned until now."""
        stopped_at = self._stopped_at.get(probe.run_id)
        if stopped_at and probe.at <= stopped_at:
            return ()
        now = max(self._now(), probe.at)
        self._stopped_at[probe.run_id] = now
        cancellation = Cancellation(
            tenant=probe.tenant,
            purpose=probe.purpose,
            at=now,
            run_id=probe.run_id,
            moment_ms=int(now.timestamp() * 1000),
            reason=reason,
            detail=detail,
        )
        return (cancellation,)

    def _run(self, run_id: str) -> _CachedSpending:
        return self._runs.setdefault(run_id, _CachedSpending())

    def _is_stale(self, run: _CachedSpending) -> bool:
        return self._clock() - run.read_at > MAX_AGE_S

    def _forget_stale(self) -> None:
        self._runs = {
            run_id: run
            for run_id, run in self._runs.items()
            if run.is_busy or not self._is_stale(run)
        }


def why_stop(spending: RunSpending, *, priced: bool) -> str | None:
    """Return the reason to stop a run: its budget is reached or cannot be checked; else None."""
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
