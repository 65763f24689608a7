"""Sources of replies to the builder: a model over the bus, a script, or none."""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path

from biaswatch.building.model_questions import ModelQuestion, ModelReply
from biaswatch.building.settings import KEY_PREFIX
from biaswatch.shared.bus.port import Publisher
from biaswatch.shared.contracts import (
    Ending,
    Message,
    Probe,
    Purpose,
    Response,
    Role,
    Target,
    derived_id,
    response_id_of,
)
from biaswatch.shared.errors import TransientError, UsageError
from biaswatch.shared.files import json_lines, read_text
from biaswatch.shared.runtime.model_questions import ModelReplies
from biaswatch.shared.runtime.threads import in_thread

RETRY_S = 0.5


class NoModel:
    """Answers no question, for plans without any."""

    name = "nobody"

    async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
        """Return a missing reply for each question."""
        return [ModelReply(None, "the plan names no model") for _ in questions]


class ScriptedModel:
    """Answers from a script, one line for each question."""

    name = "a script: no model was asked"

    def __init__(self, file: Path) -> None:
        self._replies: dict[tuple[str, str], list[str]] = {}
        for where, entry in json_lines(read_text(file, "script"), file):
            try:
                key, reply = (str(entry["kind"]), str(entry["about"])), str(entry["reply"])
            except (TypeError, KeyError):
                problem = "a reply is a JSON object with kind, about and reply."
                raise UsageError(f"{where}: {problem}") from None
            self._replies.setdefault(key, []).append(reply)

    async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
        """Return the scripted replies; one without a line is missing."""
        return [self._reply(question) for question in questions]

    def _reply(self, question: ModelQuestion) -> ModelReply:
        written = self._replies.get((question.kind, question.about), [])
        if question.attempt < len(written):
            return ModelReply(written[question.attempt])
        return ModelReply(None, "the script has no reply to it")


class BusModel:
    """Asks a model through the generator, which holds the keys and limits."""

    def __init__(
        self,
        target: Target,
        build_id: str,
        publisher: Publisher,
        replies: ModelReplies,
        *,
        now: Callable[[], datetime],
        idle_s: float,
    ) -> None:
        self.name = target.name
        self._target = target
        self._build_id = build_id
        self._publisher = publisher
        self._replies = replies
        self._now = now
        self._idle_s = idle_s

    async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
        """Return a reply to every question; known replies are reused."""
        probes = [self._probe(question) for question in questions]
        ids = [response_id_of(probe) for probe in probes]
        known = await in_thread(self._replies.find, ids)
        for probe, id_ in zip(probes, ids, strict=True):
            if id_ not in known:
                await self._publish(probe)
        responses = known | await self._replies.wait(set(ids) - set(known), idle_s=self._idle_s)
        return [self._reply(responses.get(id_)) for id_ in ids]

    def _probe(self, question: ModelQuestion) -> Probe:
        name = derived_id("question", question.kind, question.text, question.attempt)
        return Probe(
            purpose=Purpose.JUDGE,
            at=self._now(),
            run_id=self._build_id,
            key=KEY_PREFIX + name,
            unit_id=KEY_PREFIX + name,
            target=self._target,
            messages=(Message(role=Role.USER, content=question.text),),
        )

    async def _publish(self, probe: Probe) -> None:
        """Publish a question; raise TransientError if the bus stays unavailable."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            try:
                await self._publisher.publish(probe)
            except TransientError:
                if loop.time() - began > self._idle_s:
                    raise
                await asyncio.sleep(RETRY_S)
            else:
                return

    def _reply(self, response: Response | None) -> ModelReply:
        if response is None:
            return ModelReply(None, f"no reply came within {self._idle_s:g} s")
        if response.ending is not Ending.ANSWERED:
            return ModelReply(None, f"the call ended as {response.reason or response.ending.value}")
        if response.text is None:
            return ModelReply(None, "the reply was purged")
        return ModelReply(response.text)
