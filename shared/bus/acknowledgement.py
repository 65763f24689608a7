"""Acknowledging a record to the bus (ack, nak, term), and counting how it ended."""

from collections.abc import Callable, Sequence
from typing import Any

from biaswatch.shared.bus.dead_letters import dead_letter_headers
from biaswatch.shared.bus.port import Consumer, Delivery, Publisher
from biaswatch.shared.bus.retry_policy import Decision, GiveUp, Retry
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import dead_exchange_subject, dead_subject, durable_of
from biaswatch.shared.contracts import route_of
from biaswatch.shared.errors import BiaswatchError, PoisonError
from biaswatch.shared.telemetry import HANDLED, LAST_SUCCESS, RepeatedWarning, log

DEAD_LETTER_RETRY_S = 5.0


class Acknowledger:
    """Acknowledges the deliveries of one stage."""

    def __init__(
        self,
        stage: Stage[Any],
        consumer: Consumer,
        publisher: Publisher,
        clock: Callable[[], float],
    ) -> None:
        self.last_success_at: float | None = None
        self._stage = stage
        self._stream = durable_of(stage).stream
        self._from_outside = route_of(stage.reads).from_outside
        self._wrong_from_outside = RepeatedWarning(stage.name, "a dead letter from outside")
        self._consumer = consumer
        self._publisher = publisher
        self._clock = clock
        self._accepted = HANDLED.labels(stage.name, "accepted")
        for outcome in ("retried", "dead_letter"):
            # Export zero now: Prometheus sees no increase in a series that starts at 1.
            HANDLED.labels(stage.name, outcome)
        self._last_success = LAST_SUCCESS.labels(stage.name)

    async def ack(self, deliveries: Sequence[Delivery]) -> None:
        """Acknowledge what was handled and whose outputs the bus has taken."""
        await self._consumer.ack(*deliveries)
        self._accepted.inc(len(deliveries))
        self.last_success_at = self._clock()
        self._last_success.set(self.last_success_at)

    async def carry_out(self, decision: Decision, delivery: Delivery) -> None:
        """Answer for a delivery that failed, as decided."""
        if isinstance(decision, GiveUp):
            await self._dead_letter(decision, delivery)
        else:
            delay_s = decision.delay_s if isinstance(decision, Retry) else 0.0
            HANDLED.labels(self._stage.name, "retried").inc()
            await self._consumer.nak(delivery, delay_s)

    async def _dead_letter(self, decision: GiveUp, delivery: Delivery) -> None:
        """Copy first, terminate second: a crash in between leaves two copies, never none."""
        headers = dead_letter_headers(
            delivery,
            stream=self._stream,
            durable=self._stage.durable,
            error=decision.error,
            reason=decision.reason,
            at=self._clock(),
        )
        try:
            subject = self._dead_subject(decision, delivery)
            await self._publisher.publish_copy(subject, delivery.data, headers)
        except BiaswatchError as error:
            log(self._stage.name).error("a dead letter could not be written", why=str(error))
            await self._consumer.nak(delivery, DEAD_LETTER_RETRY_S)
            return
        HANDLED.labels(self._stage.name, "dead_letter").inc()
        where = {"subject": delivery.subject, "seq": delivery.sequence}
        if self._from_outside:  # who sends many of them fills no disk with lines
            self._wrong_from_outside.warn(PoisonError(decision.reason), **where)
        else:
            log(self._stage.name).error("dead letter", reason=decision.reason, **where)
        await self._consumer.term(delivery, decision.reason)

    def _dead_subject(self, decision: GiveUp, delivery: Delivery) -> str:
        """Return where a dead letter goes: what others sent wrongly does not lie with our own.

        What only waited in vain is no fault of theirs, and is kept like every other record; no more
        of it comes at once than a durable has in hand.
        """
        service, durable = self._stage.service, self._stage.durable
        if self._from_outside and not decision.transient:
            return dead_exchange_subject(service, durable, delivery.subject)
        return dead_subject(service, durable)
