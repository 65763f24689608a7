"""Answers that were recorded before: they are looked up; nothing is called, limited or paid for."""

from collections.abc import Callable
from datetime import datetime

from biaswatch.services.generator.domain.final_answers import final_answer
from biaswatch.services.generator.domain.model_calls import call_of
from biaswatch.services.generator.domain.outcome import UNFIT, answered, without
from biaswatch.services.generator.domain.questions import UnfitProbe
from biaswatch.services.generator.domain.recorded_steps import recorded_results
from biaswatch.services.generator.domain.scaffolds import ANSWER, CallResult, PlannedCall
from biaswatch.services.generator.handlers.budget_and_cancellation import CancellationCheck
from biaswatch.services.generator.handlers.caller import asked
from biaswatch.services.generator.handlers.endpoints import Endpoint
from biaswatch.shared.contracts import Probe, Response, Usage
from biaswatch.shared.llm.port import CallFailed

LOOKED_UP = Usage(calls=1, retries=0, latency_s=0.0)
AT_ONCE_S = 0.0
"""The time a look-up may take: it waits for nobody."""


class RecordedAnswers:
    """Answers probes from what was recorded, under any scaffold: that is the answer to it."""

    def __init__(self, cancellation: CancellationCheck, *, now: Callable[[], datetime]) -> None:
        self._cancellation = cancellation
        self._now = now

    async def of(self, probe: Probe, endpoint: Endpoint) -> Response:
        """Return the recorded answer with the steps to it, or why there is none.

        Raises
        ------
        RunCancelled
            The probe's run was cancelled.
        """
        await self._cancellation.check(probe)
        call = call_of(probe, PlannedCall(ANSWER, probe.messages), AT_ONCE_S)
        try:
            answer = await asked(endpoint.model, call)
        except CallFailed as failed:
            endpoint.metrics.looked_up(failed.why)
            return answered(probe, CallResult(failure=failed, usage=LOOKED_UP), self._now())
        endpoint.metrics.looked_up(None)
        try:
            steps = recorded_results(probe, answer.steps)
        except UnfitProbe as unfit:
            return without(probe, UNFIT, str(unfit), Usage(calls=0), self._now())
        return answered(probe, final_answer(answer, LOOKED_UP), self._now(), steps)
