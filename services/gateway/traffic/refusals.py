"""Account for answers of live systems that are refused at intake."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime

from biaswatch.services.gateway.traffic.watchers import (
    UnwatchedError,
    Watcher,
    WatcherCache,
    counted_sentence,
    unwatched_sentence,
)
from biaswatch.shared.contracts import Exchange
from biaswatch.shared.errors import NotFoundError, PoisonError
from biaswatch.shared.requests.traffic import (
    MAX_CLOCK_SKEW,
    BatchHeader,
    SentResponse,
    check_exchange,
    sent_answer,
    traffic_window,
)
from biaswatch.shared.store import Store


class RefusedAnswers:
    """Counts refused answers in the store, by monitor and window; blocks."""

    def __init__(self, store: Store, watchers: WatcherCache) -> None:
        self._store = store
        self._watchers = watchers

    def check_watched(
        self, header: BatchHeader, answers: Iterable[SentResponse], now: datetime
    ) -> None:
        """Account for the answers of a system without an active monitor, and raise."""
        watchers = self._watchers.of((self._store.tenant, header.source), history=header.history)
        if any(watcher.accepts for watcher in watchers):
            return
        moments = [answer.at or now for answer in answers]
        self.refuse(moments, watchers, now)
        if watchers:
            raise NotFoundError(f"{unwatched_sentence('active monitor', header)}.")
        self._store.unwatched_answers.count(self._store.tenant, {header.source: len(moments)}, now)
        raise UnwatchedError(
            f"{unwatched_sentence('monitor', header)}. {counted_sentence(len(moments))}"
        )

    def refuse_batch(
        self, header: BatchHeader, answers: Iterable[SentResponse], now: datetime
    ) -> None:
        """Account for all answers of an invalid batch."""
        watchers = self._watchers.of((self._store.tenant, header.source), history=header.history)
        self.refuse([answer.at or now for answer in answers], watchers, now)

    def check(self, exchange: Exchange, watchers: Sequence[Watcher], now: datetime) -> None:
        """Account for an invalid exchange, and raise.

        Raises
        ------
        PoisonError
            The exchange is invalid, or no monitor, not even a paused one, watches its system.
        """
        if not watchers:
            raise PoisonError(
                f"{unwatched_sentence('monitor', exchange)}, then replay this exchange."
            )
        try:
            check_exchange(exchange, now)
        except ValueError as error:
            dated = exchange
            if exchange.said_at > now + MAX_CLOCK_SKEW:  # it is counted in the current window
                dated = exchange.model_copy(update={"said_at": min(exchange.at, now)})
            answers = [sent_answer(dated, m, traffic, exchange.id) for m, traffic, _ in watchers]
            self._store.window_answers.refuse(answers)
            raise PoisonError(f"The exchange {exchange.key!r}: {error}.") from None

    def refuse(
        self, moments: Sequence[datetime], watchers: Iterable[Watcher], now: datetime
    ) -> None:
        """Account for refused answers; those with an impossible moment count as current."""
        if not moments:
            return
        self._store.window_answers.count_refused(
            Counter(
                traffic_window(monitor, traffic, min(moment, now))
                for monitor, traffic, _ in watchers
                for moment in moments
            )
        )
