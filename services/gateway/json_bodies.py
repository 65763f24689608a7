"""Strict JSON request bodies, read at once or item by item."""

import asyncio
import json
import math
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

from fastapi import HTTPException, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import ValidationError

from biaswatch.shared.parsing.json_objects import is_too_deep
from biaswatch.shared.parsing.json_stream import ListInObject
from biaswatch.shared.runtime.threads import in_thread

IN_LOOP_BYTES = 64 * 1024
"""Size up to which a body is decoded in the event loop."""
MAX_VALUES = 200_000
"""Values of one body, counted by commas and brackets: at most 50 MiB when decoded."""
MAX_INTEGER_DIGITS = 30
TOO_MANY_VALUES = f"The body has more than {MAX_VALUES:,} values. Send it in parts."
TOO_DEEP = "The body is nested too deeply."
NOT_UTF8 = "The body is not UTF-8."
HALF_SURROGATE = "this has half of a surrogate pair, which UTF-8 cannot hold"
ANSWERS = "answers"
"""Decoder name of all production answers, in our JSON and in OTLP's."""


def decoder_lock(request: Request, name: str) -> asyncio.Semaphore:
    """Return a lock that allows one large body of a kind to be decoded at a time.

    A decoded body may take 30 times the memory of its text.
    """
    state = request.app.state
    if not hasattr(state, "decoders"):
        state.decoders = {}
    lock: asyncio.Semaphore = state.decoders.setdefault(name, asyncio.Semaphore(1))
    return lock


class StrictRequest(Request):
    """A request whose JSON holds nothing that a record could not."""

    async def json(self) -> Any:
        """Return the decoded body; raise HTTPException if it is not strict JSON in UTF-8."""
        if not hasattr(self, "_json"):
            body = await self.body()
            if len(body) <= IN_LOOP_BYTES:
                self._json = strict_json(body)
            else:
                async with decoder_lock(self, "bodies"):
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
    """Decode JSON.

    Raises
    ------
    JSONDecodeError
        It is not JSON.
    HTTPException
        It has NaN, an infinite or very long number, half a surrogate pair, or too many levels.
    """
    if sum(body.count(sign) for sign in (b",", b"[", b"{")) > MAX_VALUES:
        raise HTTPException(413, TOO_MANY_VALUES)
    try:
        value = json.loads(body, **STRICT)
    except RecursionError:
        raise HTTPException(422, TOO_DEEP) from None
    except UnicodeDecodeError:
        raise HTTPException(422, NOT_UTF8) from None
    check_value(value, "", escapes=rb"\u" in body)
    return value


def check_value(value: Any, path: str, *, escapes: bool = True) -> None:
    """Raise HTTPException if a record cannot hold a decoded value.

    Without `escapes`, its text had no escaped characters and needs no check for surrogates.
    """
    if is_too_deep(value):
        raise HTTPException(422, TOO_DEEP)
    if escapes and (place := next(_unencodable(value, path), None)) is not None:
        raise HTTPException(422, f"{place or 'The body'}: {HALF_SURROGATE}.")


def _unencodable(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of texts that UTF-8 cannot hold."""
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            yield path
        return
    prefix = f"{path}." if path else ""
    if isinstance(value, dict):
        for name, item in value.items():
            yield from _unencodable(name, f"{prefix}a name")
            yield from _unencodable(item, f"{prefix}{name}")
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from _unencodable(item, f"{prefix}{number}")


def _refuse_constant(word: str) -> Any:
    raise HTTPException(
        422, f"The body has {word}, which is not a number; write null or leave it out."
    )


def _integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS:
        raise HTTPException(422, f"The body has a number of more than {MAX_INTEGER_DIGITS} digits.")
    return int(digits)


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise HTTPException(422, "The body has a number beyond what numbers hold.")
    return number


STRICT: dict[str, Any] = {
    "parse_constant": _refuse_constant,
    "parse_int": _integer,
    "parse_float": _finite,
}
"""Arguments of `json.loads` that accept standard JSON only."""


class StreamedList:
    """Yields the items of the one list of a JSON object as its bytes arrive."""

    def __init__(self, name: str) -> None:
        self._reader = ListInObject(name, json.JSONDecoder(**STRICT))

    @property
    def fields(self) -> dict[str, Any]:
        """The other fields of the object."""
        return self._reader.fields

    @property
    def has_list(self) -> bool:
        """True after the beginning of the list."""
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
                raise body_error("model_attributes_type", ("body",)) from None
            raise body_error("json_invalid", ("body", error.pos)) from None
        except UnicodeDecodeError:
            raise HTTPException(422, NOT_UTF8) from None
        except RecursionError:
            raise HTTPException(422, TOO_DEEP) from None


def check_is_json(request: Request) -> None:
    """Raise RequestValidationError if the content type of the body is not JSON."""
    if not request.headers.get("content-type", "").partition(";")[0].strip().endswith("json"):
        raise body_error("model_attributes_type", ("body",))


def invalid_body(error: ValidationError, path: Sequence[str | int]) -> RequestValidationError:
    """Return the framework's error for mistakes at a path of a body."""
    errors = error.errors(include_url=False, include_input=False)
    return RequestValidationError(
        [{**item, "loc": ("body", *path, *item["loc"])} for item in errors]
    )


def body_error(kind: str, path: Sequence[str | int]) -> RequestValidationError:
    """Return the framework's error for one mistake of this kind."""
    return RequestValidationError([{"type": kind, "loc": path, "msg": "", "input": None}])
