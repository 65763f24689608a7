"""Stops a run whose first calls the provider rejects, one and all."""

from collections.abc import Callable
from dataclasses import dataclass

from services.generator.handlers.budget_and_cancellation import CancellationCheck, RunBudgets
from shared.contracts import Cancellation, Ending, Purpose, Response
from shared.llm.port import MAY_PASS, Failure
from shared.runtime.blocking import in_thread

MAX_REJECTED_CALLS = 20
"""A run whose first calls are rejected this often, without any other outcome, is stopped."""
MAX_RUNS = 10_000
"""Runs that are counted at once; the oldest is forgotten, and counted anew."""
PROVIDER_ERRORS = "provider_errors"
"""The reason of the cancellation."""
REJECTED = frozenset({Failure.BAD_REQUEST.value, Failure.QUOTA.value})
"""Reasons that another prompt of the run would have as well."""
_TEMPORARY = frozenset(failure.value for failure in MAY_PASS)


@dataclass
class RunStart:
    """What the first calls of a run came to, in this process."""

    rejected: int = 0
    accepted: bool = False
    """Whether the provider has accepted a call of the run; then it is never stopped."""


class RejectedRuns:
    """Counts rejected calls of each run until one is accepted.

    Each process counts what it asks; before it stops a run, it looks whether another process has
    had an answer. A run that is taken up again is counted anew.
    """

    def __init__(
        self, answered: Callable[[str], bool], budgets: RunBudgets, cancellation: CancellationCheck
    ) -> None:
        self._answered = answered
        self._budgets = budgets
        self._cancellation = cancellation
        self._starts: dict[str, RunStart] = {}

    async def after(self, response: Response) -> tuple[Cancellation, ...]:
        """Count an outcome; return the record that stops its run once enough are rejected."""
        probe = response.probe
        if probe.purpose is not Purpose.STUDY or self._cancellation.ended_here(probe):
            return ()
        start = self._start(probe.run_id)
        if start.accepted or response.reason in _TEMPORARY:
            return ()
        if response.ending is not Ending.FAILED or response.reason not in REJECTED:
            start.accepted = True
            return ()
        start.rejected += 1
        if start.rejected != MAX_REJECTED_CALLS:
            return ()
        if await in_thread(self._answered, probe.run_id):
            start.accepted = True
            return ()
        self._starts.pop(probe.run_id, None)
        stop = self._budgets.stop(probe, PROVIDER_ERRORS, response.detail)
        self._cancellation.end(stop)
        return stop

    def _start(self, run_id: str) -> RunStart:
        if run_id not in self._starts and len(self._starts) >= MAX_RUNS:
            del self._starts[next(iter(self._starts))]
        return self._starts.setdefault(run_id, RunStart())
