"""Production answers become responses for each monitor that watches, and are accounted for."""

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from biaswatch.services.gateway.traffic.watchers import (
    KnownWatchers,
    UnwatchedError,
    Watcher,
    counted,
    evaluated_span,
    response_of,
    unwatched,
    unwatched_system,
    without_position,
)
from biaswatch.shared.contracts import Exchange, Response, SentAnswer, taken_late, window_at
from biaswatch.shared.contracts.mistakes import first_mistake
from biaswatch.shared.errors import NotFoundError, PoisonError, UsageError
from biaswatch.shared.parsing.redaction import RedactedText
from biaswatch.shared.requests.traffic import (
    MAX_BATCH,
    MAX_CLOCK_SKEW,
    BatchHeader,
    Redaction,
    SentBatch,
    SentResponse,
    check_exchange,
    exchange_of,
    moment_in,
    redacted_exchange,
    sent_answer,
    traffic_window,
)
from biaswatch.shared.store import Store
from biaswatch.shared.telemetry import REDACTIONS

FEW = 8
FEW_CHARACTERS = 32 * 1024
"""So many answers, with so much text, take no longer than a thread does."""
PART_ANSWERS, PART_BYTES = 64, 1024 * 1024
"""What is published at once of a large batch ends at either."""


def drawn_number() -> int:
    """Draw the number of a batch: no two sendings of an answer are likely to have the same."""
    return secrets.randbits(43)


def are_few(sent: SentBatch) -> bool:
    """Return whether a batch takes no longer than a thread does."""
    if len(sent.responses) > FEW:
        return False
    texts = (
        (each.text, each.prompt, *(m.content for m in each.messages)) for each in sent.responses
    )
    return sum(len(text or "") for some in texts for text in some) <= FEW_CHARACTERS


def in_parts(exchanges: Iterable[Exchange]) -> Iterator[list[Exchange]]:
    """Yield the exchanges of a large batch, some at a time."""
    part, size = list[Exchange](), 0
    for exchange in exchanges:
        part.append(exchange)
        size += exchange.message_bytes()
        if len(part) == PART_ANSWERS or size >= PART_BYTES:
            yield part
            part, size = [], 0
    if part:
        yield part


class ExchangeIngestion:
    """Handles exchanges; it reads and writes the store, so it runs in a thread.

    Each answer is accounted for in the store before its response is on the bus, and the exchange
    is settled after that: a death in between repeats both, and changes nothing.
    """

    def __init__(
        self,
        store: Store,
        *,
        now: Callable[[], datetime],
        draw: Callable[[], int] = drawn_number,
        redaction: Redaction = RedactedText,
        evaluated_tenants: Collection[str] = (),
        watchers_s: float = 0.0,
    ) -> None:
        """Put the parts together; measurements of those tenants go back to the calls' spans.

        What is known of who watches is asked again after `watchers_s`.
        """
        self._watchers = KnownWatchers(store, fresh_s=watchers_s)
        self._store = store
        self._now = now
        self._draw = draw
        self._redaction = redaction
        self._evaluated_tenants = evaluated_tenants

    def exchanges_of(self, sent: SentBatch) -> list[Exchange]:
        """Return the records of a batch that was sent, each stamped with the moment of its intake.

        Raises
        ------
        NotFoundError
            No active monitor watches the system.
        UsageError
            One of the answers is wrong; the error names the first.
        """
        now = self._now()
        self._check_watched(sent, sent.responses, now)
        try:
            return self._all_records(sent, now)
        except ValueError as error:
            self._refuse_batch(sent, sent.responses, now)
            raise UsageError(str(error)) from None

    def parts_of(
        self, header: BatchHeader, answers: Callable[[], Iterable[SentResponse]]
    ) -> Iterator[list[Exchange]]:
        """Yield the records of a large batch, some at a time, after all answers were checked.

        `answers` reads the answers anew at each call, so that none of them has to stay in memory.

        Raises
        ------
        NotFoundError, UsageError
            As `exchanges_of`.
        """
        now, batch = self._now(), self._draw() * (MAX_BATCH + 1)
        self._check_watched(header, answers(), now)
        try:
            for _ in self._records(header, answers(), now, batch):
                pass
        except ValueError as error:
            self._refuse_batch(header, answers(), now)
            raise UsageError(str(error)) from None
        records = self._records(header, answers(), now, batch)
        yield from in_parts(self._redacted(record) for record in records)

    def _check_watched(
        self, header: BatchHeader, answers: Iterable[SentResponse], now: datetime
    ) -> None:
        """Account for the answers of a system without an active monitor, and raise."""
        watchers = self._watchers.of((self._store.tenant, header.source), history=header.history)
        if any(watcher.takes for watcher in watchers):
            return
        moments = [answer.at or now for answer in answers]
        self._refuse(moments, watchers, now)
        if watchers:
            raise NotFoundError(f"{unwatched('active monitor', header)}.")
        self._store.unwatched_answers.count(self._store.tenant, {header.source: len(moments)}, now)
        raise UnwatchedError(f"{unwatched('monitor', header)}. {counted(len(moments))}")

    def _refuse_batch(
        self, header: BatchHeader, answers: Iterable[SentResponse], now: datetime
    ) -> None:
        watchers = self._watchers.of((self._store.tenant, header.source), history=header.history)
        self._refuse([answer.at or now for answer in answers], watchers, now)

    def _all_records(self, sent: SentBatch, now: datetime) -> list[Exchange]:
        batch = self._draw() * (MAX_BATCH + 1)
        records = self._records(sent, sent.responses, now, batch)
        return [self._redacted(record) for record in records]

    def _records(
        self, header: BatchHeader, answers: Iterable[SentResponse], now: datetime, batch: int
    ) -> Iterator[Exchange]:
        """Yield the records of answers; raise ValueError with a sentence on a wrong one."""
        tenant = self._store.tenant
        for number, answer in enumerate(answers):
            try:
                yield exchange_of(
                    header.source,
                    answer,
                    now,
                    sending=batch + number,
                    history=header.history,
                    tenant=tenant,
                )
            except ValueError as error:
                raise ValueError(f"The response {answer.id!r}: {error}.") from None

    def exchanges_of_few(self, sent: SentBatch) -> list[Exchange] | None:
        """Return the records of a few answers, where nothing of it needs the store; or None."""
        if not are_few(sent) or not self._watchers.knows(
            (self._store.tenant, sent.source), sent.history
        ):
            return None
        try:
            return self._all_records(sent, self._now())
        except ValueError:
            return None

    def exchanges_one_by_one(
        self, source: str, answers: Sequence[Mapping[str, Any]]
    ) -> tuple[list[Exchange], list[str]]:
        """Return the records of at most `MAX_BATCH` answers, and why others are refused.

        Raises
        ------
        UnwatchedError
            No monitor watches the system, not even a paused one; whoever calls counts the answers.
        """
        tenant, now, batch = self._store.tenant, self._now(), self._draw() * (MAX_BATCH + 1)
        watchers = self._watchers.of((tenant, source), history=False)
        if not watchers:
            raise UnwatchedError(f"{unwatched_system('monitor', source)}.")
        if not any(each.takes for each in watchers):
            self._refuse([moment_in(fields, now) for fields in answers], watchers, now)
            return [], [f"{unwatched_system('active monitor', source)}."] * len(answers)
        found, wrong, moments = [], [], []
        for number, fields in enumerate(answers):
            try:
                sent = SentResponse.model_validate(fields)
                exchange = exchange_of(source, sent, now, sending=batch + number, tenant=tenant)
            except ValidationError as error:
                wrong.append(first_mistake(error).in_words("the answer"))
            except ValueError as error:
                wrong.append(f"{error}")
            else:
                found.append(self._redacted(exchange))
                continue
            moments.append(moment_in(fields, now))
        self._refuse(moments, watchers, now)
        return found, wrong

    def late(self, exchanges: Sequence[Exchange]) -> dict[str, int]:
        """Count, by monitor, the answers of one live system that come too late for their windows.

        The windows that are read this very moment are not known here; `monitor windows` tells.
        """
        if not exchanges:
            return {}
        first = exchanges[0]
        watchers = self._watchers.of((first.tenant, first.source), history=first.history)
        counted = Counter(
            monitor.name
            for monitor, traffic, _ in watchers
            for each in exchanges
            if taken_late(window_at(each.said_at, traffic.window_s), each.at, monitor)
        )
        return dict(counted)

    def __call__(self, batch: Sequence[Exchange]) -> Sequence[Response]:
        """Return a response for each exchange and each monitor that watches its system.

        What was sent before, and what came while a monitor was paused, is accounted for alone.

        Raises
        ------
        PoisonError
            No monitor, not even a paused one, watches the system of an exchange, or one is invalid.
        """
        batch = [self._redacted(each) for each in batch]  # the bus takes texts as they are
        systems = {(each.tenant, each.source, each.history) for each in batch}
        watchers = {
            (tenant, source, history): self._watchers.of((tenant, source), history=history)
            for tenant, source, history in systems
        }
        responses: dict[SentAnswer, Response] = {}
        refused: list[SentAnswer] = []
        for exchange in batch:
            watching = watchers[exchange.tenant, exchange.source, exchange.history]
            self._check(exchange, watching)
            for watcher, response in self._responses(exchange, watching):
                sent = sent_answer(exchange, watcher.monitor, watcher.traffic, response.id)
                if watcher.takes:
                    responses.setdefault(sent, response)
                else:
                    refused.append(sent)
        if refused:
            self._store.window_answers.refuse(refused)
        first = self._store.window_answers.take(list(responses)) if responses else {}
        return [
            each if first[sent.key].response_id == sent.response_id else without_position(each)
            for sent, each in responses.items()
            if sent.comes_first(first[sent.key])
        ]

    def _responses(
        self, exchange: Exchange, watching: Sequence[Watcher]
    ) -> Iterator[tuple[Watcher, Response]]:
        """Yield the response for each monitor; each extractor's evaluations go back from one."""
        told: set[str] | None = set() if exchange.tenant in self._evaluated_tenants else None
        for watcher in watching:
            evaluated = None
            if told is not None and watcher.takes:
                evaluated = evaluated_span(exchange, watcher.monitor, told)
                told |= set(watcher.monitor.plan.extractors)
            yield watcher, response_of(exchange, watcher.monitor, watcher.traffic, evaluated)

    def _redacted(self, exchange: Exchange) -> Exchange:
        redacted = redacted_exchange(exchange, self._redaction)
        for name, times in redacted.redacted.items():
            REDACTIONS.labels(name).inc(times - exchange.redacted.get(name, 0))
        return redacted

    def _check(self, exchange: Exchange, watchers: Sequence[Watcher]) -> None:
        if not watchers:
            raise PoisonError(f"{unwatched('monitor', exchange)}, then replay this exchange.")
        now = self._now()
        try:
            check_exchange(exchange, now)
        except ValueError as error:
            dated = exchange
            if exchange.said_at > now + MAX_CLOCK_SKEW:  # no window is for it: it came in this one
                dated = exchange.model_copy(update={"said_at": min(exchange.at, now)})
            answers = [sent_answer(dated, m, traffic, exchange.id) for m, traffic, _ in watchers]
            self._store.window_answers.refuse(answers)
            raise PoisonError(f"The exchange {exchange.key!r}: {error}.") from None

    def _refuse(
        self, moments: Sequence[datetime], watchers: Iterable[Watcher], now: datetime
    ) -> None:
        """Account for answers that are refused; what has no possible moment came now."""
        if not moments:
            return
        self._store.window_answers.count_refused(
            Counter(
                traffic_window(monitor, traffic, min(moment, now))
                for monitor, traffic, _ in watchers
                for moment in moments
            )
        )
