"""Turn production answers into exchanges, and exchanges into responses for each monitor."""

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from biaswatch.services.gateway.traffic.refusals import RefusedAnswers
from biaswatch.services.gateway.traffic.watchers import (
    UnwatchedError,
    Watcher,
    WatcherCache,
    evaluated_span,
    response_of,
    unwatched_system,
    without_position,
)
from biaswatch.shared.contracts import (
    Exchange,
    Response,
    SentAnswer,
    first_mistake,
    taken_late,
    window_at,
)
from biaswatch.shared.errors import UsageError
from biaswatch.shared.parsing.redaction import RedactedText
from biaswatch.shared.requests.traffic import (
    MAX_BATCH,
    BatchHeader,
    Redaction,
    SentBatch,
    SentResponse,
    exchange_of,
    moment_in,
    redacted_exchange,
    sent_answer,
)
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import REDACTIONS

SMALL_BATCH_ANSWERS, SMALL_BATCH_CHARACTERS = 8, 32 * 1024
"""Batch up to which handling takes no longer than switching to a thread."""
PART_ANSWERS, PART_BYTES = 64, 1024 * 1024
"""A part of a large batch is published when it reaches either."""


def random_batch_number() -> int:
    """Return a number that no two sendings of an answer are likely to share."""
    return secrets.randbits(43)


class ExchangeIngestion:
    """Handles exchanges; it uses the store, so it runs in a thread.

    Each answer is accounted for in the store before its response is on the bus, and the exchange
    is acknowledged after that: if the process ends in between, both are repeated without effect.
    """

    def __init__(
        self,
        store: Store,
        *,
        now: Callable[[], datetime],
        batch_number: Callable[[], int] = random_batch_number,
        redaction: Redaction = RedactedText,
        evaluated_tenants: Collection[str] = (),
        watchers_ttl_s: float = 0.0,
    ) -> None:
        """Handle exchanges, and cache the monitors of live systems for `watchers_ttl_s`.

        Measurements of `evaluated_tenants` go back to the spans of their calls.
        """
        self._watchers = WatcherCache(store, ttl_s=watchers_ttl_s)
        self._refusals = RefusedAnswers(store, self._watchers)
        self._store = store
        self._now = now
        self._batch_number = batch_number
        self._redaction = redaction
        self._evaluated_tenants = evaluated_tenants

    def exchanges_of(self, batch: SentBatch) -> list[Exchange]:
        """Return the exchanges of a batch, stamped with the time of intake.

        Raises
        ------
        NotFoundError
            No active monitor watches the system.
        UsageError
            An answer is wrong; the message names the first.
        """
        now = self._now()
        self._refusals.check_watched(batch, batch.responses, now)
        try:
            return self._redacted_exchanges(batch, now)
        except ValueError as error:
            self._refusals.refuse_batch(batch, batch.responses, now)
            raise UsageError(str(error)) from None

    def parts_of(
        self, header: BatchHeader, answers: Callable[[], Iterable[SentResponse]]
    ) -> Iterator[list[Exchange]]:
        """Yield the exchanges of a large batch in parts, after all answers were checked.

        `answers` reads the answers again at each call, so that they need not stay in memory.

        Raises
        ------
        NotFoundError, UsageError
            As `exchanges_of`.
        """
        now, first_sending = self._now(), self._first_sending()
        self._refusals.check_watched(header, answers(), now)
        try:
            for _ in self._exchanges(header, answers(), now, first_sending):
                pass
        except ValueError as error:
            self._refusals.refuse_batch(header, answers(), now)
            raise UsageError(str(error)) from None
        part, size = list[Exchange](), 0
        for exchange in self._exchanges(header, answers(), now, first_sending):
            part.append(self._redacted(exchange))
            size += part[-1].message_bytes()
            if len(part) == PART_ANSWERS or size >= PART_BYTES:
                yield part
                part, size = [], 0
        if part:
            yield part

    def exchanges_of_small(self, batch: SentBatch) -> list[Exchange] | None:
        """Return the exchanges of a small correct batch of a cached system, else None.

        It needs no query, so it may run in the event loop.
        """
        system = (self._store.tenant, batch.source)
        if not _is_small(batch) or not self._watchers.is_cached(system, batch.history):
            return None
        try:
            return self._redacted_exchanges(batch, self._now())
        except ValueError:
            return None

    def exchanges_one_by_one(
        self, source: str, answers: Sequence[Mapping[str, Any]]
    ) -> tuple[list[Exchange], list[str]]:
        """Return the exchanges of at most `MAX_BATCH` answers, and why others are refused.

        Raises
        ------
        UnwatchedError
            No monitor watches the system, not even a paused one; the caller counts the answers.
        """
        tenant, now, first_sending = self._store.tenant, self._now(), self._first_sending()
        watchers = self._watchers.of((tenant, source), history=False)
        if not watchers:
            raise UnwatchedError(f"{unwatched_system('monitor', source)}.")
        if not any(watcher.accepts for watcher in watchers):
            self._refusals.refuse([moment_in(fields, now) for fields in answers], watchers, now)
            return [], [f"{unwatched_system('active monitor', source)}."] * len(answers)
        exchanges, reasons, moments = [], [], []
        for number, fields in enumerate(answers, first_sending):
            try:
                answer = SentResponse.model_validate(fields)
                exchange = exchange_of(source, answer, now, sending=number, tenant=tenant)
            except ValidationError as error:
                reasons.append(first_mistake(error).in_words("the answer"))
                moments.append(moment_in(fields, now))
            except ValueError as error:
                reasons.append(str(error))
                moments.append(moment_in(fields, now))
            else:
                exchanges.append(self._redacted(exchange))
        self._refusals.refuse(moments, watchers, now)
        return exchanges, reasons

    def late(self, exchanges: Sequence[Exchange]) -> dict[str, int]:
        """Count the answers of one live system that are late for their windows, by monitor.

        Windows that are being closed now are not considered, and answers that were sent before
        count as late, too; `monitor show --windows` is exact.
        """
        if not exchanges:
            return {}
        first = exchanges[0]
        watchers = self._watchers.of((first.tenant, first.source), history=first.history)
        late = Counter(
            monitor.name
            for monitor, traffic, _ in watchers
            for exchange in exchanges
            if taken_late(window_at(exchange.said_at, traffic.window_s), exchange.at, monitor)
        )
        return dict(late)

    def __call__(self, batch: Sequence[Exchange]) -> Sequence[Response]:
        """Return a response for each exchange and each monitor of its system.

        Repeated answers, and answers while a monitor was paused, are only accounted for.

        Raises
        ------
        PoisonError
            An exchange is invalid, or no monitor, not even a paused one, watches its system.
        """
        batch = [self._redacted(exchange) for exchange in batch]  # clients may publish on the bus
        systems = {(exchange.tenant, exchange.source, exchange.history) for exchange in batch}
        watchers = {
            (tenant, source, history): self._watchers.of((tenant, source), history=history)
            for tenant, source, history in systems
        }
        responses: dict[SentAnswer, Response] = {}
        refused: list[SentAnswer] = []
        for exchange in batch:
            watching = watchers[exchange.tenant, exchange.source, exchange.history]
            self._refusals.check(exchange, watching, self._now())
            for watcher, response in self._responses(exchange, watching):
                answer = sent_answer(exchange, watcher.monitor, watcher.traffic, response.id)
                if watcher.accepts:
                    responses.setdefault(answer, response)
                else:
                    refused.append(answer)
        if refused:
            self._store.window_answers.refuse(refused)
        first = self._store.window_answers.take(list(responses)) if responses else {}
        return [
            response
            if first[answer.key].response_id == answer.response_id
            else without_position(response)
            for answer, response in responses.items()
            if answer.comes_first(first[answer.key])
        ]

    def _responses(
        self, exchange: Exchange, watching: Sequence[Watcher]
    ) -> Iterator[tuple[Watcher, Response]]:
        """Yield the response for each monitor; one of them sends evaluations of an extractor."""
        evaluates = exchange.tenant in self._evaluated_tenants
        covered: set[str] = set()
        for watcher in watching:
            evaluated = None
            if evaluates and watcher.accepts:
                evaluated = evaluated_span(exchange, watcher.monitor, covered)
                covered |= set(watcher.monitor.plan.extractors)
            yield watcher, response_of(exchange, watcher.monitor, watcher.traffic, evaluated)

    def _first_sending(self) -> int:
        return self._batch_number() * (MAX_BATCH + 1)

    def _redacted_exchanges(self, batch: SentBatch, now: datetime) -> list[Exchange]:
        exchanges = self._exchanges(batch, batch.responses, now, self._first_sending())
        return [self._redacted(exchange) for exchange in exchanges]

    def _exchanges(
        self,
        header: BatchHeader,
        answers: Iterable[SentResponse],
        now: datetime,
        first_sending: int,
    ) -> Iterator[Exchange]:
        """Yield the exchanges of answers; raise ValueError with a sentence for a wrong one."""
        for sending, answer in enumerate(answers, first_sending):
            try:
                yield exchange_of(
                    header.source,
                    answer,
                    now,
                    sending=sending,
                    history=header.history,
                    tenant=self._store.tenant,
                )
            except ValueError as error:
                raise ValueError(f"The response {answer.id!r}: {error}.") from None

    def _redacted(self, exchange: Exchange) -> Exchange:
        redacted = redacted_exchange(exchange, self._redaction)
        for name, count in redacted.redacted.items():
            REDACTIONS.labels(name).inc(count - exchange.redacted.get(name, 0))
        return redacted


def _is_small(batch: SentBatch) -> bool:
    if len(batch.responses) > SMALL_BATCH_ANSWERS:
        return False
    characters = sum(
        len(answer.text or "")
        + len(answer.prompt or "")
        + sum(len(message.content) for message in answer.messages)
        for answer in batch.responses
    )
    return characters <= SMALL_BATCH_CHARACTERS
