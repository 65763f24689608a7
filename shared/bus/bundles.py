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
        """Return the headers: a single record has its own name, several have a digest of theirs.

        So the bus recognises a message that is sent again unchanged.
        """
        if len(self.names) == 1:
            return {MESSAGE_NAME: self.names[0]}
        digest = hashlib.sha256(" ".join(self.names).encode()).hexdigest()[:32]
        return {MESSAGE_NAME: f"{digest}/{self.publication}", RECORDS: str(len(self.names))}


def records_in(data: bytes, headers: Mapping[str, str]) -> Sequence[bytes]:
    """Return the records of a message; one that contradicts its header is returned whole.

    It then fails to decode and becomes a single dead letter.
    """
    count = headers.get(RECORDS)
    if count is None:
        return (data,)
    lines = data.split(_LINE, MOST_RECORDS)
    return lines if count == str(len(lines)) and len(lines) <= MOST_RECORDS else (data,)


def publication_of(message_id: str) -> int:
    """Return the number in `<name>/<publication>`; 0 without one."""
    if message_id.endswith("/0"):
        return 0
    number = message_id.rpartition("/")[2]
    return int(number) if number.isdecimal() else 0


class BundleKey(NamedTuple):
    """The common properties of the records of one message."""

    kind: str
    subject: str
    trace_context: str


@dataclass(eq=False)
class OpenBundle:
    """A bundle that takes more records, and the futures of its records."""

    bundle: Bundle = field(default_factory=Bundle)
    ends: "list[asyncio.Future[None]]" = field(default_factory=list)
    """One per record, resolved with the outcome of the bundle."""

    def finish(self, error: BaseException | None = None) -> None:
        """Resolve the futures that were not cancelled."""
        for end in self.ends:
            if end.done():
                continue
            if error is None:
                end.set_result(None)
            else:
                end.set_exception(error)
                end.exception()  # retrieved here, as the waiting task may be gone


class Bundling:
    """Collects records into bundles, and sends each once the one before was acknowledged.

    A single record is sent at once. Under load bundles grow up to their limit, and full ones are
    sent at once.
    """

    def __init__(self, send: Callable[[BundleKey, Bundle], Awaitable[None]]) -> None:
        self._send_bundle = send
        self._open: dict[BundleKey, OpenBundle] = {}
        self._under_way: Counter[BundleKey] = Counter()
        self._sending: set[asyncio.Task[None]] = set()

    def join(
        self, common: BundleKey, record_id: str, data: bytes, publication: int
    ) -> "asyncio.Future[None]":
        """Add a record to a bundle; return a future of the outcome of the bundle."""
        opened = self._open.get(common)
        if opened is not None and not opened.bundle.takes(data):
            self._send(common, opened)
            opened = None
        loop = asyncio.get_running_loop()
        if opened is None:
            opened = self._open[common] = OpenBundle()
            if not self._under_way[common]:
                # Includes what is published in this iteration of the event loop.
                loop.call_soon(self._send, common, opened)
        opened.bundle.add(record_id, data, publication)
        end: asyncio.Future[None] = loop.create_future()
        opened.ends.append(end)
        return end

    def _send(self, common: BundleKey, opened: OpenBundle) -> None:
        if self._open.get(common) is not opened:
            return  # it was full and has been sent
        del self._open[common]
        self._under_way[common] += 1
        task = asyncio.create_task(self._sent(common, opened))
        self._sending.add(task)
        task.add_done_callback(self._sending.discard)

    async def _sent(self, common: BundleKey, opened: OpenBundle) -> None:
        try:
            await self._send_bundle(common, opened.bundle)
        except BaseException as error:
            opened.finish(error)
            if not isinstance(error, Exception):
                raise
        else:
            opened.finish()
        finally:
            self._under_way[common] -= 1
            if not self._under_way[common]:
                del self._under_way[common]
                if (next_ := self._open.get(common)) is not None:
                    self._send(common, next_)
