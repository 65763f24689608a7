"""What the gateway answers where it does not do what was asked: always one sentence."""

from dataclasses import replace

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from services.gateway.handlers import NotThereError
from services.gateway.routes.rendering import page
from services.gateway.routes.sessions import NotSignedInError, to_sign_in
from shared.contracts.mistakes import first_of
from shared.errors import BiaswatchError, TransientError

API = "/v1/"
AGAIN_S = 30
OWN_FAULT = "The gateway failed at this, which is a fault of its own; its log says why."
WORDS = {
    "Not Found": "",
    "Method Not Allowed": "This cannot be done here.",
    "There was an error parsing the body": "The body cannot be read as JSON.",
}
"""Of the framework, in ours."""


class Refusal(BaseModel):
    """Why not."""

    detail: str
    """What happened, and what to do."""


RESPONSES: dict[int | str, dict[str, object]] = {
    422: {"model": Refusal, "description": "Something in the request has to be corrected."}
}
"""For the description of the API, whose framework would promise a list of its own."""


def answer_refusals(app: FastAPI) -> None:
    """Have errors of ours, and requests that cannot be read, answered with a sentence."""
    app.add_exception_handler(NotSignedInError, to_sign_in)
    app.add_exception_handler(BiaswatchError, _as_sentence)
    app.add_exception_handler(HTTPException, _as_it_says)
    app.add_exception_handler(RequestValidationError, _misread)
    app.add_exception_handler(Exception, _failed)


async def _as_sentence(request: Request, error: Exception) -> Response:
    if isinstance(error, TransientError):
        return _refusal(request, 503, str(error))
    return _refusal(request, 404 if isinstance(error, NotThereError) else 422, str(error))


async def _as_it_says(request: Request, error: Exception) -> Response:
    if not isinstance(error, HTTPException):
        raise error
    nowhere = f"There is nothing at {request.url.path}."
    sentence = WORDS.get(error.detail, error.detail) or nowhere
    answer = _refusal(request, error.status_code, sentence)
    answer.headers.update(error.headers or {})
    return answer


async def _failed(request: Request, _: Exception) -> Response:
    """Say that it is ours; the framework then logs what happened."""
    return _refusal(request, 500, OWN_FAULT)


async def _misread(request: Request, error: Exception) -> Response:
    """Name the field and what is wrong with it; what was sent is not repeated."""
    if not isinstance(error, RequestValidationError):
        raise error
    mistake = first_of(error.errors())
    place, *way = mistake.loc
    if mistake.kind == "json_invalid":  # its way leads to a character
        way = []
    said = replace(mistake, loc=tuple(way)).in_words(f"the {place}")
    return _refusal(request, 422, f"{said}.")


def _refusal(request: Request, status: int, sentence: str) -> Response:
    """Answer programs with JSON, and people with a page."""
    if f"{request.url.path}/".startswith(API):
        return JSONResponse(Refusal(detail=sentence).model_dump(), status_code=status)
    again_s = AGAIN_S if status >= 500 else None  # a page on a wall comes back by itself
    return page("refusal.html", status, again_s=again_s, sentence=sentence)
