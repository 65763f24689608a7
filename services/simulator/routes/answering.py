"""Requests in every wire format: the same models, faults and limits answer all of them."""

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
from biaswatch.services.simulator.routes.formats import (
    ANTHROPIC_MESSAGES,
    OPENAI_CHAT,
    OPENAI_RESPONSES,
    WireFormat,
)
from biaswatch.services.simulator.settings import SimulatorSettings
from biaswatch.shared.contracts.mistakes import first_mistake

# What tells calls apart; a client that cannot send headers names the repeat in the request.
REPEAT_HEADER = "X-Biaswatch-Repeat"
ATTEMPT_HEADER = "X-Biaswatch-Attempt"
FORMATS = (OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC_MESSAGES)


class SimulatedModels:
    """Answers as the models of the settings do."""

    def __init__(self, settings: SimulatorSettings, now: Callable[[], float]) -> None:
        self._settings, self._now = settings, now
        self._models = settings.models
        self._limiters = {
            name: TokenBucket(faults.most_per_s, clock=time.monotonic)
            for name, model in self._models.items()
            if (faults := model.faults or settings.faults).most_per_s
        }
        self._asked = {
            name: QuestionNumbers(model.settled_after)
            for name, model in self._models.items()
            if model.later
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
        """Answer one conversation."""
        if (refusal := self._key_refusal(request, wire)) is not None:
            return refusal
        try:
            wire_request = wire.read(await request.body())
        except ValidationError as wrong:
            mistake = first_mistake(wrong)
            said = f"The request is wrong at {mistake.in_words('its beginning')}."
            return wire.error(400, said, param=mistake.field or None)
        model = self._models.get(wire_request.model)
        if model is None:
            known = ", ".join(sorted(self._models))
            said = f"There is no model {wire_request.model!r}; there are: {known}."
            return wire.error(404, said, code="model_not_found", param="model")
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
        planted = self._now_planted(simulated, model)
        words = words_for(seed, simulated, planted, self._settings.markers)
        reply = reply_to(simulated, words, fault=fault, faults=faults, limit=limit)
        fingerprint = _fingerprint(seed, model)
        return JSONResponse(wire.answer_body(simulated, reply, fingerprint, int(self._now())))

    def _now_planted(self, request: SimulatedRequest, model: PlantedModel) -> PlantedModel:
        asked = self._asked.get(request.model)
        return model.asked_before(asked.before(request)) if asked else model

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
    if fault == "hang":  # nobody is listening any more
        return Response(status_code=499)
    return None


def _too_many(faults: Faults, wire: WireFormat) -> Response:
    refusal = wire.error(429, "Too many requests.", code="rate_limit_exceeded")
    refusal.headers["Retry-After"] = f"{faults.retry_after_s:g}"
    return refusal


def _fingerprint(seed: int, model: PlantedModel) -> str:
    """Return a name of what answers; it differs with the seed and with what is planted.

    What comes later is left out: such a model changes without saying so. So are errors of what
    reads its answers, which are not the model's own.
    """
    named = f"{seed}{model.model_dump_json(exclude={'later', 'reading_errors'})}".encode()
    return "fp_" + hashlib.blake2b(named, digest_size=5).hexdigest()


class QuestionNumbers:
    """How many different questions came before each; one that is sent again keeps its number."""

    def __init__(self, most: int) -> None:
        self._most = most
        """Numbers beyond this one make no difference, so these questions are not kept."""
        self._numbers: dict[bytes, int] = {}

    def before(self, request: SimulatedRequest) -> int:
        """Return how many other questions were answered before this one first came."""
        name = hashlib.blake2b("\n".join(request.purpose).encode(), digest_size=12).digest()
        if (known := self._numbers.get(name)) is not None:
            return known
        number = len(self._numbers)
        if number < self._most:
            self._numbers[name] = number
        return number


class TokenBucket:
    """A bucket that fills at a steady rate and holds a quarter of a second's worth, or one call."""

    def __init__(self, per_s: float, *, clock: Callable[[], float]) -> None:
        self._per_s = per_s
        self._most = max(1.0, per_s / 4)
        self._clock = clock
        self._held = self._most
        self._at = clock()

    def take(self) -> bool:
        """Tell whether one more call is within the limit."""
        now = self._clock()
        self._held = min(self._most, self._held + (now - self._at) * self._per_s)
        self._at = now
        # A hair's breadth is forgiven: sums of many small parts miss a whole by that much.
        if self._held < 1 and not math.isclose(self._held, 1):
            return False
        self._held -= 1
        return True
