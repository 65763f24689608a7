"""Answers requests in every wire format: the same models, faults and limits behind all of them."""

import asyncio
import hashlib
import secrets
import time
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import ValidationError

from services.simulator.domain.plant import Faults, Plant
from services.simulator.domain.reply import Asked, fault_for, reply_to, words_for
from services.simulator.routes.anthropic_format import AnthropicFormat
from services.simulator.routes.limiter import Limiter
from services.simulator.routes.openai_format import OpenAIChatFormat
from services.simulator.routes.responses_format import OpenAIResponsesFormat
from services.simulator.routes.wire import Format
from services.simulator.settings import SimulatorSettings
from shared.contracts.mistakes import first_mistake

# What tells calls apart; a client that cannot send headers names the repeat in the request.
REPEAT_HEADER = "X-Biaswatch-Repeat"
ATTEMPT_HEADER = "X-Biaswatch-Attempt"
FORMATS: tuple[Format, ...] = (OpenAIChatFormat(), OpenAIResponsesFormat(), AnthropicFormat())


class Models:
    """Answers as the models of the settings do."""

    def __init__(self, settings: SimulatorSettings, now: Callable[[], float]) -> None:
        self._settings, self._now = settings, now
        self._models = settings.models
        self._limiters = {
            name: Limiter(faults.most_per_s, clock=time.monotonic)
            for name, plant in self._models.items()
            if (faults := plant.faults or settings.faults).most_per_s
        }

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter()
        for each in FORMATS:
            router.add_api_route(each.path, self._route(each), methods=["POST"])
        router.add_api_route("/v1/models", self.models, methods=["GET"])
        return router

    async def models(self, request: Request) -> Response:
        """List the models."""
        if (refusal := self._unwelcome(request, FORMATS[0])) is not None:
            return refusal
        listed = [
            {"id": name, "object": "model", "created": 0, "owned_by": "biaswatch"}
            for name in self._models
        ]
        return JSONResponse({"object": "list", "data": listed})

    def _route(self, spoken: Format) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await self.complete(request, spoken)

        return answer

    async def complete(self, request: Request, spoken: Format) -> Response:
        """Answer one conversation."""
        if (refusal := self._unwelcome(request, spoken)) is not None:
            return refusal
        try:
            wanted = spoken.read(await request.body())
        except ValidationError as wrong:
            return _bad_request(wrong, spoken)
        plant = self._models.get(wanted.model)
        if plant is None:
            known = ", ".join(sorted(self._models))
            said = f"There is no model {wanted.model!r}; there are: {known}."
            body = spoken.error(404, said, code="model_not_found", param="model")
            return JSONResponse(body, 404)
        faults = plant.faults or self._settings.faults
        limiter = self._limiters.get(wanted.model)
        if limiter and not limiter.let_in():
            return _too_many(faults, spoken)
        headers = request.headers
        asked = wanted.asked(headers.get(REPEAT_HEADER), headers.get(ATTEMPT_HEADER))
        return await self._answer(request, asked, plant, faults, wanted.limit, spoken)

    async def _answer(
        self,
        request: Request,
        asked: Asked,
        plant: Plant,
        faults: Faults,
        limit: int | None,
        spoken: Format,
    ) -> Response:
        seed = self._settings.seed
        fault = fault_for(seed, asked, faults)
        await asyncio.sleep(faults.latency_s)
        if fault == "hang":
            await _until_the_client_leaves(request)
        if (broken := _broken(fault, faults, spoken)) is not None:
            return broken
        words = words_for(seed, asked, plant, self._settings.markers)
        reply = reply_to(asked, words, fault=fault, faults=faults, limit=limit)
        fingerprint = _fingerprint(seed, plant)
        body = spoken.whole(asked, reply, fingerprint=fingerprint, created_s=int(self._now()))
        return JSONResponse(body)

    def _unwelcome(self, request: Request, spoken: Format) -> Response | None:
        if self._settings.api_key is None:
            return None
        wanted = self._settings.api_key.get_secret_value()
        if secrets.compare_digest(spoken.key_in(request.headers).encode(), wanted.encode()):
            return None
        said = spoken.error(401, "The API key is wrong.", code="invalid_api_key")
        return JSONResponse(said, 401)


def _broken(fault: str | None, faults: Faults, spoken: Format) -> Response | None:
    if fault == "rate_limited":
        return _too_many(faults, spoken)
    if fault == "server_error":
        return JSONResponse(spoken.error(500, "The server had an error."), 500)
    if fault == "garbage":
        return PlainTextResponse("<html>no such luck</html>")
    if fault == "hang":  # nobody is listening any more
        return Response(status_code=499)
    return None


def _too_many(faults: Faults, spoken: Format) -> Response:
    said = spoken.error(429, "Too many requests.", code="rate_limit_exceeded")
    return JSONResponse(said, 429, headers={"Retry-After": f"{faults.retry_after_s:g}"})


async def _until_the_client_leaves(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _bad_request(wrong: ValidationError, spoken: Format) -> Response:
    mistake = first_mistake(wrong)
    said = f"The request is wrong at {mistake.in_words('its beginning')}."
    return JSONResponse(spoken.error(400, said, param=mistake.field or None), 400)


def _fingerprint(seed: int, plant: Plant) -> str:
    """Return a name to what answers: another seed or another plant is another system."""
    named = f"{seed}{plant.model_dump_json()}".encode()
    return "fp_" + hashlib.blake2b(named, digest_size=5).hexdigest()
