"""A JSON object with one long list, checked item by item while it comes."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from fastapi import HTTPException, Request
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from biaswatch.services.gateway.strict_requests import STRICT, TOO_DEEP
from biaswatch.shared.parsing.json_stream import ListInObject

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
