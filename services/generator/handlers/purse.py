"""Watches what runs spend; one that has reached its budget is stopped, and may be resumed."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime

from shared.contracts import Cancellation, Probe
from shared.runtime.blocking import BatchedLookup
from shared.store import Calls
from shared.store.calls import RunSpending

FRESH_S = 1.0
"""How old an answer of the store may be: other replicas spend too, and runs are cancelled."""


class Spent(Exception):  # noqa: N818 - an outcome, not an accident
    """The probe's run may spend no more; the message is the reason, one word."""


def why_stop(spending: RunSpending) -> str | None:
    """Return the reason a run must stop: its budget is reached, or cannot be watched."""
    budget = spending.budget
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


class Purse:
    """Asks the store for sums once in a while, and adds what is spent here at once."""

    def __init__(
        self, calls: Calls, *, now: Callable[[], datetime], clock: Callable[[], float]
    ) -> None:
        self._lookup = BatchedLookup(calls.spending)
        self._now = now
        self._clock = clock
        self._seen: dict[str, tuple[float, RunSpending]] = {}
        self._told: dict[str, datetime] = {}

    async def check(self, probe: Probe, *, priced: bool) -> None:
        """Raise Spent where the probe's run may spend no more."""
        if not self._refusal(await self._of(probe.run_id), priced):
            return
        # Its budget may have been raised a moment ago: before it is refused, look again.
        if reason := self._refusal(await self._of(probe.run_id, anew=True), priced):
            raise Spent(reason)

    def _refusal(self, spending: RunSpending, priced: bool) -> str | None:
        if spending.budget.cost is not None and not priced:
            return "no_price"
        return why_stop(spending)

    def add(self, probe: Probe, tokens: int | None, cost: float | None) -> None:
        """Add what was spent here, before the store is asked again."""
        if probe.run_id not in self._seen:
            return
        at, known = self._seen[probe.run_id]
        self._seen[probe.run_id] = (
            at,
            replace(
                known,
                tokens=known.tokens + (tokens or 0),
                cost=known.cost + (cost or 0.0),
                unknown_tokens=known.unknown_tokens + (tokens is None),
                unknown_cost=known.unknown_cost + (cost is None),
            ),
        )

    def news(self, probe: Probe, reason: str) -> tuple[Cancellation, ...]:
        """Return the record that stops the run, once for all probes that were asked for by now."""
        told = self._told.get(probe.run_id)
        if told and probe.at <= told:
            return ()
        now = max(self._now(), probe.at)
        self._told[probe.run_id] = now
        stop = Cancellation(
            tenant=probe.tenant,
            purpose=probe.purpose,
            at=now,
            run_id=probe.run_id,
            moment_ms=int(now.timestamp() * 1000),
            reason=reason,
        )
        return (stop,)

    async def _of(self, run_id: str, *, anew: bool = False) -> RunSpending:
        if anew or run_id not in self._seen or self._stale(self._seen[run_id][0]):
            found = await self._lookup.get(run_id) or RunSpending()
            self._seen = {run: it for run, it in self._seen.items() if not self._stale(it[0])}
            self._seen[run_id] = (self._clock(), found)
        return self._seen[run_id][1]

    def _stale(self, at: float) -> bool:
        return self._clock() - at > FRESH_S
