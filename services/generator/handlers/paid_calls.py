"""What calls cost and brought: begun, counted and kept in the store, also while it blinks."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from biaswatch.shared.contracts import Probe, derived_id
from biaswatch.shared.contracts.identity import id_beginning_with
from biaswatch.shared.errors import TransientError
from biaswatch.shared.llm.port import ModelAnswer
from biaswatch.shared.runtime.blocking import BatchedLookup
from biaswatch.shared.store import Calls
from biaswatch.shared.store.calls import PaidCall
from biaswatch.shared.telemetry import RepeatedWarning

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0
"""Between two tries to write what was paid for."""


def call_id(probe: Probe, step: str) -> str:
    """Return a call's id; the probe's id covers run, repeat and target, so a new round is new."""
    return _id_of(probe, step)


def _id_of(probe: Probe, step: str, *try_: int) -> str:
    """Return the id of a call, or of one try of it: it begins like the probe's."""
    return id_beginning_with(probe.id_beginning, derived_id("call", probe.id, step, *try_))


class PaidCalls:
    """The paid calls of all probes; writes at the same time share a transaction."""

    def __init__(self, calls: Calls, *, now: Callable[[], datetime]) -> None:
        self._calls = calls
        self._now = now
        self._answers: BatchedLookup[Mapping[str, Any]] = BatchedLookup(calls.answers)
        self._writes: BatchedLookup[None] = BatchedLookup(self._write)
        self._begun: BatchedLookup[int] = BatchedLookup(self._begin)
        self._waiting: dict[str, PaidCall] = {}
        self._runs: dict[str, str] = {}
        self._away = RepeatedWarning("generator", "a paid call waits for the store")

    async def get(self, probe: Probe, step: str) -> ModelAnswer | None:
        """Return the answer that was paid for before, if there is one and it may be used."""
        if probe.fresh:
            return None
        found = await self._answers.get(call_id(probe, step))
        return ModelAnswer(**found) if found else None

    async def begin(self, probe: Probe, step: str) -> int:
        """Note that a call begins; return how often it has begun, over all deliveries.

        Raises
        ------
        TransientError
            The store cannot be written: the call must not be made, as nothing would count it.
        """
        id_ = call_id(probe, step)
        self._runs[id_] = probe.run_id
        try:
            return await self._begun.get(id_) or 1
        finally:
            self._runs.pop(id_, None)

    async def take_back(self, probe: Probe, step: str) -> None:
        """Note that a begun call was refused at the door: it may begin as often as before."""
        await asyncio.to_thread(self._calls.take_back, [call_id(probe, step)])

    async def put(
        self, probe: Probe, step: str, try_: tuple[int, int], answer: ModelAnswer | None,
        cost: float | None, tokens: int | None,
    ) -> None:  # fmt: skip
        """Count what one try cost and keep its answer; return once the store has both.

        What was paid for is in no other place, so the probe waits while the store is away.
        """
        answered = answer is not None and answer.finish_reason != "length" and not probe.fresh
        kept = asdict(answer) if answer and answered else None
        id_ = call_id(probe, step) if kept else _id_of(probe, step, *try_)
        self._waiting[id_] = PaidCall(id_, probe, tokens, cost, kept, self._now())
        pause_s = FIRST_PAUSE_S
        try:
            while True:
                try:
                    await self._writes.get(id_)
                except TransientError as error:
                    self._away.warn(error)
                    await asyncio.sleep(pause_s)
                    pause_s = min(LONGEST_PAUSE_S, 2 * pause_s)
                else:
                    return
        finally:
            del self._waiting[id_]

    def _write(self, ids: Sequence[str]) -> Mapping[str, None]:
        self._calls.keep([self._waiting[id_] for id_ in ids])
        return {}

    def _begin(self, ids: Sequence[str]) -> Mapping[str, int]:
        return self._calls.begin({id_: self._runs[id_] for id_ in ids}, self._now())
