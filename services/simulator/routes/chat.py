"""`POST /v1/chat/completions` and `GET /v1/models`."""

import asyncio
import hashlib
import secrets
from collections.abc import Callable

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import ValidationError

from services.simulator.domain.plant import Faults, Plant
from services.simulator.domain.reply import Asked, fault_for, reply_to, words_for
from services.simulator.routes.openai_format import ChatRequest, completion, error
from services.simulator.settings import SimulatorSettings

# What tells calls apart; a client that cannot send headers names the repeat in `user` or `seed`.
REPEAT_HEADER = "X-Biaswatch-Repeat"
ATTEMPT_HEADER = "X-Biaswatch-Attempt"


class Chat:
    """Answers chat completions as the models of the settings do."""

    def __init__(self, settings: SimulatorSettings, now: Callable[[], float]) -> None:
        self._settings, self._now = settings, now
        self._models = settings.models

    def router(self) -> APIRouter:
        """Give the routes."""
        router = APIRouter()
        router.add_api_route("/v1/chat/completions", self.complete, methods=["POST"])
        router.add_api_route("/v1/models", self.models, methods=["GET"])
        return router

    async def models(self, request: Request) -> Response:
        """List the models."""
        if (refusal := self._unwelcome(request)) is not None:
            return refusal
        listed = [
            {"id": name, "object": "model", "created": 0, "owned_by": "biaswatch"}
            for name in self._models
        ]
        return JSONResponse({"object": "list", "data": listed})

    async def complete(self, request: Request) -> Response:
        """Answer one conversation."""
        if (refusal := self._unwelcome(request)) is not None:
            return refusal
        try:
            wanted = ChatRequest.model_validate_json(await request.body())
        except ValidationError as wrong:
            return _bad_request(wrong)
        plant = self._models.get(wanted.model)
        if plant is None:
            return _unknown_model(wanted.model, self._models)
        asked = wanted.asked(
            request.headers.get(REPEAT_HEADER), request.headers.get(ATTEMPT_HEADER)
        )
        return await self._answer(request, asked, plant, wanted.limit)

    async def _answer(
        self, request: Request, asked: Asked, plant: Plant, limit: int | None
    ) -> Response:
        seed, faults = self._settings.seed, plant.faults or self._settings.faults
        fault = fault_for(seed, asked, faults)
        await asyncio.sleep(faults.latency_s)
        if fault == "hang":
            await _until_the_client_leaves(request)
        if (broken := _broken(fault, faults)) is not None:
            return broken
        words = words_for(seed, asked, plant, self._settings.markers)
        reply = reply_to(asked, words, fault=fault, faults=faults, limit=limit)
        print_of = _fingerprint(seed, plant)
        return JSONResponse(
            completion(asked, reply, fingerprint=print_of, created_s=int(self._now()))
        )

    def _unwelcome(self, request: Request) -> Response | None:
        if self._settings.api_key is None:
            return None
        wanted = f"Bearer {self._settings.api_key.get_secret_value()}"
        given = request.headers.get("Authorization", "")
        if secrets.compare_digest(given.encode(), wanted.encode()):
            return None
        said = error("The API key is wrong.", "invalid_request_error", code="invalid_api_key")
        return JSONResponse(said, 401)


def _broken(fault: str | None, faults: Faults) -> Response | None:
    if fault == "rate_limited":
        said = error("Too many requests.", "requests", code="rate_limit_exceeded")
        return JSONResponse(said, 429, headers={"Retry-After": f"{faults.retry_after_s:g}"})
    if fault == "server_error":
        return JSONResponse(error("The server had an error.", "server_error"), 500)
    if fault == "garbage":
        return PlainTextResponse("<html>no such luck</html>")
    if fault == "hang":  # nobody is listening any more
        return Response(status_code=499)
    return None


async def _until_the_client_leaves(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _bad_request(wrong: ValidationError) -> Response:
    first = wrong.errors(include_url=False, include_input=False, include_context=False)[0]
    field = ".".join(str(step) for step in first["loc"]) or None
    said = f"The request is wrong at {field or 'its beginning'}: {first['msg']}."
    return JSONResponse(error(said, "invalid_request_error", param=field), 400)


def _unknown_model(model: str, known: dict[str, Plant]) -> Response:
    said = f"There is no model {model!r}; there are: {', '.join(sorted(known))}."
    body = error(said, "invalid_request_error", code="model_not_found", param="model")
    return JSONResponse(body, 404)


def _fingerprint(seed: int, plant: Plant) -> str:
    """Give a name to what answers: another seed or another plant is another system."""
    named = f"{seed}{plant.model_dump_json()}".encode()
    return "fp_" + hashlib.blake2b(named, digest_size=5).hexdigest()
