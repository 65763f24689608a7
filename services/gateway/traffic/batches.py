"""Publish batches of production answers, within limits."""

import json
import struct
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Self

from fastapi import HTTPException, Request
from pydantic import ValidationError

from biaswatch.services.gateway.bodies import BodyFile, IntakeSlots, check_connected
from biaswatch.services.gateway.json_bodies import (
    ANSWERS,
    IN_LOOP_BYTES,
    StreamedList,
    check_is_json,
    check_value,
    one_at_a_time,
    refusal,
    strict_json,
    wrong,
)
from biaswatch.services.gateway.traffic.ingestion import ExchangeIngestion
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import Exchange
from biaswatch.shared.errors import BackPressureError
from biaswatch.shared.requests.traffic import (
    MAX_BATCH,
    AcceptedBatch,
    BatchHeader,
    SentBatch,
    SentResponse,
)
from biaswatch.shared.runtime.blocking import in_thread

MOST_QUEUED = 15_000
"""How many answers may wait to be accounted for; the queue of a live system holds 20,000, and a
batch of which it takes a part alone would be sent again whole."""
MOST_BEHIND = 20_000
"""How many answers may wait to be written or measured while more of the past is taken in."""
BEHIND_S = 1.0
"""After how long it is worth asking again."""
WHOLE_BYTES = 1024 * 1024
"""A batch up to this size is decoded as a whole."""
PIECE_BYTES = 256 * 1024
"""The part of a larger one that a thread decodes at once."""


@dataclass(frozen=True)
class WaitingAnswers:
    """How many answers the bus holds."""

    queued: int = 0
    """Not accounted for yet."""
    unread: int = 0
    """Not written or not measured yet."""


Waiting = Callable[[], WaitingAnswers]


async def publish_exchanges(publisher: Publisher, exchanges: Sequence[Exchange]) -> None:
    """Return when the bus has all exchanges, or raise the first error.

    Each sending is another publication: the bus would drop what is sent again as a duplicate, and
    nobody could say what became of it.
    """
    numbers = [exchange.sending or 0 for exchange in exchanges]
    for error in await publisher.publish_all(exchanges, publication=numbers):
        if error is not None:
            raise error


def refuse_when_behind(waiting: WaitingAnswers, *, history: bool) -> None:
    """Raise BackPressureError while too many answers wait for more to be taken in."""
    behind = waiting.queued
    if behind <= MOST_QUEUED:
        behind = waiting.unread if history and waiting.unread > MOST_BEHIND else 0
    if behind:
        raise BackPressureError(
            f"{behind} answers that came before are not handled yet. Send this batch again in a"
            " moment; nothing of it was taken in.",
            retry_after_s=BEHIND_S,
        )


RESPONSES = "responses"
TOO_MANY = f"One request brings at most {MAX_BATCH:,} answers. Send them in parts."
LENGTH = struct.Struct("<I")
"""The length of an answer, before it in the file."""


class LargeBatch:
    """The answers of one batch; it reads and writes a file, so it runs in a thread."""

    def __init__(self) -> None:
        self._list = StreamedList(RESPONSES)
        self._file = BodyFile()
        self._amount = 0

    def __enter__(self) -> Self:
        """Return the batch; the end of the context forgets it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Forget the answers."""
        self._file.close()

    def take(self, data: bytes, *, last: bool) -> None:
        """Check the answers that end in these bytes, and keep them.

        Raises
        ------
        RequestValidationError, HTTPException, UsageError
            The body is not JSON, one answer is wrong, or there are too many.
        TransientError
            The disk budget is used up.
        """
        for item in self._list.items(data, last=last):
            if self._amount == MAX_BATCH:
                raise HTTPException(422, TOO_MANY)
            answer = self._checked(item).model_dump_json(exclude_defaults=True).encode()
            self._file.write(LENGTH.pack(len(answer)) + answer)
            self._amount += 1

    def _checked(self, item: Any) -> SentResponse:
        check_value(item, f"{RESPONSES}.{self._amount}")
        try:
            return SentResponse.model_validate(item)
        except ValidationError as error:
            raise wrong(error, (RESPONSES, self._amount)) from None

    def header(self) -> BatchHeader:
        """Return what holds for all answers; raise RequestValidationError where it is wrong."""
        fields = self._list.fields
        check_value(fields, "")
        try:
            if not self._amount or RESPONSES in fields:  # it has none, or what is no list
                SentBatch.model_validate(
                    {RESPONSES: [], **fields} if self._list.has_list else fields
                )
            return BatchHeader.model_validate(fields)
        except ValidationError as error:
            raise wrong(error, ()) from None

    def answers(self) -> Iterator[SentResponse]:
        """Yield the answers in their order."""
        at = 0
        while at < self._file.size:
            (size,) = LENGTH.unpack(self._file.read_at(at, LENGTH.size))
            at += LENGTH.size
            yield SentResponse.model_validate_json(self._file.read_at(at, size))
            at += size


class BatchIntake:
    """Takes batches in: small ones decoded as a whole, large ones as they come."""

    def __init__(
        self, ingest: ExchangeIngestion, publisher: Publisher, waiting: Waiting, slots: IntakeSlots
    ) -> None:
        self._ingest = ingest
        self._publisher = publisher
        self._waiting = waiting
        self._slots = slots

    async def take(self, request: Request) -> AcceptedBatch:
        """Return what was accepted once all of it is on the bus.

        Raises
        ------
        RequestValidationError, HTTPException, UsageError
            The body or one of its answers is wrong; nothing was taken in.
        TransientError
            Too much waits already, or the bus does not answer.
        """
        check_is_json(request)
        async with self._slots.reading():
            body = request.stream()
            begin = bytearray()
            async for chunk in body:
                begin += chunk
                if len(begin) > WHOLE_BYTES:
                    with LargeBatch() as batch:
                        await _read(request, batch, begin, body)
                        return await self._take_large(request, batch)
            return await self._take_small(request, bytes(begin))

    async def _take_small(self, request: Request, body: bytes) -> AcceptedBatch:
        if len(body) <= IN_LOOP_BYTES:  # a thread takes longer than a few answers do
            sent = _batch_in(body)
        else:
            sent = await self._slots.in_thread(_batch_in, body)
        refuse_when_behind(self._waiting(), history=sent.history)
        if few := self._ingest.exchanges_of_few(sent):  # nothing of it needs the store
            await publish_exchanges(self._publisher, few)
            return _accepted(few, self._ingest.late(few))
        behind = self._slots.is_busy()
        async with self._slots.handling():
            # Who does not wait any more sends it again. To take both would double the work of a
            # gateway that is behind, for nothing but duplicates.
            if behind:
                await check_connected(request)
            exchanges = await self._slots.in_thread(self._ingest.exchanges_of, sent)
            return await self._published(exchanges)

    async def _take_large(self, request: Request, batch: LargeBatch) -> AcceptedBatch:
        await check_connected(request)
        header = batch.header()
        refuse_when_behind(self._waiting(), history=header.history)
        accepted = AcceptedBatch(accepted=0)
        parts = self._ingest.parts_of(header, batch.answers)
        while True:
            async with self._slots.handling():
                part = await self._slots.in_thread(_next, parts)
                if part is None:
                    return accepted
                accepted = _sum(accepted, await self._published(part))
            await check_connected(request)

    async def _published(self, exchanges: Sequence[Exchange]) -> AcceptedBatch:
        await publish_exchanges(self._publisher, exchanges)
        return _accepted(exchanges, await in_thread(self._ingest.late, exchanges))


async def _read(
    request: Request, batch: LargeBatch, begin: bytearray, rest: AsyncIterator[bytes]
) -> None:
    """Decode and check a large batch as it comes."""

    async def take(*, last: bool) -> None:
        async with one_at_a_time(request, ANSWERS):
            await in_thread(batch.take, bytes(begin), last=last)
        begin.clear()

    async for chunk in rest:
        begin += chunk
        if len(begin) >= PIECE_BYTES:
            await take(last=False)
    await take(last=True)


def _next(parts: Iterator[list[Exchange]]) -> list[Exchange] | None:
    return next(parts, None)


def _batch_in(body: bytes | bytearray) -> SentBatch:
    """Return the batch that a body holds; raise RequestValidationError where it is wrong."""
    try:
        return SentBatch.model_validate(strict_json(bytes(body)))
    except json.JSONDecodeError as error:
        raise refusal("json_invalid", ("body", error.pos)) from None
    except ValidationError as error:
        raise wrong(error, ()) from None


def _accepted(exchanges: Sequence[Exchange], late: dict[str, int]) -> AcceptedBatch:
    redacted = sum((Counter(exchange.redacted) for exchange in exchanges), Counter[str]())
    return AcceptedBatch(accepted=len(exchanges), late=late, redacted=redacted)


def _sum(one: AcceptedBatch, other: AcceptedBatch) -> AcceptedBatch:
    return AcceptedBatch(
        accepted=one.accepted + other.accepted,
        late=Counter(one.late) + Counter(other.late),
        redacted=Counter(one.redacted) + Counter(other.redacted),
    )
