"""Receive a suite: its probes are staged as they arrive."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from pydantic import ValidationError

from biaswatch.services.gateway.json_bodies import (
    StreamedList,
    check_is_json,
    check_value,
    decoder_lock,
    invalid_body,
)
from biaswatch.services.gateway.runs.commands import RunCommands
from biaswatch.shared.contracts import Suite, SuiteHeader, SuiteProbe
from biaswatch.shared.requests.run_views import StoredSuite
from biaswatch.shared.runtime.threads import in_thread
from biaswatch.shared.store import Store

PIECE_BYTES = 256 * 1024
"""Part of an uploaded suite that a thread decodes at once."""
STAGED_PROBES, STAGED_BYTES = 500, 4 * 1024 * 1024
"""Probes of an upload in memory, and bytes of the body that hold them."""
PROBES = "probes"


class SuiteReceiver:
    """Stages the probes of one uploaded suite; it uses the store, so it runs in a thread."""

    def __init__(self, store: Store) -> None:
        self._upload = store.suites.upload()
        self._list = StreamedList(PROBES)
        self._probes: list[SuiteProbe] = []
        self._staged = 0
        self._unstaged_bytes = 0

    def begin(self) -> None:
        """Begin the upload, and remove abandoned ones."""
        self._upload.__enter__()

    def end(self) -> None:
        """Remove what was staged and not kept."""
        self._upload.__exit__(None, None, None)

    def receive(self, data: bytes, *, last: bool) -> None:
        """Check the probes that end in these bytes, and stage them.

        Raises
        ------
        RequestValidationError, HTTPException
            The body is not JSON, or a probe is wrong.
        """
        for item in self._list.items(data, last=last):
            self._probes.append(self._checked(item))
            if len(self._probes) == STAGED_PROBES:
                self._stage()
        self._unstaged_bytes += len(data)
        if self._unstaged_bytes >= STAGED_BYTES:
            self._stage()

    def keep(self, commands: RunCommands) -> StoredSuite:
        """Keep the complete suite, and return its hash."""
        fields = self._list.fields
        check_value(fields, "")
        self._stage()
        try:
            if not self._staged or PROBES in fields:  # no probes, or `probes` is not a list
                Suite.model_validate({PROBES: (), **fields} if self._list.has_list else fields)
            header = SuiteHeader.model_validate(fields)
        except ValidationError as error:
            raise invalid_body(error, ()) from None
        kept = self._upload.keep(header, commands.now(), commands.most_suites)
        return StoredSuite(hash=kept.hash)

    def _checked(self, item: Any) -> SuiteProbe:
        number = self._staged + len(self._probes)
        check_value(item, f"{PROBES}.{number}")
        try:
            return SuiteProbe.model_validate(item)
        except ValidationError as error:
            raise invalid_body(error, (PROBES, number)) from None

    def _stage(self) -> None:
        if self._probes:
            self._upload.add(self._probes)
            self._staged += len(self._probes)
            self._probes = []
        self._unstaged_bytes = 0


async def receive_suite(request: Request, commands: RunCommands) -> StoredSuite:
    """Store the suite in the body of a request as it arrives, and return its hash."""
    check_is_json(request)
    async with _receiver(commands.store) as receiver:
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) >= PIECE_BYTES:
                async with decoder_lock(request, "suites"):
                    await in_thread(receiver.receive, bytes(data), last=False)
                data.clear()
        async with decoder_lock(request, "suites"):
            await in_thread(receiver.receive, bytes(data), last=True)
        return await in_thread(receiver.keep, commands)


@asynccontextmanager
async def _receiver(store: Store) -> AsyncIterator[SuiteReceiver]:
    """Begin and end an upload in threads, because both write to the store."""
    receiver = SuiteReceiver(store)
    await in_thread(receiver.begin)
    try:
        yield receiver
    finally:
        await in_thread(receiver.end)
