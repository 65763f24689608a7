"""Monitors of a live system, and the responses they receive."""

import re
import time
from collections.abc import Callable, Collection, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from biaswatch.services.gateway.monitors.queries import MonitorQueries
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

MOST_KNOWN = 1000
"""Live systems that are known at the same time."""


class Watcher(NamedTuple):
    """A monitor that is not deleted, and how it watches a live system."""

    monitor: Monitor
    traffic: Traffic
    ended: bool
    """Whether it will read no more windows."""

    @property
    def takes(self) -> bool:
        """Tell whether answers are taken in for it; a history takes them before it is read."""
        if self.monitor.history is not None:
            return True
        return self.monitor.state is MonitorState.ACTIVE and not self.ended


class KnownWatchers:
    """The monitors of live systems.

    Only what takes answers in is known for a while: whoever has just begun to watch is found.
    """

    def __init__(
        self, store: Store, *, fresh_s: float = 0.0, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._store = store
        self._monitors = MonitorQueries(store)
        self._fresh_s, self._clock = fresh_s, clock
        self._known: dict[tuple[LiveSystem, bool], tuple[float, list[Watcher]]] = {}

    def knows(self, system: LiveSystem, history: bool) -> bool:
        """Tell whether the monitors of a system are known without the store."""
        return self._fresh(system, history) is not None

    def of(self, system: LiveSystem, *, history: bool) -> list[Watcher]:
        """Return the monitors of a live system that are not deleted, or those of its past."""
        if (known := self._fresh(system, history)) is not None:
            return known
        began, found = self._clock(), self._read(system, history=history)
        self._known.pop((system, history), None)
        if self._fresh_s and any(each.takes for each in found):
            while len(self._known) >= MOST_KNOWN:
                self._known.pop(first(self._known, "No source is known."), None)
            self._known[system, history] = began, found
        return found

    def _fresh(self, system: LiveSystem, history: bool) -> list[Watcher] | None:
        began, found = self._known.get((system, history), (float("-inf"), []))
        return found if self._clock() - began < self._fresh_s else None

    def _read(self, system: LiveSystem, *, history: bool) -> list[Watcher]:
        found = [(each, traffic_watched(each, system)) for each in self._monitors.definitions()]
        ended = {each.monitor.monitor_id for each in self._store.schedule.monitors() if each.ended}
        return [
            Watcher(monitor, traffic, monitor.monitor_id in ended)
            for monitor, traffic in found
            if traffic is not None
            and monitor.state is not MonitorState.DELETED
            and (monitor.history is not None) is history
        ]


def response_of(
    exchange: Exchange, monitor: Monitor, traffic: Traffic, evaluated: EvaluatedSpan | None = None
) -> Response:
    """Return the response that a monitor of traffic watches, made when its answer was taken in.

    `evaluated` says which of its measurements go back to the call's span.
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
        set_id=exchange.unit_id,  # None where no user or conversation is named
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
        **{**exchange.model_dump(include={"redacted", *CARRIED}), **_ending_of(exchange)},
    )


def _ending_of(exchange: Exchange) -> dict[str, Any]:
    """Return the answer of an exchange without its reasoning, and how it ended."""
    if exchange.text is None:
        return {"ending": Ending.FAILED}
    parts = after_reasoning(exchange.text)
    reasoning = parts.reasoning or None
    if why := parts.missing:
        return {"ending": Ending.FAILED, "reason": why, "text": None, "reasoning": reasoning}
    return {"ending": Ending.ANSWERED, "text": parts.answer, "reasoning": reasoning}


def without_position(response: Response) -> Response:
    """Return the response as it was made before ids were in order."""
    probe = response.probe.model_copy(update={"position": None})
    return response.model_copy(update={"probe": probe})


def evaluated_span(
    exchange: Exchange, monitor: Monitor, told: Collection[str]
) -> EvaluatedSpan | None:
    """Return which measurements for a monitor go back to the call's span, if it has one.

    `told` are the extractors whose measurements go back from another monitor's response. What was
    recorded before anybody watched stays as it is.
    """
    extractors = tuple(each for each in monitor.plan.extractors if each not in told)
    if exchange.span is None or exchange.history or not extractors:
        return None
    return EvaluatedSpan(span=exchange.span, extractors=extractors)


def mentioned_groups(traffic: Traffic, asked: Sequence[Message]) -> dict[str, str]:
    """Return the groups that users mention, in dimensions with a prefix of their own.

    A message that mentions two groups of a dimension has none of them.
    """
    text = "\n".join(each.content for each in asked if each.role is Role.USER)
    found = {
        name: [group for group, words in groups.items() if _pattern(tuple(words)).search(text)]
        for name, groups in traffic.mentions.items()
    }
    return {MENTIONED + name: groups[0] for name, groups in found.items() if len(groups) == 1}


@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Return a pattern of whole words in any case; `she` is not in `shell`."""
    either = "|".join(re.escape(word) for word in words)
    return re.compile(rf"(?<!\w)(?:{either})(?!\w)", re.IGNORECASE)


class UnwatchedError(NotFoundError):
    """No monitor watches the live system that answers were sent of, not even a paused one."""


def counted(answers: int) -> str:
    """Say that answers were counted."""
    which = f"These {answers} answers are" if answers > 1 else "This answer is"
    return f"{which} counted as unwatched, and not kept."


def unwatched(who: str, sent: BatchHeader | Exchange) -> str:
    """Say that no monitor takes these answers, and what to do."""
    source = sent.source
    if sent.history:
        return (
            f"No {who} reads the past of {source}. Begin with `biaswatch ingest {source} FILE"
            f" --history`, or POST /v1/history/{source}"
        )
    return unwatched_system(who, source)


def unwatched_system(who: str, source: str) -> str:
    """Say that no monitor watches a live system, and what to do."""
    return f"No {who} watches the traffic {source}. Apply one with the target traffic:{source}"
