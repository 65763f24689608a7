"""Paid answers are kept, so that a redelivery or a resumed run does not pay for them again."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from typing import Any

from shared.contracts import Probe, derived_id
from shared.errors import TransientError
from shared.llm.port import ModelAnswer
from shared.runtime.blocking import BatchedLookup
from shared.store import Calls
from shared.store.calls import PaidCall
from shared.telemetry import log


def call_id(probe: Probe, step: str) -> str:
    """Return a call's id; the probe's id covers run, repeat and target, so a new round is new."""
    return derived_id("call", probe.id, step)


class CallCache:
    """The answers of calls; writes at the same time share a transaction."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._answers: BatchedLookup[Mapping[str, Any]] = BatchedLookup(calls.answers)
        self._writes: BatchedLookup[None] = BatchedLookup(self._write)
        self._waiting: dict[str, PaidCall] = {}

    async def get(self, probe: Probe, step: str) -> ModelAnswer | None:
        """Return the answer that was paid for before, if there is one and it may be used."""
        if probe.fresh:
            return None
        found = await self._answers.get(call_id(probe, step))
        return ModelAnswer(**found) if found else None

    async def put(
        self, probe: Probe, step: str, answer: ModelAnswer | None, cost: float | None,
        tokens: int | None, at: datetime,
    ) -> None:  # fmt: skip
        """Keep what a call brought before it is published; a refusal only for its cost."""
        answered = answer is not None and answer.finish_reason != "length" and not probe.fresh
        kept = asdict(answer) if answer and answered else None
        id_ = call_id(probe, step) if kept else derived_id("call", probe.id, step, at.isoformat())
        self._waiting[id_] = PaidCall(id_, probe, tokens, cost, kept, at)
        try:
            await self._writes.get(id_)
        except TransientError as error:
            # The answer is in hand and goes on; only what a redelivery would have saved is lost.
            log("generator").warning("a paid call could not be kept", why=str(error))

    def _write(self, ids: Sequence[str]) -> Mapping[str, None]:
        self._calls.keep([self._waiting.pop(id_) for id_ in ids])
        return {}
