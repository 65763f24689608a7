"""Bundles: records of one kind that go in one message, a line of JSON for each."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

MOST_RECORDS = 64
"""The most records of a message: a reader that has failed on one reads them all again."""
MOST_BYTES = 64 * 1024
"""A message of several is at most so large; a larger record goes alone."""
RECORDS = "Biaswatch-Records"
"""The header that says how many records a message has; one without it has one, in any form."""
MESSAGE_NAME = "Nats-Msg-Id"

_LINE = b"\n"


@dataclass
class Bundle:
    """Records that are to go together: of one kind, to one subject."""

    names: list[str] = field(default_factory=list)
    """`<record id>/<publication>` of each."""
    lines: list[bytes] = field(default_factory=list)
    publication: int = 0
    """The latest of their publications: what follows from any of them goes under it."""
    size: int = 0

    def takes(self, data: bytes) -> bool:
        """Tell whether one more record fits."""
        return len(self.lines) < MOST_RECORDS and self.size + len(data) < MOST_BYTES

    def add(self, record_id: str, data: bytes, publication: int) -> None:
        """Add a record, as its encoded JSON: that has no line breaks."""
        self.names.append(f"{record_id}/{publication}")
        self.lines.append(data)
        self.publication = max(self.publication, publication)
        self.size += len(data) + len(_LINE)

    def data(self) -> bytes:
        """Return the body of the message."""
        return _LINE.join(self.lines)

    def headers(self) -> dict[str, str]:
        """Return the headers: a record alone goes under its own name.

        Several go under a name of all of them: what is sent again as it was is known to the bus.
        """
        if len(self.names) == 1:
            return {MESSAGE_NAME: self.names[0]}
        together = hashlib.sha256(" ".join(self.names).encode()).hexdigest()[:32]
        return {MESSAGE_NAME: f"{together}/{self.publication}", RECORDS: str(len(self.names))}


def records_in(data: bytes, headers: Mapping[str, str]) -> Sequence[bytes]:
    """Return the records of a message; what is not what its header says is taken as one.

    That one cannot be decoded, and is given up whole: nobody makes many dead letters of one
    message.
    """
    said = headers.get(RECORDS)
    if said is None:
        return (data,)
    lines = data.split(_LINE, MOST_RECORDS)
    return lines if said == str(len(lines)) and len(lines) <= MOST_RECORDS else (data,)


def publication_of(message_id: str) -> int:
    """Return the number in `<name>/<publication>`; 0 where there is none."""
    if message_id.endswith("/0"):  # the usual case
        return 0
    number = message_id.rpartition("/")[2]
    return int(number) if number.isdecimal() else 0


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
