"""An uploaded suite goes into the store as it comes; only some probes of it are in memory."""

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from services.gateway.runs.commands import RunCommands
from services.gateway.runs.views import StoredSuite
from services.gateway.strict_requests import STRICT, TOO_DEEP, check_value
from shared.contracts import Suite, SuiteHeader, SuiteProbe
from shared.parsing.json_stream import ListInObject
from shared.runtime.blocking import in_thread
from shared.store import Store

AT_ONCE_BYTES = 256 * 1024
"""What is read of a body before a thread goes on with it."""
STAGED_AT_ONCE = 500
PROBES = "probes"
JSON = "json"
"""What the name of the body's type ends in."""


class SuiteReceiver(AbstractContextManager["SuiteReceiver"]):
    """Takes the bytes of one suite; it reads and writes the store, so it runs in a thread."""

    def __init__(self, store: Store) -> None:
        self._upload = store.suites.upload()
        self._reader = ListInObject(PROBES, json.JSONDecoder(**STRICT))
        self._found: list[SuiteProbe] = []
        self._amount = 0

    def __enter__(self) -> "SuiteReceiver":
        """Begin."""
        self._upload.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        """Remove what is not kept."""
        self._upload.__exit__(kind, error, trace)

    def take(self, data: bytes, *, last: bool) -> None:
        """Check the probes that end in these bytes, and stage them.

        Raises
        ------
        RequestValidationError, HTTPException
            The body is no JSON, or a probe is wrong.
        """
        try:
            for item in self._reader.read(data, last=last):
                self._found.append(self._probe(item))
                if len(self._found) == STAGED_AT_ONCE:
                    self._stage()
        except json.JSONDecodeError as error:
            kind = "json_invalid" if self._reader.is_object else "model_attributes_type"
            raise _refusal(
                kind, ("body", error.pos) if self._reader.is_object else ("body",)
            ) from None
        except UnicodeDecodeError:
            raise HTTPException(422, "The body is not UTF-8.") from None
        except RecursionError:
            raise HTTPException(422, TOO_DEEP) from None

    def keep(self, commands: RunCommands) -> StoredSuite:
        """Keep the suite that has come, and return its hash."""
        fields = self._reader.fields
        check_value(fields, "")
        self._stage()
        try:
            if not self._amount or PROBES in fields:  # it has none, or what is no list
                Suite.model_validate({PROBES: (), **fields} if self._reader.has_list else fields)
            header = SuiteHeader.model_validate(fields)
        except ValidationError as error:
            raise _wrong(error, ()) from None
        kept = self._upload.keep(header, commands.now(), commands.most_suites)
        return StoredSuite(hash=kept.hash)

    def _probe(self, item: Any) -> SuiteProbe:
        place = self._amount + len(self._found)
        check_value(item, f"{PROBES}.{place}")
        try:
            return SuiteProbe.model_validate(item)
        except ValidationError as error:
            raise _wrong(error, (PROBES, place)) from None

    def _stage(self) -> None:
        if self._found:
            self._upload.add(self._found)
            self._amount += len(self._found)
            self._found = []


async def received_suite(request: Request, commands: RunCommands) -> StoredSuite:
    """Take in the suite that a request brings, as it comes, and return its hash."""
    if not request.headers.get("content-type", "").partition(";")[0].strip().endswith(JSON):
        raise _refusal("model_attributes_type", ("body",))
    with await in_thread(SuiteReceiver(commands.store).__enter__) as receiver:
        data = bytearray()
        async for chunk in request.stream():
            data += chunk
            if len(data) >= AT_ONCE_BYTES:
                await in_thread(receiver.take, bytes(data), last=False)
                data.clear()
        await in_thread(receiver.take, bytes(data), last=True)
        return await in_thread(receiver.keep, commands)


def _wrong(error: ValidationError, where: Sequence[str | int]) -> RequestValidationError:
    """Return what the framework raises for a body with these mistakes at a place of it."""
    found = error.errors(include_url=False, include_input=False)
    return RequestValidationError(
        [{**each, "loc": ("body", *where, *each["loc"])} for each in found]
    )


def _refusal(kind: str, where: Sequence[str | int]) -> RequestValidationError:
    return RequestValidationError([{"type": kind, "loc": where, "msg": "", "input": None}])
