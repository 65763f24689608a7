"""Starts, costs and answers of calls, written to the store even while it is briefly unavailable."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any

from pydantic import BaseModel

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.contracts import Probe, derived_id
from biaswatch.shared.contracts.identity import id_beginning_with
from biaswatch.shared.contracts.probe import CONVERSATION
from biaswatch.shared.contracts.tools import ToolCall, ToolStep
from biaswatch.shared.errors import TransientError
from biaswatch.shared.llm.port import ModelAnswer
from biaswatch.shared.runtime.threads import BatchedLookup
from biaswatch.shared.store import Calls
from biaswatch.shared.store.calls import PaidCall
from biaswatch.shared.telemetry import RepeatedWarning

PARTS: Mapping[str, type[BaseModel]] = {"calls": ToolCall, "tool_steps": ToolStep}
"""Fields of an answer that hold parts of records."""
WRITE_BACKOFF = Backoff(first_s=0.1, max_s=5.0)


def call_id(probe: Probe, step: str, *attempt: int) -> str:
    """Return the id of a call, or of one attempt of it; it begins like the id of the probe.

    The id of the probe covers run, repeat and target, so every round makes new calls.
    """
    return id_beginning_with(probe.id_beginning, derived_id("call", probe.id, step, *attempt))


def answer_as_json(answer: ModelAnswer) -> dict[str, Any]:
    """Return an answer as JSON stores it."""
    fields = asdict(replace(answer, calls=(), tool_steps=()))
    for name in PARTS:
        fields[name] = [part.model_dump(mode="json") for part in getattr(answer, name)]
    return fields


def answer_in(fields: Mapping[str, Any]) -> ModelAnswer:
    """Return the answer of stored fields."""
    parts = {
        name: tuple(part.model_validate(value) for value in fields.get(name, ()))
        for name, part in PARTS.items()
    }
    return ModelAnswer(**{**fields, **parts})


class PaidCalls:
    """The paid calls of all probes; writes at the same time share a transaction."""

    def __init__(self, calls: Calls, *, now: Callable[[], datetime]) -> None:
        self._calls = calls
        self._now = now
        self._answers: BatchedLookup[Mapping[str, Any]] = BatchedLookup(calls.answers)
        self._writes: BatchedLookup[None] = BatchedLookup(self._write)
        self._starts: BatchedLookup[int] = BatchedLookup(self._count_starts)
        self._waiting: dict[str, PaidCall] = {}
        self._runs: dict[str, str] = {}
        self._unavailable = RepeatedWarning("generator", "a paid call waits for the store")

    async def get(self, probe: Probe, step: str) -> ModelAnswer | None:
        """Return the stored answer of a call, if there is one and it may be used."""
        if probe.fresh:
            return None
        fields = await self._answers.get(call_id(probe, step))
        return answer_in(fields) if fields else None

    async def reserve(self, probe: Probe, step: str) -> int:
        """Count a start of the call; return its starts until now, over all deliveries.

        Raises
        ------
        TransientError
            The store cannot be written. The call must not be made, as nothing would count it.
        """
        id_ = call_id(probe, step)
        self._runs[id_] = probe.run_id
        try:
            return await self._starts.get(id_) or 1
        finally:
            self._runs.pop(id_, None)

    async def release(self, probe: Probe, step: str) -> None:
        """Take back the start of a call that the target refused."""
        await asyncio.to_thread(self._calls.take_back, [call_id(probe, step)])

    async def record(
        self, probe: Probe, step: str, attempt: tuple[int, int], answer: ModelAnswer | None,
        cost: float | None, tokens: int | None,
    ) -> None:  # fmt: skip
        """Store the cost of one attempt and its answer; retry until the store has both."""
        # Later replies of a conversation depend on one that was cut off: it is kept, too.
        may_end = probe.scaffold == CONVERSATION
        reusable = answer is not None and (may_end or answer.finish_reason != "length")
        fields = answer_as_json(answer) if answer and reusable and not probe.fresh else None
        id_ = call_id(probe, step) if fields else call_id(probe, step, *attempt)
        self._waiting[id_] = PaidCall(id_, probe, tokens, cost, fields, self._now())
        failures = 0
        try:
            while True:
                try:
                    await self._writes.get(id_)
                except TransientError as error:
                    self._unavailable.warn(error)
                    failures += 1
                    await asyncio.sleep(WRITE_BACKOFF.delay_s(failures))
                else:
                    return
        finally:
            del self._waiting[id_]

    def _write(self, ids: Sequence[str]) -> Mapping[str, None]:
        self._calls.keep([self._waiting[id_] for id_ in ids])
        return {}

    def _count_starts(self, ids: Sequence[str]) -> Mapping[str, int]:
        return self._calls.begin({id_: self._runs[id_] for id_ in ids}, self._now())
