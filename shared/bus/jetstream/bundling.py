"""Bundling of what is published at the same time: who comes while a message is under way waits."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from biaswatch.shared.bus.bundles import Bundle


class Together(NamedTuple):
    """What records must have in common to go in one message."""

    kind: str
    subject: str
    trace_context: str


@dataclass(eq=False)
class OpenBundle:
    """A bundle that takes more records, and what its records wait for."""

    bundle: Bundle = field(default_factory=Bundle)
    ends: "list[asyncio.Future[None]]" = field(default_factory=list)
    """Of each record: done when the stream has taken the bundle, or raises what became of it."""

    def finish(self, error: BaseException | None = None) -> None:
        """Tell everybody who waits; one who was cancelled waits no more."""
        for end in self.ends:
            if end.done():
                continue
            if error is None:
                end.set_result(None)
            else:
                end.set_exception(error)
                end.exception()  # whoever waited may not ask


class Bundling:
    """Puts records into bundles, and sends each when the one before it has been taken.

    A record that comes alone goes alone and at once: nobody waits for company. Under load bundles
    grow by themselves, up to what one takes; one that is full waits for nothing.
    """

    def __init__(self, send: Callable[[Together, Bundle], Awaitable[None]]) -> None:
        self._send_bundle = send
        self._open: dict[Together, OpenBundle] = {}
        self._under_way: Counter[Together] = Counter()
        self._sending: set[asyncio.Task[None]] = set()

    def join(
        self, common: Together, record_id: str, data: bytes, publication: int
    ) -> "asyncio.Future[None]":
        """Put a record into a bundle; return what ends when the stream has taken that."""
        mine = self._open.get(common)
        if mine is not None and not mine.bundle.takes(data):
            self._send(common, mine)
            mine = None
        loop = asyncio.get_running_loop()
        if mine is None:
            mine = self._open[common] = OpenBundle()
            if not self._under_way[common]:
                # What is published in this turn of the event loop goes along.
                loop.call_soon(self._send, common, mine)
        mine.bundle.add(record_id, data, publication)
        end: asyncio.Future[None] = loop.create_future()
        mine.ends.append(end)
        return end

    def _send(self, common: Together, mine: OpenBundle) -> None:
        if self._open.get(common) is not mine:
            return  # it was full, and has gone
        del self._open[common]
        self._under_way[common] += 1
        task = asyncio.create_task(self._sent(common, mine))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _sent(self, common: Together, mine: OpenBundle) -> None:
        try:
            await self._send_bundle(common, mine.bundle)
        except BaseException as error:
            mine.finish(error)
            if not isinstance(error, Exception):
                raise
        else:
            mine.finish()
        finally:
            self._under_way[common] -= 1
            if not self._under_way[common]:
                del self._under_way[common]
                if (next_ := self._open.get(common)) is not None:
                    self._send(common, next_)
