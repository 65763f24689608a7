"""Results of batches: recorded, settled, and used to respond to their probes."""

import asyncio
import tempfile
from collections.abc import Mapping
from itertools import islice
from typing import TypeVar

from biaswatch.services.generator.handlers.ask import Ask
from biaswatch.services.generator.handlers.batched_calls import outcome_as_json
from biaswatch.services.generator.handlers.caller import ModelCaller
from biaswatch.services.generator.handlers.endpoints import Endpoint
from biaswatch.services.generator.handlers.run_limits import RunCancelled
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Probe
from biaswatch.shared.llm.batches import BatchApi, BatchStatus, Outcome, unasked
from biaswatch.shared.llm.port import MAY_PASS, UNKNOWN_TOKENS, CallFailed, Failure, ModelAnswer
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Batches
from biaswatch.shared.store.batches import BatchedCall, CallBatch

AT_ONCE = 200
"""Results that are recorded, and probes that are responded to, at the same time."""
MAX_TRIES = 2
"""Batches that a call may be in, as long as each ended without asking it."""
MISSING = CallFailed(
    Failure.GARBAGE, "The results of the batch lack this question.", tokens=UNKNOWN_TOKENS
)

T = TypeVar("T")


class BatchResults:
    """Reads the results of batches. Every step can be repeated: a call is paid and settled once."""

    def __init__(self, batches: Batches, ask: Ask, caller: ModelCaller) -> None:
        self._batches = batches
        self._ask = ask
        self._caller = caller

    async def read(
        self, batch: CallBatch, status: BatchStatus, api: BatchApi, endpoint: Endpoint, *,
        cancelled: bool,
    ) -> None:  # fmt: skip
        """Record the results of an ended batch, and the calls without a result."""
        tries = MAX_TRIES + 1 if cancelled else MAX_TRIES
        with tempfile.TemporaryFile() as file:
            await api.results(status.id, file)
            file.seek(0)
            lines = api.read(file)
            while part := await in_thread(lambda: dict(islice(lines, AT_ONCE))):
                await self._settle(batch, part, endpoint, tries)
        lacking = unasked("no result") if status.cut_short else MISSING
        while calls := await in_thread(self._batches.lines, batch.id):
            await self._settle(batch, {call.id: lacking for call in calls}, endpoint, tries)
        await in_thread(self._batches.change, batch, ended=True, done=batch.requests)

    async def _settle(
        self, batch: CallBatch, outcomes: Mapping[str, Outcome], endpoint: Endpoint, tries: int
    ) -> None:
        """Record the costs of calls, then their outcomes; unasked calls wait again."""
        calls = await in_thread(self._batches.lines_of, batch.id, outcomes)
        again = {id_ for id_ in calls if _may_wait(calls[id_], outcomes[id_], tries)}
        settled = {id_: call for id_, call in calls.items() if id_ not in again}
        await asyncio.gather(
            *(self._record(call, outcomes[id_], endpoint) for id_, call in settled.items())
        )
        fields = {id_: outcome_as_json(outcomes[id_]) for id_ in settled}
        await in_thread(self._batches.settle, batch.id, fields)
        await in_thread(self._batches.wait_again, batch.id, again)

    async def _record(self, call: BatchedCall, outcome: Outcome, endpoint: Endpoint) -> None:
        failure = outcome.why if isinstance(outcome, CallFailed) else None
        endpoint.metrics.count_outcome(failure)
        if isinstance(outcome, ModelAnswer):
            self._caller.rejected.accept(call.probe)
        await self._caller.record(call.probe, call.step, endpoint, (1, call.tries + 1), outcome)

    async def respond(self, publisher: Publisher) -> None:
        """Publish the responses and calls that follow from unused outcomes."""
        while calls := await in_thread(self._batches.answered, AT_ONCE):
            probes: dict[str, tuple[Probe, list[str]]] = {}
            for call in calls:
                probes.setdefault(call.probe.id, (call.probe, []))[1].append(call.id)
            results = await asyncio.gather(
                *(self._respond(probe, ids, publisher) for probe, ids in probes.values()),
                return_exceptions=True,  # each ends before an error is raised
            )
            for error in results:
                if error is not None:
                    raise error

    async def _respond(self, probe: Probe, ids: list[str], publisher: Publisher) -> None:
        """Respond to one probe, or add its next calls; drop the calls of a cancelled run."""
        cancellation = self._caller.cancellation
        try:
            await cancellation.check(probe)
        except RunCancelled:  # answers are kept with the paid calls
            await in_thread(self._batches.drop, ids)
            return
        for record in await self._ask.resume(probe):
            await publisher.publish(record)
        rejected = cancellation.is_cancelled_here(probe)
        await in_thread(self._batches.drop if rejected else self._batches.use, ids)


def _may_wait(call: BatchedCall, outcome: Outcome, tries: int) -> bool:
    """Tell whether a call that cost nothing may be in another batch."""
    if isinstance(outcome, ModelAnswer) or outcome.tokens is not None:
        return False
    return outcome.why in MAY_PASS and call.tries + 1 < tries
