"""Publish batches of production answers, within limits."""

import json
import struct
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import Any, Self

from fastapi import HTTPException, Request
from pydantic import ValidationError

from biaswatch.services.gateway.bodies import BodyFile, check_connected
from biaswatch.services.gateway.context import GatewayContext, IntakeBacklog
from biaswatch.services.gateway.json_bodies import (
    ANSWERS,
    IN_LOOP_BYTES,
    StreamedList,
    body_error,
    check_is_json,
    check_value,
    decoder_lock,
    invalid_body,
    strict_json,
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
from biaswatch.shared.runtime.threads import in_thread

MAX_QUEUED = 15_000
"""Answers that may wait to be accounted for: the queue of a live system holds 20,000, and a batch
that it accepts in part is sent again completely."""
MAX_UNREAD = 20_000
"""Answers that may wait to be written or measured while answers of the past are accepted."""
RETRY_AFTER_S = 1.0
WHOLE_BYTES = 1024 * 1024
"""Size up to which a batch is decoded at once."""
PIECE_BYTES = 256 * 1024
"""Part of a larger batch that a thread decodes at once."""
RESPONSES = "responses"
TOO_MANY = f"One request brings at most {MAX_BATCH:,} answers. Send them in parts."
LENGTH = struct.Struct("<I")
"""The length of an answer, before it in the file."""


async def publish_exchanges(publisher: Publisher, exchanges: Sequence[Exchange]) -> None:
    """Publish exchanges; raise the first error.

    Each sending is another publication, so that the bus does not drop repeated answers, which have
    to be accounted for.
    """
    numbers = [exchange.sending or 0 for exchange in exchanges]
    for error in await publisher.publish_all(exchanges, publication=numbers):
        if error is not None:
            raise error


def check_backlog(backlog: IntakeBacklog, *, history: bool) -> None:
    """Raise BackPressureError if too many earlier answers are not handled yet."""
    count = backlog.queued
    if count <= MAX_QUEUED:
        count = backlog.unread if history and backlog.unread > MAX_UNREAD else 0
    if count:
        raise BackPressureError(
            f"{count} answers that came before are not handled yet. Send this batch again in a"
            " moment; nothing of it was taken in.",
            retry_after_s=RETRY_AFTER_S,
        )


class LargeBatch:
    """The answers of one large batch in a file; it blocks, so it runs in a thread."""

    def __init__(self) -> None:
        self._list = StreamedList(RESPONSES)
        self._file = BodyFile()
        self._count = 0

    def __enter__(self) -> Self:
        """Return the batch; the end of the context discards it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Discard the answers."""
        self._file.close()

    def receive(self, data: bytes, *, last: bool) -> None:
        """Check the answers that end in these bytes, and write them to the file.

        Raises
        ------
        RequestValidationError, HTTPException, UsageError
            The body is not JSON, one answer is wrong, or there are too many.
        TransientError
            The disk budget is used up.
        """
        for item in self._list.items(data, last=last):
            if self._count == MAX_BATCH:
                raise HTTPException(422, TOO_MANY)
            answer = self._checked(item).model_dump_json(exclude_defaults=True).encode()
            self._file.write(LENGTH.pack(len(answer)) + answer)
            self._count += 1

    def _checked(self, item: Any) -> SentResponse:
        check_value(item, f"{RESPONSES}.{self._count}")
        try:
            return SentResponse.model_validate(item)
        except ValidationError as error:
            raise invalid_body(error, (RESPONSES, self._count)) from None

    def header(self) -> BatchHeader:
        """Return the header of the batch; raise RequestValidationError if it is wrong."""
        fields = self._list.fields
        check_value(fields, "")
        try:
            if not self._count or RESPONSES in fields:  # no answers, or `responses` is not a list
                SentBatch.model_validate(
                    {RESPONSES: [], **fields} if self._list.has_list else fields
                )
            return BatchHeader.model_validate(fields)
        except ValidationError as error:
            raise invalid_body(error, ()) from None

    def answers(self) -> Iterator[SentResponse]:
        """Yield the answers in their order."""
        position = 0
        while position < self._file.size:
            (size,) = LENGTH.unpack(self._file.read_at(position, LENGTH.size))
            position += LENGTH.size
            yield SentResponse.model_validate_json(self._file.read_at(position, size))
            position += size


class BatchIntake:
    """Accepts batches: small ones are decoded at once, large ones as they arrive."""

    def __init__(self, ingestion: ExchangeIngestion, ctx: GatewayContext) -> None:
        self._ingestion = ingestion
        self._ctx = ctx
        self._slots = ctx.slots

    async def accept(self, request: Request) -> AcceptedBatch:
        """Publish the answers in the body of a request, and return their numbers.

        Raises
        ------
        RequestValidationError, HTTPException, UsageError
            The body or one of its answers is wrong; nothing was accepted.
        TransientError
            Too many answers are waiting, or the bus does not respond.
        """
        check_is_json(request)
        async with self._slots.reading():
            body = request.stream()
            received = bytearray()
            async for chunk in body:
                received += chunk
                if len(received) > WHOLE_BYTES:
                    with LargeBatch() as batch:
                        await _receive(request, batch, received, body)
                        return await self._accept_large(request, batch)
            return await self._accept_whole(request, bytes(received))

    async def _accept_whole(self, request: Request, body: bytes) -> AcceptedBatch:
        if len(body) <= IN_LOOP_BYTES:
            batch = _batch_in(body)
        else:
            batch = await self._slots.in_thread(_batch_in, body)
        check_backlog(self._ctx.backlog(self._ctx.store.tenant), history=batch.history)
        if exchanges := self._ingestion.exchanges_of_small(batch):
            await publish_exchanges(self._ctx.publisher, exchanges)
            return _accepted(exchanges, self._ingestion.late(exchanges))
        is_busy = self._slots.is_busy()
        async with self._slots.handling():
            # A client that left sends the batch again: accepting both would only add duplicates.
            if is_busy:
                await check_connected(request)
            exchanges = await self._slots.in_thread(self._ingestion.exchanges_of, batch)
            return await self._publish(exchanges)

    async def _accept_large(self, request: Request, batch: LargeBatch) -> AcceptedBatch:
        await check_connected(request)
        header = batch.header()
        check_backlog(self._ctx.backlog(self._ctx.store.tenant), history=header.history)
        accepted = AcceptedBatch(accepted=0)
        parts = self._ingestion.parts_of(header, batch.answers)
        while True:
            async with self._slots.handling():
                part = await self._slots.in_thread(next, parts, None)
                if part is None:
                    return accepted
                accepted = _sum(accepted, await self._publish(part))
            await check_connected(request)

    async def _publish(self, exchanges: Sequence[Exchange]) -> AcceptedBatch:
        await publish_exchanges(self._ctx.publisher, exchanges)
        return _accepted(exchanges, await in_thread(self._ingestion.late, exchanges))


async def _receive(
    request: Request, batch: LargeBatch, received: bytearray, rest: AsyncIterator[bytes]
) -> None:
    """Decode and check a large batch as it arrives."""

    async def decode(*, last: bool) -> None:
        async with decoder_lock(request, ANSWERS):
            await in_thread(batch.receive, bytes(received), last=last)
        received.clear()

    async for chunk in rest:
        received += chunk
        if len(received) >= PIECE_BYTES:
            await decode(last=False)
    await decode(last=True)


def _batch_in(body: bytes | bytearray) -> SentBatch:
    """Return the batch in a body; raise RequestValidationError if it is wrong."""
    try:
        return SentBatch.model_validate(strict_json(bytes(body)))
    except json.JSONDecodeError as error:
        raise body_error("json_invalid", ("body", error.pos)) from None
    except ValidationError as error:
        raise invalid_body(error, ()) from None


def _accepted(exchanges: Sequence[Exchange], late: dict[str, int]) -> AcceptedBatch:
    redacted = sum((Counter(exchange.redacted) for exchange in exchanges), Counter[str]())
    return AcceptedBatch(accepted=len(exchanges), late=late, redacted=redacted)


def _sum(one: AcceptedBatch, other: AcceptedBatch) -> AcceptedBatch:
    return AcceptedBatch(
        accepted=one.accepted + other.accepted,
        late=Counter(one.late) + Counter(other.late),
        redacted=Counter(one.redacted) + Counter(other.redacted),
    )
