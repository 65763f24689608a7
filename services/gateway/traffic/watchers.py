"""Monitors of a live system, and the responses they receive."""

import re
import time
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from biaswatch.shared.contracts import (
    MENTIONED,
    Ending,
    EvaluatedSpan,
    Exchange,
    Message,
    Monitor,
    MonitorState,
    Probe,
    Purpose,
    Response,
    Role,
    Traffic,
    window_at,
    window_run_id,
)
from biaswatch.shared.errors import NotFoundError
from biaswatch.shared.lookup import first
from biaswatch.shared.parsing.model_reasoning import after_reasoning
from biaswatch.shared.requests.traffic import CARRIED, BatchHeader, LiveSystem, traffic_watched
from biaswatch.shared.store import Store

CACHED_SYSTEMS = 1000


class Watcher(NamedTuple):
    """A monitor that is not deleted, and how it watches a live system."""

    monitor: Monitor
    traffic: Traffic
    ended: bool
    """True if it reads no more windows."""

    @property
    def accepts(self) -> bool:
        """True if answers are accepted for it; a monitor of the past accepts them in any state."""
        if self.monitor.history is not None:
            return True
        return self.monitor.state is MonitorState.ACTIVE and not self.ended


class WatcherCache:
    """The monitors of live systems.

    Only systems with an accepting monitor are cached, so that a new monitor is found at once.
    """

    def __init__(
        self, store: Store, *, ttl_s: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._ttl_s, self._clock = ttl_s, clock
        self._cached: dict[tuple[LiveSystem, bool], tuple[float, list[Watcher]]] = {}

    def is_cached(self, system: LiveSystem, history: bool) -> bool:
        """Return whether `of` needs no query."""
        return self._fresh(system, history) is not None

    def of(self, system: LiveSystem, *, history: bool) -> list[Watcher]:
        """Return the monitors of a live system that are not deleted, or those of its past."""
        if (cached := self._fresh(system, history)) is not None:
            return cached
        began, watchers = self._clock(), self._read(system, history=history)
        self._cached.pop((system, history), None)
        if self._ttl_s and any(watcher.accepts for watcher in watchers):
            while len(self._cached) >= CACHED_SYSTEMS:
                self._cached.pop(first(self._cached, "No source is known."), None)
            self._cached[system, history] = began, watchers
        return watchers

    def _fresh(self, system: LiveSystem, history: bool) -> list[Watcher] | None:
        began, watchers = self._cached.get((system, history), (float("-inf"), []))
        return watchers if self._clock() - began < self._ttl_s else None

    def _read(self, system: LiveSystem, *, history: bool) -> list[Watcher]:
        monitors = self._store.monitor_definitions.latest()
        scheduled = self._store.schedule.monitors()
        ended = {entry.monitor.monitor_id for entry in scheduled if entry.ended}
        return [
            Watcher(monitor, traffic, monitor.monitor_id in ended)
            for monitor in monitors
            if (traffic := traffic_watched(monitor, system)) is not None
            and monitor.state is not MonitorState.DELETED
            and (monitor.history is not None) is history
        ]


def response_of(
    exchange: Exchange, monitor: Monitor, traffic: Traffic, evaluated: EvaluatedSpan | None = None
) -> Response:
    """Return the response that a traffic monitor receives for an exchange.

    `evaluated` names the measurements that go back to the call's span.
    """
    window = window_at(exchange.said_at, traffic.window_s)
    probe = Probe(
        tenant=exchange.tenant,
        purpose=Purpose.PRODUCTION,
        at=exchange.said_at,
        run_id=window_run_id(monitor, window),
        key=exchange.key,
        target=monitor.plan.target,
        messages=exchange.asked,
        groups={**exchange.groups, **mentioned_groups(traffic, exchange.asked)},
        set_id=exchange.unit_id,  # None if no user or conversation is named
        unit_id=exchange.unit,
        facts=exchange.facts,
        measure=monitor.plan.extractors,
        position=window.position_of(exchange.said_at),
    )
    return Response(
        tenant=exchange.tenant,
        purpose=Purpose.PRODUCTION,
        at=exchange.at,
        probe=probe,
        evaluated=evaluated,
        **{**exchange.model_dump(include={"redacted", *CARRIED}), **_ending(exchange)},
    )


def _ending(exchange: Exchange) -> dict[str, Any]:
    """Return the answer of an exchange, without its reasoning, and how it ended."""
    if exchange.text is None:
        return {"ending": Ending.FAILED}
    parts = after_reasoning(exchange.text)
    reasoning = parts.reasoning or None
    if parts.missing:
        reason = parts.missing
        return {"ending": Ending.FAILED, "reason": reason, "text": None, "reasoning": reasoning}
    return {"ending": Ending.ANSWERED, "text": parts.answer, "reasoning": reasoning}


def without_position(response: Response) -> Response:
    """Return a response with the id of versions whose ids were not ordered."""
    probe = response.probe.model_copy(update={"position": None})
    return response.model_copy(update={"probe": probe})


def evaluated_span(
    exchange: Exchange, monitor: Monitor, covered: Collection[str]
) -> EvaluatedSpan | None:
    """Return the measurements for a monitor that go back to the call's span, if it has one.

    `covered` are the extractors whose measurements go back from another monitor's response.
    Spans of the past are not changed.
    """
    extractors = tuple(name for name in monitor.plan.extractors if name not in covered)
    if exchange.span is None or exchange.history or not extractors:
        return None
    return EvaluatedSpan(span=exchange.span, extractors=extractors)


def mentioned_groups(traffic: Traffic, messages: Sequence[Message]) -> dict[str, str]:
    """Return the groups that users mention, in dimensions with a prefix of their own.

    A conversation that mentions two groups of a dimension has none of them.
    """
    text = "\n".join(message.content for message in messages if message.role is Role.USER)
    mentioned = {
        name: [group for group, words in groups.items() if _pattern(tuple(words)).search(text)]
        for name, groups in traffic.mentions.items()
    }
    return {MENTIONED + name: groups[0] for name, groups in mentioned.items() if len(groups) == 1}


@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of whole words in any case; `she` is not in `shell`."""
    either = "|".join(re.escape(word) for word in words)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


class UnwatchedError(NotFoundError):
    """No monitor watches the live system of some answers, not even a paused one."""


def counted_sentence(answers: int) -> str:
    """Return a sentence saying that answers were counted."""
    subject = f"These {answers} answers are" if answers > 1 else "This answer is"
    return f"{subject} counted as unwatched, and not kept."


def unwatched_sentence(who: str, batch: BatchHeader | Exchange) -> str:
    """Return why answers are refused, and what to do; without the full stop."""
    source = batch.source
    if batch.history:
        return (
            f"No {who} reads the past of {source}. Begin with `biaswatch ingest {source} FILE"
            f" --history`, or POST /v1/history/{source}"
        )
    return unwatched_system(who, source)


def unwatched_system(who: str, source: str) -> str:
    """Return why answers of a live system are refused, and what to do."""
    return f"No {who} watches the traffic {source}. Apply one with the target traffic:{source}"
