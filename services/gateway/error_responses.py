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
)

API_PREFIX = "/v1/"
RELOAD_S = 30
COME_AGAIN_S = 5
CLIENT_LEFT = 499
"""The status that nginx gives a request whose client closed the connection."""
UNEXPECTED = "The gateway failed at this, which is a fault of its own; its log says why."
PLAIN_WORDS = {
    "Not Found": "",
    "Method Not Allowed": "This cannot be done here.",
    "There was an error parsing the body": "The body cannot be read as JSON.",
}
"""Sentences of ours for the framework's."""


class ErrorResponse(BaseModel):
    """The body of every error response."""

    detail: str
    """What happened, and what to do."""


RESPONSES: dict[int | str, dict[str, object]] = {
    422: {"model": ErrorResponse, "description": "Something in the request has to be corrected."}
}
"""For OpenAPI, where the framework would describe a list of its own."""


def add_error_handlers(app: FastAPI) -> None:
    """Answer errors of ours, and requests that cannot be read, with a sentence."""
    app.add_exception_handler(NotSignedInError, redirect_to_login)
    app.add_exception_handler(ClientDisconnect, _end_quietly)
    for kind in (BiaswatchError, HTTPException, RequestValidationError, Exception):
        app.add_exception_handler(kind, _answer)


async def _end_quietly(request: Request, error: Exception) -> Response:
    """End a request whose client left during its body; the status is for logs of a proxy."""
    return Response(status_code=CLIENT_LEFT)


async def _answer(request: Request, error: Exception) -> Response:
    """Say what happened; what nobody expected is the gateway's fault, and the framework logs it."""
    match error:
        case BiaswatchError():
            statuses = {
                BackPressureError: 429,
                TransientError: 503,
                NotFoundError: 404,
                ArchivedError: 409,
            }
            found = [status for kind, status in statuses.items() if isinstance(error, kind)]
            answer = _response(request, found[0] if found else 422, str(error))
            if isinstance(error, TransientError):
                answer.headers["Retry-After"] = str(math.ceil(error.retry_after_s or COME_AGAIN_S))
            return answer
        case RequestValidationError():
            return _response(request, 422, f"{_mistake_of(error)}.")
        case HTTPException():
            nowhere = f"There is nothing at {request.url.path}."
            sentence = PLAIN_WORDS.get(error.detail, error.detail) or nowhere
            answer = _response(request, error.status_code, sentence)
            answer.headers.update(error.headers or {})
            return answer
        case _:
            return _response(request, 500, UNEXPECTED)


def _mistake_of(error: RequestValidationError) -> str:
    """Name the field and its mistake, without repeating what was sent."""
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
