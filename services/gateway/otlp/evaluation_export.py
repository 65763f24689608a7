"""Sends measurements back to the traces of their answers; nothing else ever waits for this."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Protocol

from biaswatch.services.gateway.otlp.evaluation_endpoint import NotReadable, Reply
from biaswatch.services.gateway.otlp.evaluations import evaluation_request, event_count
from biaswatch.shared.contracts import Features, Record
from biaswatch.shared.errors import TransientError
from biaswatch.shared.telemetry import EVALUATIONS, RepeatedWarning, log

OLDEST = timedelta(days=1)
"""What is older is no longer sent: few receivers take it, and its trace was looked at long ago."""
FIRST_PAUSE_S, LONGEST_PAUSE_S, LONGEST_ASKED_S = 1.0, 60.0, 3600.0


class OtlpReceiver(Protocol):
    """Where evaluations are sent."""

    async def post(self, request: bytes) -> Reply:
        """Send a request of OTLP; raise TransientError where it is not taken now."""


class EvaluationExport:
    """Handles features: those that have a span become events, which the endpoint takes in the end.

    While it takes none, a batch is held and tried again, so the durable keeps the rest and its
    place; a batch that is held when the service stops goes back to the bus.
    """

    def __init__(
        self,
        endpoint: OtlpReceiver,
        tenants: Collection[str],
        *,
        now: Callable[[], datetime],
        jitter: Callable[[], float],
    ) -> None:
        self._endpoint = endpoint
        self._tenants = tenants
        self._now = now
        self._jitter = jitter
        self._stopped = asyncio.Event()
        self._not_taken = RepeatedWarning("evaluations", "evaluations wait for their endpoint")
        for outcome in ("sent", "refused", "expired"):
            EVALUATIONS.labels(outcome)

    def stop(self) -> None:
        """Hold nothing any longer."""
        self._stopped.set()

    async def __call__(self, batch: Sequence[Features]) -> Sequence[Record]:
        """Send what belongs to a span; return when the endpoint has it, or it has become too old.

        Raises
        ------
        asyncio.CancelledError
            The service stops; nothing of the batch is settled.
        """
        waiting = [each for each in batch if each.span and each.tenant in self._tenants]
        attempts = 0
        while waiting := self._recent(waiting):
            try:
                reply = await self._endpoint.post(evaluation_request(waiting))
            except TransientError as error:
                self._not_taken.warn(error)
                await self._pause(pause_s(attempts, error.retry_after_s, self._jitter()))
                attempts += 1
            else:
                _count(reply, event_count(waiting))
                break
        return ()

    def _recent(self, waiting: Sequence[Features]) -> list[Features]:
        oldest = self._now() - OLDEST
        found = [each for each in waiting if each.at > oldest]
        recent, all_of_them = event_count(found), event_count(waiting)
        EVALUATIONS.labels("expired").inc(all_of_them - recent)
        return found

    async def _pause(self, seconds: float) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopped.wait()
        if self._stopped.is_set():
            raise asyncio.CancelledError


def pause_s(attempts: int, asked_s: float | None, jitter: float) -> float:
    """Return how long to wait after so many attempts before; it doubles up to a minute."""
    doubled = min(LONGEST_PAUSE_S, FIRST_PAUSE_S * 2.0 ** min(attempts, 20))
    return max(min(asked_s or 0.0, LONGEST_ASKED_S), doubled * (0.5 + jitter / 2))


def _count(reply: Reply, events: int) -> None:
    refused = events if isinstance(reply, NotReadable) else min(reply.rejected, events)
    EVALUATIONS.labels("sent").inc(events - refused)
    EVALUATIONS.labels("refused").inc(refused)
    if refused:
        why = reply.why if isinstance(reply, NotReadable) else "the endpoint has rejected them"
        log("evaluations").warning("evaluations are refused", events=refused, why=why)
