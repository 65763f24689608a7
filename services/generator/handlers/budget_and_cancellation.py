"""Whether a run may go on: its budget is not reached, and nobody has cancelled it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Generic, TypeVar

from shared.contracts import Cancellation, Probe
from shared.runtime.blocking import BatchedLookup
from shared.store import Calls, Records
from shared.store.calls import RunSpending

FRESH_S = 1.0
"""How old an answer of the store may be: other replicas spend too, and runs are cancelled."""

V = TypeVar("V")


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

    async def get(self, run_id: str, *, anew: bool = False) -> V:
        if anew or run_id not in self._values or self._is_stale(run_id):
            found = await self._lookup.get(run_id) or self._empty
            self._values = {k: v for k, v in self._values.items() if not self._is_stale(k)}
            self._values[run_id] = (self._clock(), found)
        return self._values[run_id][1]

    def change(self, run_id: str, change: Callable[[V], V]) -> None:
        """Change the value of a run, if it is known here."""
        if run_id in self._values:
            at, value = self._values[run_id]
            self._values[run_id] = (at, change(value))

    def _is_stale(self, run_id: str) -> bool:
        return self._clock() - self._values[run_id][0] > FRESH_S


class CancellationCheck:
    """Knows which runs were cancelled."""

    def __init__(self, records: Records, *, clock: Callable[[], float]) -> None:
        def find(runs: Sequence[str]) -> dict[str, list[Cancellation]]:
            return {run: list(records.read(Cancellation, run_id=run)) for run in set(runs)}

        none: list[Cancellation] = []
        self._cancellations = _FreshValues(find, none, clock)

    async def check(self, probe: Probe) -> None:
        """Raise RunCancelled where the run of a probe was cancelled after it was planned."""
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
        spending = await self._spending.get(probe.run_id, anew=True)
        if reason := why_stop(spending, priced=priced):
            raise BudgetSpent(reason)

    def add(self, probe: Probe, tokens: int | None, cost: float | None) -> None:
        """Add what was spent here, before the store is asked again."""
        self._spending.change(
            probe.run_id,
            lambda known: replace(
                known,
                tokens=known.tokens + (tokens or 0),
                cost=known.cost + (cost or 0.0),
                unknown_tokens=known.unknown_tokens + (tokens is None),
                unknown_cost=known.unknown_cost + (cost is None),
            ),
        )

    def stop(self, probe: Probe, reason: str) -> tuple[Cancellation, ...]:
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
