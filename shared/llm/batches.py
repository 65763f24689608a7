"""Interface to providers' batches: many calls in one request, answered within 24 hours."""

import json
import re
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Set
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import IO, Any, Protocol, runtime_checkable

import httpx2

from biaswatch.shared.llm.bounded_replies import spool
from biaswatch.shared.llm.port import (
    PURPOSE_HEADER,
    UNKNOWN_TOKENS,
    CallFailed,
    Failure,
    ModelAnswer,
    ModelCall,
)
from biaswatch.shared.llm.replies import at, json_of

MAX_REQUESTS = 10_000
"""Fewer than the 50,000 of OpenAI and the 100,000 of Anthropic."""
MAX_BYTES = 32 * 1024 * 1024
"""Less than their 200 and 256 MB, as a batch is built in memory."""
REQUEST_S = 60.0
TRANSFER_S = 600.0
"""Time limits of a small request, and of one that carries a whole batch."""
MAX_LINE_BYTES = 4 * 1024 * 1024
_ID = re.compile(r"[A-Za-z0-9_.-]{1,200}")
"""An id is a part of addresses."""
PAGE = 100
MAX_PAGES = 20
CLOCK_SKEW = timedelta(hours=1)
"""Largest difference assumed between our clock and the provider's."""

NOT_CREATED = frozenset(
    {
        Failure.BAD_REQUEST,
        Failure.CONTENT_FILTER,
        Failure.KEY_REFUSED,
        Failure.OFF_LIMITS,
        Failure.QUOTA,
        Failure.RATE_LIMITED,
    }
)
"""Failures that prove that the provider created no batch."""

Outcome = ModelAnswer | CallFailed
Lines = Mapping[str, Mapping[str, Any]]
"""The bodies of calls by their ids, which are the provider's `custom_id`."""


@dataclass(frozen=True)
class BatchStatus:
    """The state of a batch at its provider."""

    id: str
    done: int = 0
    """Number of its requests that were answered."""
    expires_at: datetime | None = None
    ending: bool = False
    """True if it is being cancelled, or its results are being written."""
    ended: bool = False
    """True once its results can be read."""
    cut_short: bool = False
    """True if it was cancelled: what its results lack was not asked."""
    rejected: CallFailed | None = None
    """Why the provider refused the batch as a whole and asked none of it."""


@dataclass(frozen=True)
class InterruptedBatch:
    """A batch whose submission was interrupted."""

    id: str
    """Our id, not the provider's."""
    requests: int
    call_ids: Set[str]
    since: datetime
    """When it was sent at the earliest."""


class UndecidedError(Exception):
    """The provider may have the batch; a later look decides."""


class ChatFormat(Protocol):
    """The adapter of the provider whose batches they are."""

    async def reply(self, method: str, timeout_s: float, /, **arguments: Any) -> httpx2.Response:
        """Call a method of the SDK's client."""

    def answer_in(self, document: Any, /) -> ModelAnswer:
        """Return the answer in the JSON of a reply."""


@runtime_checkable
class BatchedModel(Protocol):
    """Client of a model whose provider has batches."""

    def batch_body(self, call: ModelCall, /) -> Mapping[str, Any]:
        """Return the body of a call in a batch, or raise CallFailed."""

    def batch_api(self) -> "BatchApi":
        """Return the batches of the provider."""


class BatchApi(ABC):
    """The batches of one provider; every method raises CallFailed."""

    def __init__(self, chat: ChatFormat) -> None:
        self._chat = chat

    async def upload(self, lines: Lines) -> str | None:
        """Upload the requests; return the id of the file, or None without a step of its own."""
        del lines
        return None

    @abstractmethod
    async def create(self, batch_id: str, lines: Lines, file_id: str | None) -> BatchStatus:
        """Create a batch; after a failure outside of `NOT_CREATED` there may be one."""

    @abstractmethod
    async def find(self, sent: InterruptedBatch, known: Set[str]) -> BatchStatus | None:
        """Return the batch that an interrupted `create` made, or None if it made none.

        Parameters
        ----------
        sent
            What `create` was called with.
        known
            The provider's ids of our other batches.

        Raises
        ------
        UndecidedError
            A batch may be this one, which its results will tell.
        """

    async def prevent(self, file_id: str | None) -> None:
        """Make a `create` that is under way fail, where the provider allows that."""
        del file_id

    @abstractmethod
    async def status(self, id_: str) -> BatchStatus:
        """Return the state of a batch."""

    @abstractmethod
    async def cancel(self, id_: str) -> None:
        """Cancel a batch; what was answered stays available."""

    @abstractmethod
    async def results(self, id_: str, file: IO[bytes]) -> None:
        """Append the results of an ended batch to a file, as lines of JSON."""

    @abstractmethod
    def outcome(self, line: Any) -> Outcome:
        """Return the outcome in one line of the results."""

    def read(self, file: IO[bytes]) -> Iterator[tuple[str, Outcome]]:
        """Yield the id and the outcome of each readable line, in the order of the file."""
        while line := file.readline(MAX_LINE_BYTES):
            try:
                document = json.loads(line)
            except (ValueError, RecursionError):
                continue  # its call ends as missing
            if isinstance(id_ := at(document, "custom_id"), str):
                yield id_, self._outcome(document)

    def _outcome(self, line: Any) -> Outcome:
        try:
            return self.outcome(line)
        except CallFailed as failed:
            return failed
        except Exception as error:  # noqa: BLE001 - no line may end more than its own call
            detail = f"The result could not be read ({type(error).__name__})."
            return CallFailed(Failure.GARBAGE, detail, tokens=UNKNOWN_TOKENS)

    async def _since(self, method: str, after: str, since: datetime) -> AsyncIterator[Any]:
        """Yield the provider's batches, the newest first, back to a time.

        `after` is the name of the argument with the id of the last batch that was read.
        """
        position: dict[str, str] = {}
        for _ in range(MAX_PAGES):
            page = await self._json(method, limit=PAGE, **position)
            batches = at(page, "data") or []
            for batch in batches:
                yield batch
            created = time_of(at(batches[-1], "created_at")) if batches else None
            if created is None or created < since - CLOCK_SKEW or not at(page, "has_more"):
                return
            position = {after: id_of(batches[-1])}

    async def _json(self, method: str, timeout_s: float = REQUEST_S, /, **arguments: Any) -> Any:
        headers = {PURPOSE_HEADER: "study"}
        reply = await self._chat.reply(
            method, timeout_s, timeout=timeout_s, extra_headers=headers, **arguments
        )
        return json_of(reply.content, "The provider's")

    async def _append(self, path: str, file: IO[bytes]) -> None:
        """Append the body at a path of the server to a file, and end its last line."""
        token = spool.set(file)
        try:
            options = {"timeout": TRANSFER_S}
            await self._chat.reply(
                "get", TRANSFER_S, path=path, cast_to=httpx2.Response, options=options
            )
        finally:
            spool.reset(token)
        file.write(b"\n")


def unasked(reason: str) -> CallFailed:
    """Return the failure of a call that was not made before its batch ended; it costs nothing."""
    return CallFailed(
        Failure.TIMEOUT, f"The batch ended before it reached the question ({reason})."
    )


def time_of(value: Any) -> datetime | None:
    """Return a time in seconds or in ISO format; None of another value."""
    try:
        if isinstance(value, str):
            time = datetime.fromisoformat(value)
            return time if time.tzinfo else time.replace(tzinfo=UTC)
        return datetime.fromtimestamp(value, UTC)
    except (ValueError, TypeError, OverflowError, OSError):
        return None


def id_of(document: Any) -> str:
    """Return the id of a batch or a file, or raise CallFailed."""
    id_ = at(document, "id")
    if isinstance(id_, str) and _ID.fullmatch(id_):
        return id_
    detail = "The provider's reply names no batch."
    raise CallFailed(Failure.GARBAGE, detail, tokens=UNKNOWN_TOKENS)
