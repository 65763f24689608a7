"""Strict JSON request bodies, read at once or item by item."""

import asyncio
import json
import math
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import ValidationError
from starlette.types import ASGIApp, Receive, Scope, Send

from biaswatch.shared.parsing.json_objects import is_too_deep
from biaswatch.shared.parsing.json_stream import ListInObject
from biaswatch.shared.runtime.blocking import in_thread

IN_LOOP_BYTES = 64 * 1024
"""The largest body that is decoded in the event loop."""
MAX_VALUES = 200_000
"""Values of one body, counted by its commas and brackets: at most 50 MiB when decoded."""
TOO_MANY = f"The body has more than {MAX_VALUES:,} values. Send it in parts."
LONGEST_NUMBER = 30
"""Digits; a longer whole number is none that anybody means."""


ANSWERS = "answers"
"""The name for all production answers, in JSON of ours or of OTLP."""


def one_at_a_time(request: Request, what: str) -> asyncio.Semaphore:
    """Return what lets one large body, or part of one, be decoded at a time.

    Decoded, it may take 30 times as much memory as its text.
    """
    state = request.app.state
    if not hasattr(state, "decoders"):
        state.decoders = {}
    decoder: asyncio.Semaphore = state.decoders.setdefault(what, asyncio.Semaphore(1))
    return decoder


class StrictRequest(Request):
    """A request whose JSON holds nothing that a record could not."""

    async def json(self) -> Any:
        """Return the body; raise HTTPException where the standard, or UTF-8, has no such thing."""
        if not hasattr(self, "_json"):
            body = await self.body()
            if len(body) <= IN_LOOP_BYTES:
                self._json = strict_json(body)
            else:
                async with one_at_a_time(self, "bodies"):
                    self._json = await in_thread(strict_json, body)
        return self._json


class StrictRoute(APIRoute):
    """A route that reads its requests strictly."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the handler of the route."""
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return strict


def strict_json(body: bytes) -> Any:
    """Return what JSON says.

    Raises
    ------
    JSONDecodeError
        It is not JSON.
    HTTPException
        It has NaN, an infinite or endless number, half a surrogate pair, or is nested too deeply.
    """
    if sum(body.count(sign) for sign in (b",", b"[", b"{")) > MAX_VALUES:
        raise HTTPException(413, TOO_MANY)
    try:
        read = json.loads(body, **STRICT)
    except RecursionError:
        raise HTTPException(422, TOO_DEEP) from None
    except UnicodeDecodeError:
        raise HTTPException(422, "The body is not UTF-8.") from None
    check_value(read, "", escapes=rb"\u" in body)
    return read


def check_value(read: Any, where: str, *, escapes: bool = True) -> None:
    """Refuse what a record cannot hold, in a value that was read; its text may have had escapes."""
    if is_too_deep(read):
        raise HTTPException(422, TOO_DEEP)
    if escapes and (place := next(_unencodable(read, where), None)) is not None:
        raise HTTPException(422, f"{place or 'The body'}: {HALF}.")


TOO_DEEP = "The body is nested too deeply."
HALF = "this has half of a surrogate pair, which UTF-8 cannot hold"


def _no_constant(word: str) -> Any:
    raise HTTPException(
        422, f"The body has {word}, which is no number; write null or leave it out."
    )


def _whole(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER:
        raise HTTPException(422, f"The body has a number of more than {LONGEST_NUMBER} digits.")
    return int(digits)


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise HTTPException(422, "The body has a number beyond what numbers hold.")
    return number


STRICT: dict[str, Any] = {
    "parse_constant": _no_constant,
    "parse_int": _whole,
    "parse_float": _finite,
}
"""How JSON is read by its standard alone."""


def _unencodable(value: Any, where: str = "") -> Iterator[str]:
    """Yield the places of texts that UTF-8 cannot hold."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            yield where
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _unencodable(name, f"{where}.".removeprefix(".") + "a name")
            yield from _unencodable(each, f"{where}.{name}".removeprefix("."))
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _unencodable(each, f"{where}.{number}".removeprefix("."))


NUL = "An address holds no NUL character."


class PlainAddresses:
    """Refuses an address with a NUL, which no text of a database can hold."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests for addresses without one."""
        if scope["type"] == "http" and (
            "\x00" in scope["path"] or b"%00" in scope.get("query_string", b"")
        ):
            await JSONResponse({"detail": NUL}, 422)(scope, receive, send)
            return
        await self._app(scope, receive, send)


JSON = "json"
"""The end of the name of the body's type."""


class StreamedList:
    """Takes the bytes of an object, and yields the items of its list."""

    def __init__(self, name: str) -> None:
        self._reader = ListInObject(name, json.JSONDecoder(**STRICT))

    @property
    def fields(self) -> dict[str, Any]:
        """Return the fields of the object beside the list."""
        return self._reader.fields

    @property
    def has_list(self) -> bool:
        """Return whether the list has begun."""
        return self._reader.has_list

    def items(self, data: bytes, *, last: bool) -> Iterator[Any]:
        """Yield the items that end in these bytes.

        Raises
        ------
        RequestValidationError, HTTPException
            The body is not JSON, or nested too deeply.
        UsageError
            One value is too large.
        """
        try:
            yield from self._reader.read(data, last=last)
        except json.JSONDecodeError as error:
            if not self._reader.is_object:
                raise refusal("model_attributes_type", ("body",)) from None
            raise refusal("json_invalid", ("body", error.pos)) from None
        except UnicodeDecodeError:
            raise HTTPException(422, "The body is not UTF-8.") from None
        except RecursionError:
            raise HTTPException(422, TOO_DEEP) from None


def check_is_json(request: Request) -> None:
    """Raise RequestValidationError where the type of the body is not JSON."""
    if not request.headers.get("content-type", "").partition(";")[0].strip().endswith(JSON):
        raise refusal("model_attributes_type", ("body",))


def wrong(error: ValidationError, where: Sequence[str | int]) -> RequestValidationError:
    """Return what the framework raises for a body with these mistakes at a place of it."""
    errors = error.errors(include_url=False, include_input=False)
    return RequestValidationError([{**one, "loc": ("body", *where, *one["loc"])} for one in errors])


def refusal(kind: str, where: Sequence[str | int]) -> RequestValidationError:
    """Return what the framework raises for one mistake of this kind."""
    return RequestValidationError([{"type": kind, "loc": where, "msg": "", "input": None}])
