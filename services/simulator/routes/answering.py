"""Answers requests in all wire formats with the same models, faults and limits."""

import asyncio
import hashlib
import math
import secrets
import time
from collections.abc import Awaitable, Callable

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import ValidationError

from biaswatch.services.simulator.domain.planted_bias import Faults, PlantedModel
from biaswatch.services.simulator.domain.reply import (
    SimulatedRequest,
    fault_for,
    reply_to,
    words_for,
)
from biaswatch.services.simulator.domain.speech import REFUSAL
from biaswatch.services.simulator.domain.tool_calls import call_for, with_citation
from biaswatch.services.simulator.routes.formats import OPENAI_CHAT, OPENAI_RESPONSES, WireFormat
from biaswatch.services.simulator.routes.messages_format import ANTHROPIC_MESSAGES
from biaswatch.services.simulator.settings import SimulatorSettings
from biaswatch.shared.contracts.mistakes import first_mistake

# Identify a call; clients that cannot send headers name the repeat in the request.
REPEAT_HEADER = "X-Biaswatch-Repeat"
ATTEMPT_HEADER = "X-Biaswatch-Attempt"
FORMATS = (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC_MESSAGES)


class SimulatedModels:
    """The simulated models of the settings."""

    def __init__(self, settings: SimulatorSettings, now: Callable[[], float]) -> None:
        self._settings, self._now = settings, now
        self._models = settings.models
        self._limiters = {
            name: TokenBucket(faults.most_per_s, clock=time.monotonic)
            for name, model in self._models.items()
            if (faults := model.faults or settings.faults).most_per_s
        }
        self._question_numbers = {
            name: QuestionNumbers(model.settled_after)
            for name, model in self._models.items()
            if model.later
        }

    def router(self) -> APIRouter:
        """Return the routes."""
        router = APIRouter()
        for wire in FORMATS:
            router.add_api_route(wire.path, self._route(wire), methods=["POST"])
        router.add_api_route("/v1/models", self.models, methods=["GET"])
        return router

    async def models(self, request: Request) -> Response:
        """List the models."""
        if (refusal := self._key_refusal(request, OPENAI_CHAT)) is not None:
            return refusal
        listed = [
            {"id": name, "object": "model", "created": 0, "owned_by": "biaswatch"}
            for name in self._models
        ]
        return JSONResponse({"object": "list", "data": listed})

    def _route(self, wire: WireFormat) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            return await self.complete(request, wire)

        return answer

    async def complete(self, request: Request, wire: WireFormat) -> Response:
        """Answer one request."""
        if (refusal := self._key_refusal(request, wire)) is not None:
            return refusal
        try:
            wire_request = wire.read(await request.body())
        except ValidationError as error:
            mistake = first_mistake(error)
            message = f"The request is wrong at {mistake.in_words('its beginning')}."
            return wire.error(400, message, param=mistake.field or None)
        model = self._models.get(wire_request.model)
        if model is None:
            known = ", ".join(sorted(self._models))
            message = f"Unknown model {wire_request.model!r}; the models are: {known}."
            return wire.error(404, message, code="model_not_found", param="model")
        faults = model.faults or self._settings.faults
        limiter = self._limiters.get(wire_request.model)
        if limiter and not limiter.take():
            return _too_many(faults, wire)
        headers = request.headers
        simulated = wire_request.request(headers.get(REPEAT_HEADER), headers.get(ATTEMPT_HEADER))
        return await self._answer(request, simulated, model, faults, wire_request.limit, wire)

    async def _answer(
        self,
        request: Request,
        simulated: SimulatedRequest,
        model: PlantedModel,
        faults: Faults,
        limit: int | None,
        wire: WireFormat,
    ) -> Response:
        seed = self._settings.seed
        fault = fault_for(seed, simulated, faults)
        await asyncio.sleep(faults.latency_s)
        if fault == "hang":
            while (await request.receive())["type"] != "http.disconnect":
                pass
        if (broken := _broken(fault, faults, wire)) is not None:
            return broken
        planted = self._current(simulated, model)
        words, call = words_for(seed, simulated, planted, self._settings.markers), None
        if simulated.tools and words != REFUSAL:
            call = call_for(seed, simulated, planted, self._settings.markers)
            words = with_citation(words, simulated)
        reply = reply_to(simulated, words, fault=fault, faults=faults, limit=limit, call=call)
        fingerprint = _fingerprint(seed, model)
        return JSONResponse(wire.answer_body(simulated, reply, fingerprint, int(self._now())))

    def _current(self, request: SimulatedRequest, model: PlantedModel) -> PlantedModel:
        """Return the model with the gaps that apply to this question."""
        numbers = self._question_numbers.get(request.model)
        return model.after_questions(numbers.before(request)) if numbers else model

    def _key_refusal(self, request: Request, wire: WireFormat) -> Response | None:
        if self._settings.api_key is None:
            return None
        expected = self._settings.api_key.get_secret_value()
        if secrets.compare_digest(wire.key_in(request.headers).encode(), expected.encode()):
            return None
        return wire.error(401, "The API key is wrong.", code="invalid_api_key")


def _broken(fault: str | None, faults: Faults, wire: WireFormat) -> Response | None:
    if fault == "rate_limited":
        return _too_many(faults, wire)
    if fault == "server_error":
        return wire.error(500, "The server had an error.")
    if fault == "garbage":
        return PlainTextResponse("<html>no JSON</html>")
    if fault == "hang":  # the client has disconnected
        return Response(status_code=499)
    return None


def _too_many(faults: Faults, wire: WireFormat) -> Response:
    refusal = wire.error(429, "Too many requests.", code="rate_limit_exceeded")
    refusal.headers["Retry-After"] = f"{faults.retry_after_s:g}"
    return refusal


def _fingerprint(seed: int, model: PlantedModel) -> str:
    """Return the fingerprint of a model, which depends on the seed and the planted bias.

    Later gaps are left out, as such a model changes silently, and so are errors of instruments,
    which do not belong to the model.
    """
    name = f"{seed}{model.model_dump_json(exclude={'later', 'reading_errors'})}".encode()
    return "fp_" + hashlib.blake2b(name, digest_size=5).hexdigest()


class QuestionNumbers:
    """Numbers of distinct questions, in order of arrival; a repeated question keeps its number."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        """Questions beyond this number are not stored, as they make no difference."""
        self._numbers: dict[bytes, int] = {}

    def before(self, request: SimulatedRequest) -> int:
        """Return the number of distinct questions before the first arrival of this one."""
        name = hashlib.blake2b("\n".join(request.purpose).encode(), digest_size=12).digest()
        if (known := self._numbers.get(name)) is not None:
            return known
        number = len(self._numbers)
        if number < self._limit:
            self._numbers[name] = number
        return number


class TokenBucket:
    """A token bucket with a capacity of a quarter of a second, or at least one call."""

    def __init__(self, per_s: float, *, clock: Callable[[], float]) -> None:
        self._per_s = per_s
        self._capacity = max(1.0, per_s / 4)
        self._clock = clock
        self._tokens = self._capacity
        self._at = clock()

    def take(self) -> bool:
        """Tell whether one more call is within the limit."""
        now = self._clock()
        self._tokens = min(self._capacity, self._tokens + (now - self._at) * self._per_s)
        self._at = now
        # Tolerates rounding errors of the sum.
        if self._tokens < 1 and not math.isclose(self._tokens, 1):
            return False
        self._tokens -= 1
        return True
