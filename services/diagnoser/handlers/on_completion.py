"""What a completion leads to: the diagnosis of a run, or the evidence of a monitor's round."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from biaswatch.services.diagnoser.handlers.monitor_rounds import CloseRounds
from biaswatch.services.diagnoser.handlers.runs import DiagnoseRun
from biaswatch.shared.contracts import Completion, Features, Record, Run
from biaswatch.shared.errors import TransientError
from biaswatch.shared.runtime.arrival_forecast import ArrivalForecast
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store


class OnCompletion:
    """The handler of completions; it computes, so it runs in a thread."""

    def __init__(
        self,
        store: Store,
        diagnose: DiagnoseRun,
        watch: CloseRounds,
        *,
        now: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._diagnose = diagnose
        self._watch = watch
        self._forecast = ArrivalForecast(now)

    def __call__(self, completion: Completion) -> Sequence[Record]:
        """Return what follows from the closing of a run.

        Raises
        ------
        TransientError
            The recorder has not yet written everything the run closed with.
        """
        [run] = self._store.records.get(Run, [completion.run_id])
        if run.window is not None:  # it knows which features it needs, and gives up what is lost
            return self._watch(completion, run)
        there = self._store.records.count(Features, run_id=completion.run_id)
        if (missing := completion.arrived - there) > 0:
            raise TransientError(
                f"{missing} features of the run are not in the store yet.",
                retry_after_s=self._forecast.wait_s(completion.run_id, missing),
            )
        if run.monitor_id is None:
            return self._diagnose(completion, run)
        return self._watch(completion, run)

    def is_round(self, completion: Completion) -> bool:
        """Whether what has closed is the round of a monitor."""
        return any(run.monitor_id for run in self._store.records.get(Run, [completion.run_id]))


class CompletionsInTurn:
    """Hands completions on one at a time, rounds of monitors apart from runs.

    The rounds of a monitor are added up in their order. The diagnosis of a large run takes minutes,
    for which no monitor waits.
    """

    def __init__(
        self,
        handle: Callable[[Completion], Sequence[Record]],
        is_round: Callable[[Completion], bool],
    ) -> None:
        self._handle, self._is_round = handle, is_round
        self._rounds, self._runs = asyncio.Lock(), asyncio.Lock()
        self._looking = asyncio.Lock()

    async def __call__(self, completion: Completion) -> Sequence[Record]:
        """Return what the handler returns, once those of its kind before it are done."""
        async with self._looking:  # one after the other, so that they keep their order
            is_round = await in_thread(self._is_round, completion)
        async with self._rounds if is_round else self._runs:
            return await in_thread(self._handle, completion)
