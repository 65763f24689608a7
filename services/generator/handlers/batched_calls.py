"""Calls that are answered in batches: those that wait, and outcomes."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from biaswatch.services.generator.handlers.paid_calls import answer_as_json, answer_in, call_id
from biaswatch.shared.contracts import Probe
from biaswatch.shared.llm.batches import BatchedModel
from biaswatch.shared.llm.port import CallFailed, ChatModel, Failure, ModelAnswer
from biaswatch.shared.runtime.threads import BatchedLookup
from biaswatch.shared.store import Batches
from biaswatch.shared.store.batches import BatchedCall

WRITE_WINDOW_S = 0.01
"""Time to collect calls into one transaction."""


class WaitsForBatch(Exception):  # noqa: N818 - an outcome, not an accident
    """A call is in a batch or waits for one; its probe is handled again with the outcome."""


class BatchedCalls:
    """The calls of all targets in batches."""

    def __init__(self, batches: Batches, *, now: Callable[[], datetime]) -> None:
        self._batches = batches
        self._now = now
        self._outcomes: BatchedLookup[Mapping[str, Any]] = BatchedLookup(batches.outcomes)
        self._writes: BatchedLookup[None] = BatchedLookup(
            self._write, batch_window_s=WRITE_WINDOW_S
        )
        self._waiting: dict[str, BatchedCall] = {}

    async def outcome(self, probe: Probe, step: str) -> ModelAnswer | CallFailed | None:
        """Return the outcome of a call; None without the call or its outcome."""
        fields = await self._outcomes.get(call_id(probe, step))
        return None if fields is None else outcome_of(fields)

    async def add(self, probe: Probe, step: str, body: Mapping[str, Any]) -> None:
        """Add a call to the next batch, unless it is in one; raise TransientError."""
        id_ = call_id(probe, step)
        self._waiting[id_] = BatchedCall(id_, probe, step, json.dumps(dict(body)))
        try:
            await self._writes.get(id_)
        finally:
            self._waiting.pop(id_, None)

    def _write(self, ids: Sequence[str]) -> Mapping[str, None]:
        self._batches.add([self._waiting[id_] for id_ in ids], self._now())
        return {}


def batched_model(model: ChatModel) -> BatchedModel:
    """Return a model as one with batches; raise CallFailed if it has none."""
    if isinstance(model, BatchedModel):
        return model
    raise CallFailed(Failure.BAD_REQUEST, "The provider of the target has no batches.")


def outcome_as_json(outcome: ModelAnswer | CallFailed) -> dict[str, Any]:
    """Return an outcome as JSON."""
    if isinstance(outcome, ModelAnswer):
        return {"answer": answer_as_json(outcome)}
    return {"why": outcome.why.value, "detail": outcome.detail, "tokens": outcome.tokens}


def outcome_of(fields: Mapping[str, Any]) -> ModelAnswer | CallFailed:
    """Return the outcome that `outcome_as_json` wrote."""
    if "answer" in fields:
        return answer_in(fields["answer"])
    tokens = None if fields["tokens"] is None else (fields["tokens"][0], fields["tokens"][1])
    return CallFailed(Failure(fields["why"]), fields["detail"], tokens=tokens)
