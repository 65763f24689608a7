"""Settling: what is said to the bus about a record, and what is counted when it is said."""

from collections.abc import Callable, Sequence
from typing import Any

from shared.bus.deadletters import dead_headers
from shared.bus.outcome import DeadLetter, Decision, Retry
from shared.bus.port import Delivery, Inbox, Publisher
from shared.bus.stage import Stage
from shared.bus.topology import dead_subject, durable_of
from shared.errors import BiaswatchError
from shared.telemetry import HANDLED, LAST_SUCCESS, log

RETRY_AFTER_FAILED_DEAD_LETTER_S = 5.0


class Settler:
    """Settles the deliveries of one stage."""

    def __init__(
        self, stage: Stage[Any], inbox: Inbox, publisher: Publisher, clock: Callable[[], float]
    ) -> None:
        self.last_success_at: float | None = None
        self._stage = stage
        self._stream = durable_of(stage).stream
        self._dead_subject = dead_subject(stage.service, stage.durable)
        self._inbox = inbox
        self._publisher = publisher
        self._clock = clock
        self._accepted = HANDLED.labels(stage.name, "accepted")
        for outcome in ("retried", "dead_letter"):
            # From nought on: Prometheus sees no increase in what begins with the first.
            HANDLED.labels(stage.name, outcome)
        self._last_success = LAST_SUCCESS.labels(stage.name)

    async def accept(self, deliveries: Sequence[Delivery]) -> None:
        """Settle what was handled and whose outputs the bus has taken."""
        for delivery in deliveries:
            await self._inbox.accept(delivery)
        self._accepted.inc(len(deliveries))
        self.last_success_at = self._clock()
        self._last_success.set(self.last_success_at)

    async def carry_out(self, decision: Decision, delivery: Delivery) -> None:
        """Settle what failed, as decided."""
        if isinstance(decision, DeadLetter):
            await self._bury(decision, delivery)
        else:
            delay_s = decision.delay_s if isinstance(decision, Retry) else 0.0
            HANDLED.labels(self._stage.name, "retried").inc()
            await self._inbox.put_back(delivery, delay_s)

    async def _bury(self, decision: DeadLetter, delivery: Delivery) -> None:
        """Copy first, terminate after: between the two a record stands twice, never nowhere."""
        headers = dead_headers(
            delivery,
            stream=self._stream,
            durable=self._stage.durable,
            error=decision.error,
            reason=decision.reason,
            at=self._clock(),
        )
        try:
            await self._publisher.publish_copy(self._dead_subject, delivery.data, headers)
        except BiaswatchError as error:
            log(self._stage.name).error("a dead letter could not be written", why=str(error))
            await self._inbox.put_back(delivery, RETRY_AFTER_FAILED_DEAD_LETTER_S)
            return
        HANDLED.labels(self._stage.name, "dead_letter").inc()
        log(self._stage.name).error(
            "dead letter", reason=decision.reason, subject=delivery.subject, seq=delivery.sequence
        )
        await self._inbox.terminate(delivery, decision.reason)
