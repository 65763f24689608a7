"""Error responses: one sentence, as JSON for programs and as a page for people."""

from dataclasses import replace

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from services.gateway.auth import NotSignedInError, redirect_to_login
from services.gateway.dashboard.rendering import page
from shared.contracts.mistakes import first_of
from shared.errors import BiaswatchError, NotFoundError, TransientError

API_PREFIX = "/v1/"
RELOAD_S = 30
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
    app.add_exception_handler(BiaswatchError, _biaswatch_error)
    app.add_exception_handler(HTTPException, _http_error)
    app.add_exception_handler(RequestValidationError, _validation_error)
    app.add_exception_handler(Exception, _unexpected_error)


async def _biaswatch_error(request: Request, error: Exception) -> Response:
    if isinstance(error, TransientError):
        return _response(request, 503, str(error))
    return _response(request, 404 if isinstance(error, NotFoundError) else 422, str(error))


async def _http_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    nowhere = f"There is nothing at {request.url.path}."
    sentence = PLAIN_WORDS.get(error.detail, error.detail) or nowhere
    answer = _response(request, error.status_code, sentence)
    answer.headers.update(error.headers or {})
    return answer


async def _unexpected_error(request: Request, _: Exception) -> Response:
    """Say that the gateway is at fault; the framework logs the error."""
    return _response(request, 500, UNEXPECTED)


async def _validation_error(request: Request, error: Exception) -> Response:
    """Name the field and its mistake, without repeating what was sent."""
    if not isinstance(error, RequestValidationError):
        raise error
    mistake = first_of(error.errors())
    part, *path = mistake.loc
    if mistake.kind == "json_invalid":  # the path leads to a character
        path = []
    sentence = replace(mistake, loc=tuple(path)).in_words(f"the {part}")
    return _response(request, 422, f"{sentence}.")


def _response(request: Request, status: int, sentence: str) -> Response:
    """Return JSON for programs and a page for people."""
    if f"{request.url.path}/".startswith(API_PREFIX):
        return JSONResponse(ErrorResponse(detail=sentence).model_dump(), status_code=status)
    reload_s = RELOAD_S if status >= 500 else None  # a page on a wall screen recovers by itself
    return page("error.html", status, reload_s=reload_s, sentence=sentence)
