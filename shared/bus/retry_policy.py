"""Decides about a record whose handling failed: retry, dead letter, or exit."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from biaswatch.shared.backoff import Backoff
from biaswatch.shared.bus.dead_letters import dead_letter_headers
from biaswatch.shared.bus.port import Consumer, Delivery, Publisher
from biaswatch.shared.bus.stage import Stage
from biaswatch.shared.bus.topology import dead_exchange_subject, dead_subject, durable_of
from biaswatch.shared.contracts import route_of
from biaswatch.shared.errors import (
    BackPressureError,
    BiaswatchError,
    ConfigurationError,
    PoisonError,
    TransientError,
    UsageError,
)
from biaswatch.shared.telemetry import HANDLED, LAST_SUCCESS, RepeatedWarning, log

MAX_REASON_LENGTH = 500
DEFAULT_BACKOFF = Backoff(first_s=1.0, max_s=60.0)


@dataclass(frozen=True)
class RetryPolicy:
    """How often and after which delays a record is delivered again."""

    transient_attempts: int = 20
    """Deliveries while something outside is unavailable: about a quarter of an hour."""
    unexpected_attempts: int = 8
    """Deliveries when the handler raises an unexpected error."""
    backoff: Backoff = DEFAULT_BACKOFF
    """Delays between deliveries, unless the other side asks for more."""


@dataclass(frozen=True)
class Retry:
    """Deliver it again, not before the delay has passed."""

    delay_s: float


@dataclass(frozen=True)
class GiveUp:
    """Copy it to the dead letters with the reason, then terminate it."""

    reason: str
    error: str
    transient: bool = False
    """True if something outside was unavailable for too long; otherwise the record is why."""


@dataclass(frozen=True)
class Exit:
    """Return the record to the bus and end the process: a person must change something first."""

    error: BiaswatchError


Decision = Retry | GiveUp | Exit


def decision_of(error: Exception, attempt: int, policy: RetryPolicy, jitter: float) -> Decision:
    """Decide what follows an error.

    Parameters
    ----------
    error
        What the handler, the decoder or the publisher raised.
    attempt
        Which delivery failed, counted from 1.
    jitter
        Uniform in [0, 1): spreads the retries of records that failed together.
    """
    if content_is_why(error):
        return GiveUp(_sentence(error), type(error).__name__)
    if isinstance(error, ConfigurationError):
        return Exit(error)
    transient = is_outage(error)
    attempts = policy.transient_attempts if transient else policy.unexpected_attempts
    if attempt >= attempts:
        reason = f"Given up after {attempt} attempts. The last one failed: {_sentence(error)}"
        return GiveUp(reason, type(error).__name__, transient)
    return Retry(delay_s(error, attempt, policy, jitter))


def content_is_why(error: Exception) -> bool:
    """Tell whether a record asks for something impossible, so that trying again cannot help.

    A UsageError below a handler is about what the record names: a run that is not in the store, or
    one in the archive. Other records are none the worse for it.
    """
    return isinstance(error, PoisonError | UsageError)


def is_outage(error: Exception) -> bool:
    """Tell whether something outside is unavailable for now."""
    lasting = isinstance(error, ConfigurationError) or content_is_why(error)
    return isinstance(error, BiaswatchError) and not lasting


def exhausted(attempt: int, policy: RetryPolicy) -> GiveUp | None:
    """Return GiveUp, before handling, for a record that was delivered too often."""
    if attempt <= policy.transient_attempts:
        return None
    return GiveUp(
        f"Delivered {attempt - 1} times and never acknowledged: its worker crashes or hangs on it.",
        "NeverSettled",
    )


def may_spoil_a_batch(error: Exception) -> bool:
    """Tell whether one record of a batch may have made the others fail."""
    return not isinstance(error, BiaswatchError) or content_is_why(error)


def is_planned_wait(error: Exception) -> bool:
    """Tell whether a stage waits for room on the bus, or for a requested delay."""
    requested = isinstance(error, TransientError) and error.retry_after_s is not None
    return requested or isinstance(error, BackPressureError)


def delay_s(error: Exception, attempt: int, policy: RetryPolicy, jitter: float) -> float:
    """Return the delay after a failed attempt, counted from 1; jitter is uniform in [0, 1)."""
    requested = error.retry_after_s if isinstance(error, TransientError) else None
    backoff = policy.backoff
    if requested:
        backoff = Backoff(min(requested, backoff.first_s), backoff.max_s)
    return max(requested or 0.0, backoff.delay_s(attempt, jitter))


def _sentence(error: Exception) -> str:
    """Return the error on one line: a line break would end the header that carries it."""
    text = " ".join(str(error).split())
    named = text if isinstance(error, BiaswatchError) else f"{type(error).__name__}: {text}"
    return named if len(named) <= MAX_REASON_LENGTH else named[: MAX_REASON_LENGTH - 1] + "…"


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
        """Return the subject of a dead letter; invalid records from outside have their own stream.

        Records from outside that failed in an outage are kept like all others; their number is
        bounded by the unacknowledged records of a durable.
        """
        service, durable = self._stage.service, self._stage.durable
        if self._from_outside and not decision.transient:
            return dead_exchange_subject(service, durable, delivery.subject)
        return dead_subject(service, durable)
