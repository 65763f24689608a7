"""What the gateway answers where it does not do what was asked: always one sentence."""

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from services.gateway.handlers import NotThereError
from shared.contracts.mistakes import mistake_of
from shared.errors import BiaswatchError, TransientError


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
    app.add_exception_handler(BiaswatchError, _as_sentence)
    app.add_exception_handler(RequestValidationError, _misread)


async def _as_sentence(_: Request, error: Exception) -> JSONResponse:
    if isinstance(error, TransientError):
        return _refusal(503, str(error))
    return _refusal(404 if isinstance(error, NotThereError) else 422, str(error))


async def _misread(_: Request, error: Exception) -> JSONResponse:
    """Name the field and what is wrong with it; what was sent is not repeated."""
    if not isinstance(error, RequestValidationError):
        raise error
    mistake = mistake_of(error.errors()[0])
    place, *loc = mistake.loc
    if mistake.kind == "json_invalid":  # its way leads to a character
        loc = []
    found = type(mistake)(tuple(loc), mistake.kind, mistake.said).within(error.body)
    return _refusal(422, f"{found.in_words(f'the {place}')}.")


def _refusal(status: int, sentence: str) -> JSONResponse:
    return JSONResponse(Refusal(detail=sentence).model_dump(), status_code=status)
