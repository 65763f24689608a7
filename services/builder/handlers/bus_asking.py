"""Questions that travel as probes like any other, and replies that come back as responses.

All builders of a house share one durable, so a reply may be heard by any of them. Whoever hears it
writes it into the store, where the one that asked finds it by the id it has known beforehand.
"""

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime

from services.builder.domain.model_questions import ModelQuestion
from services.builder.handlers.asking import ModelReply
from shared.bus.port import Publisher
from shared.contracts import (
    Ending,
    Message,
    Probe,
    Purpose,
    Record,
    Response,
    Role,
    Target,
    response_id_of,
)
from shared.contracts.identity import derived_id
from shared.errors import TransientError
from shared.runtime.blocking import in_thread
from shared.store import Records

KEY = "builder."
"""How the keys of the builder's questions begin: other judges' replies are none of its business."""
LOOK_S = 0.5
"""How often the store is looked at without a sign: another builder may have heard the reply."""
AGAIN_S = 0.5


class Hear:
    """The handler of responses: keeps those to a builder's questions."""

    def __init__(self, records: Records) -> None:
        self._records = records
        self.heard = asyncio.Event()

    async def __call__(self, response: Response) -> Sequence[Record]:
        """Write the reply down, and wake whoever waits here."""
        if response.purpose is Purpose.JUDGE and response.probe.key.startswith(KEY):
            await in_thread(self._records.write, [response])
            self.heard.set()
        return ()


class BusModel:
    """Asks a model through the generator, which alone holds keys and limits."""

    def __init__(
        self,
        target: Target,
        build_id: str,
        publisher: Publisher,
        records: Records,
        hear: Hear,
        *,
        now: Callable[[], datetime],
        patience_s: float,
    ) -> None:
        self.name = target.name
        self._target = target
        self._build_id = build_id
        self._publisher = publisher
        self._records = records
        self._hear = hear
        self._now = now
        self._patience_s = patience_s

    async def ask(self, questions: Sequence[ModelQuestion]) -> list[ModelReply]:
        """Return a reply to every question; what was answered before is not asked again."""
        probes = [self._probe(question) for question in questions]
        ids = [response_id_of(probe) for probe in probes]
        found = await self._found(ids)
        for probe, id_ in zip(probes, ids, strict=True):
            if id_ not in found:
                await self._publish(probe)
        await self._wait(set(ids) - set(found), found)
        return [self._reply(found.get(id_)) for id_ in ids]

    def _probe(self, question: ModelQuestion) -> Probe:
        name = derived_id("question", question.kind, question.text, question.attempt)
        return Probe(
            purpose=Purpose.JUDGE,
            at=self._now(),
            run_id=self._build_id,
            key=KEY + name,
            unit_id=KEY + name,
            target=self._target,
            messages=(Message(role=Role.USER, content=question.text),),
        )

    async def _publish(self, probe: Probe) -> None:
        """Put a question on the bus; a full queue or a restarting bus is waited for.

        Raises
        ------
        TransientError
            The bus has taken no question for too long.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        while True:
            try:
                await self._publisher.publish(probe)
            except TransientError:
                if loop.time() - began > self._patience_s:
                    raise
                await asyncio.sleep(AGAIN_S)
            else:
                return

    async def _wait(self, missing: set[str], found: dict[str, Response]) -> None:
        """Wait until everything is there, or until nothing has come for too long."""
        loop = asyncio.get_running_loop()
        last = loop.time()
        while missing and loop.time() - last < self._patience_s:
            self._hear.heard.clear()
            new = await self._found(sorted(missing))
            if new:
                last = loop.time()
                found.update(new)
                missing -= set(new)
                continue
            try:
                async with asyncio.timeout(LOOK_S):
                    await self._hear.heard.wait()
            except TimeoutError:
                continue

    async def _found(self, ids: Sequence[str]) -> dict[str, Response]:
        def read() -> dict[str, Response]:
            return {response.id: response for response in self._records.get(Response, ids)}

        return await in_thread(read)

    def _reply(self, response: Response | None) -> ModelReply:
        if response is None:
            return ModelReply(None, f"no reply came within {self._patience_s:g} s")
        if response.ending is not Ending.ANSWERED:
            return ModelReply(None, f"the call ended as {response.reason or response.ending.value}")
        if response.text is None:
            return ModelReply(None, "the reply was purged")
        return ModelReply(response.text)
