"""Serving the endpoints of a drop-in extractor, for those that are written in Python."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import nats.micro
from nats.micro.request import Request, ServiceError

from shared.bus.jetstream.connection import Connection
from shared.contracts.dropin import CONTRACT, ENDPOINTS, ROLE, endpoint, service_name
from shared.errors import BiaswatchError

Answer = Callable[[bytes], bytes]


@asynccontextmanager
async def served(
    connection: Connection, name: str, version: str, answers: Mapping[str, Answer]
) -> AsyncIterator[None]:
    """Answer on `ext.v1.<name>.*` while the context lasts; computing runs in a thread."""
    about = {"role": ROLE, "contract": CONTRACT}
    service: Any = await nats.micro.add_service(
        connection.client, name=service_name(name), version=version, metadata=about
    )
    try:
        for each in ENDPOINTS:
            await service.add_endpoint(
                name=each, subject=endpoint(name, each), handler=_handler(answers[each])
            )
        await connection.flush()
        yield
    finally:
        await service.stop()


def _handler(answer: Answer) -> Callable[[Request], Any]:
    async def handle(request: Request) -> None:
        try:
            reply = await asyncio.to_thread(answer, request.data)
        except BiaswatchError as error:
            raise ServiceError("422", " ".join(str(error).split())) from None
        await request.respond(reply)

    return handle
