"""An uploaded suite goes into the store as it comes; only some probes of it are in memory."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import Request
from pydantic import ValidationError

from biaswatch.services.gateway.runs.commands import RunCommands
from biaswatch.services.gateway.streamed_lists import StreamedList, check_is_json, wrong
from biaswatch.services.gateway.strict_requests import check_value, one_at_a_time
from biaswatch.shared.contracts import Suite, SuiteHeader, SuiteProbe
from biaswatch.shared.requests.run_views import StoredSuite
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.store import Store

AT_ONCE_BYTES = 256 * 1024
"""What is read of a body before a thread goes on with it."""
STAGED_AT_ONCE, STAGED_BYTES = 500, 4 * 1024 * 1024
"""Probes that are in memory, and the bytes of the body that brought them."""
PROBES = "probes"


class SuiteReceiver:
    """Takes the bytes of one suite; it reads and writes the store, so it runs in a thread."""

    def __init__(self, store: Store) -> None:
        self._upload = store.suites.upload()
        self._list = StreamedList(PROBES)
        self._found: list[SuiteProbe] = []
        self._amount = 0
        self._unstaged_bytes = 0

    def begin(self) -> None:
        """Begin the upload, and remove what others abandoned."""
        self._upload.__enter__()

    def end(self) -> None:
        """Remove what is not kept."""
        self._upload.__exit__(None, None, None)

    def take(self, data: bytes, *, last: bool) -> None:
        """Check the probes that end in these bytes, and stage them.

        Raises
        ------
        RequestValidationError, HTTPException
            The body is no JSON, or a probe is wrong.
        """
        for item in self._list.items(data, last=last):
            self._found.append(self._probe(item))
            if len(self._found) == STAGED_AT_ONCE:
                self._stage()
        self._unstaged_bytes += len(data)
        if self._unstaged_bytes >= STAGED_BYTES:
            self._stage()

    def keep(self, commands: RunCommands) -> StoredSuite:
        """Keep the suite that has come, and return its hash."""
        fields = self._list.fields
        check_value(fields, "")
        self._stage()
        try:
            if not self._amount or PROBES in fields:  # it has none, or what is no list
                Suite.model_validate({PROBES: (), **fields} if self._list.has_list else fields)
            header = SuiteHeader.model_validate(fields)
        except ValidationError as error:
            raise wrong(error, ()) from None
        kept = self._upload.keep(header, commands.now(), commands.most_suites)
        return StoredSuite(hash=kept.hash)

    def _probe(self, item: Any) -> SuiteProbe:
        place = self._amount + len(self._found)
        check_value(item, f"{PROBES}.{place}")
        try:
            return SuiteProbe.model_validate(item)
        except ValidationError as error:
            raise wrong(error, (PROBES, place)) from None

    def _stage(self) -> None:
        if self._found:
            self._upload.add(self._found)
            self._amount += len(self._found)
            self._found = []
        self._unstaged_bytes = 0


async def received_suite(request: Request, commands: RunCommands) -> StoredSuite:
    """Take in the suite that a request brings, as it comes, and return its hash."""
    check_is_json(request)
    async with _receiver(commands.store) as receiver:
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) >= AT_ONCE_BYTES:
                async with one_at_a_time(request, "suites"):
                    await in_thread(receiver.take, bytes(data), last=False)
                data.clear()
        async with one_at_a_time(request, "suites"):
            await in_thread(receiver.take, bytes(data), last=True)
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
