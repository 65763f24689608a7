"""Production answers become responses for each monitor that watches, and are accounted for."""

import secrets
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from services.gateway.traffic.requests import (
    MAX_BATCH,
    MAX_CLOCK_SKEW,
    Redaction,
    SentBatch,
    SentResponse,
    check_exchange,
    exchange_of,
    redacted_exchange,
    sent_answer,
    traffic_window,
)
from services.gateway.traffic.responses import evaluated_span, response_of, without_position
from services.gateway.traffic.watchers import KnownWatchers, Watcher
from shared.contracts import Exchange, Response, SentAnswer, taken_late, window_at
from shared.contracts.mistakes import first_mistake
from shared.errors import NotFoundError, PoisonError, UsageError
from shared.parsing.redaction import RedactedText
from shared.store import Store
from shared.telemetry import REDACTIONS

FEW = 8
FEW_CHARACTERS = 32 * 1024
"""So many answers, with so much text, take no longer than a thread does."""


def _drawn() -> int:
    """Draw the number of a batch: no two sendings of an answer are likely to have the same."""
    return secrets.randbits(43)


class UnwatchedError(NotFoundError):
    """No monitor watches the live system that answers were sent of, not even a paused one."""


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
        draw: Callable[[], int] = _drawn,
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
        tenant = self._store.tenant
        watchers = self._watchers.of((tenant, sent.source), history=sent.history)
        now = self._now()
        if not any(each.takes for each in watchers):
            moments = [each.at or now for each in sent.responses]
            self._refuse(moments, watchers, now)
            if watchers:
                raise NotFoundError(f"{_unwatched('active monitor', sent)}.")
            self._store.unwatched_answers.count(tenant, {sent.source: len(moments)}, now)
            raise UnwatchedError(f"{_unwatched('monitor', sent)}. {_counted(len(moments))}")
        try:
            return self._records(sent)
        except ValueError as error:
            self._refuse([each.at or now for each in sent.responses], watchers, now)
            raise UsageError(str(error)) from None

    def _records(self, sent: SentBatch) -> list[Exchange]:
        """Return the records of answers; raise ValueError with a sentence on a wrong one."""
        tenant, now, found = self._store.tenant, self._now(), []
        batch = self._draw() * (MAX_BATCH + 1)
        for number, each in enumerate(sent.responses):
            try:
                exchange = exchange_of(
                    sent.source,
                    each,
                    now,
                    sending=batch + number,
                    history=sent.history,
                    tenant=tenant,
                )
            except ValueError as error:
                raise ValueError(f"The response {each.id!r}: {error}.") from None
            found.append(self._redacted(exchange))
        return found

    def exchanges_of_few(self, sent: SentBatch) -> list[Exchange] | None:
        """Return the records of a few answers, where nothing of it needs the store; or None."""
        if not _are_few(sent) or not self._watchers.knows(
            (self._store.tenant, sent.source), sent.history
        ):
            return None
        try:
            return self._records(sent)
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
            raise UnwatchedError(f"{_unwatched_system('monitor', source)}.")
        if not any(each.takes for each in watchers):
            self._refuse([_moment_in(fields, now) for fields in answers], watchers, now)
            return [], [f"{_unwatched_system('active monitor', source)}."] * len(answers)
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
            moments.append(_moment_in(fields, now))
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
            raise PoisonError(f"{_unwatched('monitor', exchange)}, then replay this exchange.")
        now = self._now()
        try:
            check_exchange(exchange, now)
        except ValueError as error:
            dated = exchange
            if exchange.said_at > now + MAX_CLOCK_SKEW:  # no window is for it: it came in this one
                dated = exchange.model_copy(update={"said_at": min(exchange.at, now)})
            self._store.window_answers.refuse(
                [
                    sent_answer(dated, monitor, traffic, exchange.id)
                    for monitor, traffic, _ in watchers
                ]
            )
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


def _are_few(sent: SentBatch) -> bool:
    if len(sent.responses) > FEW:
        return False
    texts = (
        (each.text, each.prompt, *(m.content for m in each.messages)) for each in sent.responses
    )
    return sum(len(text or "") for some in texts for text in some) <= FEW_CHARACTERS


def _moment_in(fields: Mapping[str, Any], now: datetime) -> datetime:
    said_at = fields.get("at")
    return said_at if isinstance(said_at, datetime) else now


def _counted(answers: int) -> str:
    which = f"These {answers} answers are" if answers > 1 else "This answer is"
    return f"{which} counted as unwatched, and not kept."


def _unwatched(who: str, sent: SentBatch | Exchange) -> str:
    source = sent.source
    if sent.history:
        return (
            f"No {who} reads the past of {source}. Begin with `biaswatch ingest {source} FILE"
            f" --history`, or POST /v1/history/{source}"
        )
    return _unwatched_system(who, source)


def _unwatched_system(who: str, source: str) -> str:
    return f"No {who} watches the traffic {source}. Apply one with the target traffic:{source}"
