"""Error responses: one sentence, as JSON for programs and as a page for people."""

import math
from dataclasses import replace

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from biaswatch.services.gateway.auth import NotSignedInError, redirect_to_login
from biaswatch.services.gateway.dashboard.rendering import page
from biaswatch.shared.contracts.mistakes import first_of
from biaswatch.shared.errors import (
    ArchivedError,
    BackPressureError,
    BiaswatchError,
    NotFoundError,
    TransientError,
    explained,
)

API_PREFIX = "/v1/"
RELOAD_S = 30
RETRY_AFTER_S = 5
CLIENT_LEFT = 499
"""Status that nginx uses for a request whose client closed the connection."""
UNEXPECTED = "The gateway failed at this, which is a fault of its own; its log says why."
STATUSES: tuple[tuple[type[BiaswatchError], int], ...] = (
    (BackPressureError, 429),
    (TransientError, 503),
    (NotFoundError, 404),
    (ArchivedError, 409),
)
"""Status of our errors, the most specific first; of others 422."""
SENTENCES = {
    "Not Found": "",
    "Method Not Allowed": "This cannot be done here.",
    "There was an error parsing the body": "The body cannot be read as JSON.",
}
"""Our sentences for those of the framework; an empty one names the address."""


class ErrorResponse(BaseModel):
    """The body of every error response."""

    detail: str
    """The cause, and what to do."""


RESPONSES: dict[int | str, dict[str, object]] = {
    422: {"model": ErrorResponse, "description": "Something in the request has to be corrected."}
}
"""Responses in OpenAPI, instead of the framework's list of mistakes."""


def add_error_handlers(app: FastAPI) -> None:
    """Turn errors and unreadable requests into responses with one sentence."""
    app.add_exception_handler(NotSignedInError, redirect_to_login)
    app.add_exception_handler(ClientDisconnect, _client_left)
    for kind in (BiaswatchError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, _error_response)


async def _client_left(request: Request, error: Exception) -> Response:
    """End a request whose client left; the status is for the logs of a proxy."""
    return Response(status_code=CLIENT_LEFT)


async def _error_response(request: Request, error: Exception) -> Response:
    """Map an error to a response; unexpected ones, which the framework logs, are 500."""
    match error := explained(error):
        case BiaswatchError():
            status = next((code for kind, code in STATUSES if isinstance(error, kind)), 422)
            response = _response(request, status, str(error))
            if isinstance(error, TransientError):
                response.headers["Retry-After"] = str(
                    math.ceil(error.retry_after_s or RETRY_AFTER_S)
                )
            return response
        case RequestValidationError():
            return _response(request, 422, f"{_mistake_of(error)}.")
        case HTTPException():
            sentence = SENTENCES.get(error.detail, error.detail)
            sentence = sentence or f"There is nothing at {request.url.path}."
            response = _response(request, error.status_code, sentence)
            response.headers.update(error.headers or {})
            return response
        case _:
            return _response(request, 500, UNEXPECTED)


def _mistake_of(error: RequestValidationError) -> str:
    """Return the field and its mistake, without the value."""
    mistake = first_of(error.errors())
    part, *path = mistake.loc
    if mistake.kind == "json_invalid":  # the path leads to a character
        path = []
    return replace(mistake, loc=tuple(path)).in_words(f"the {part}")


def _response(request: Request, status: int, sentence: str) -> Response:
    """Return JSON for programs and a page for people."""
    if f"{request.url.path}/".startswith(API_PREFIX):
        return JSONResponse(ErrorResponse(detail=sentence).model_dump(), status_code=status)
    reload_s = RELOAD_S if status >= 500 else None  # a page on a wall screen recovers by itself
    return page("error.html", status, reload_s=reload_s, sentence=sentence)
