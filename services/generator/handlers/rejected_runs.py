"""Stops runs whose first calls are all rejected by the provider."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from biaswatch.services.generator.handlers.run_limits import CancellationCheck, RunBudgets
from biaswatch.shared.contracts import Ending, Probe, Purpose, Record, Response
from biaswatch.shared.llm.port import MAY_PASS, Failure
from biaswatch.shared.lookup import first
from biaswatch.shared.runtime.threads import in_thread

MAX_REJECTED_CALLS = 20
"""Rejections, without any other outcome, after which a run is stopped."""
HELD_S = 2.0
"""Time that a rejected call waits for the other first calls of its run."""
MAX_RUNS = 10_000
"""Bound of runs in memory; the oldest is dropped first and then counted from zero."""
PROVIDER_ERRORS = "provider_errors"
"""The reason of the cancellation."""
REJECTED = frozenset({Failure.BAD_REQUEST.value, Failure.QUOTA.value, Failure.NO_LOGPROBS.value})
"""Failures that any other prompt of the run would meet as well."""
TEMPORARY = frozenset(failure.value for failure in MAY_PASS)


@dataclass
class RunStart:
    """The outcomes of the first calls of a run, in this process."""

    rejected: int = 0
    accepted: bool = False
    """True if the provider accepted a call of the run; then it is never stopped."""
    settled: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a call is accepted or the run is stopped."""

    def accept(self) -> None:
        """Record that the provider accepts calls of the run."""
        self.accepted = True
        self.settled.set()


class RejectedRuns:
    """Holds the first rejected calls of each run until one is accepted, or the run is stopped.

    Calls that were rejected before the run is stopped are not recorded, so that resuming the run
    makes them again. Each process counts its own calls; before it stops a run, it checks in the
    store whether another process got an answer.
    """

    def __init__(
        self,
        answered: Callable[[str], bool],
        budgets: RunBudgets,
        cancellation: CancellationCheck,
        *,
        held_s: float = HELD_S,
    ) -> None:
        self._answered = answered
        self._budgets = budgets
        self._cancellation = cancellation
        self._held_s = held_s
        self._starts: dict[str, RunStart] = {}

    async def wait_while_undecided(self, probe: Probe) -> None:
        """Wait while it is undecided whether the run of a probe is stopped."""
        start = self._starts.get(probe.run_id)
        if start is None or start.rejected < MAX_REJECTED_CALLS or start.accepted:
            return
        if probe.purpose is Purpose.STUDY:
            await start.settled.wait()

    def accept(self, probe: Probe) -> None:
        """Record that a call was answered, before its answer is stored."""
        if probe.purpose is Purpose.STUDY:
            self._start(probe.run_id).accept()

    async def records_of(self, response: Response) -> Sequence[Record]:
        """Return the records to publish: the response, or the cancellation of its run."""
        probe = response.probe
        if probe.purpose is not Purpose.STUDY:
            return [response]
        rejected = response.ending is Ending.FAILED and response.reason in REJECTED
        if self._cancellation.is_cancelled_here(probe):
            return [] if rejected else [response]
        start = self._start(probe.run_id)
        if start.accepted or response.reason in TEMPORARY:
            return [response]
        if not rejected:
            start.accept()
            return [response]
        start.rejected += 1
        if start.rejected == MAX_REJECTED_CALLS:
            return await self._stopped(response, start)
        return await self._held(response, start)

    async def _stopped(self, response: Response, start: RunStart) -> Sequence[Record]:
        probe = response.probe
        try:
            if await in_thread(self._answered, probe.run_id):
                start.accept()
        except BaseException:  # an outage of the store, or the process ends: later calls decide
            self._starts.pop(probe.run_id, None)
            start.settled.set()
            raise
        if start.accepted:
            return [response]
        cancellations = self._budgets.stop(probe, PROVIDER_ERRORS, response.detail)
        self._cancellation.cancel(cancellations)
        self._starts.pop(probe.run_id, None)
        start.settled.set()
        return cancellations

    async def _held(self, response: Response, start: RunStart) -> Sequence[Record]:
        with suppress(TimeoutError):
            async with asyncio.timeout(self._held_s):
                await start.settled.wait()
        return [] if self._cancellation.is_cancelled_here(response.probe) else [response]

    def _start(self, run_id: str) -> RunStart:
        if run_id not in self._starts and len(self._starts) >= MAX_RUNS:
            del self._starts[first(self._starts, "No run has started.")]
        return self._starts.setdefault(run_id, RunStart())
