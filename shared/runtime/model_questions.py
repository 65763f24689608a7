"""Questions that a service puts to models: published as probes, answered by responses.

The id of a reply follows from its question, so that a redelivery, a kill or a second replica asks
nothing twice. All replicas share one durable: whoever receives a reply writes it into the store,
where the one that waits for it finds it.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from pydantic import JsonValue

from biaswatch.shared.contracts import (
    Cancellation,
    Probe,
    Purpose,
    Record,
    Response,
    response_id_of,
)
from biaswatch.shared.runtime.blocking import in_thread
from biaswatch.shared.runtime.follow_up import FollowUp
from biaswatch.shared.runtime.gather import Gather, OnClose, Reconciliation
from biaswatch.shared.store import Closing, Records, Store
from biaswatch.shared.telemetry import log

MOST_ASKED_AGAIN = 2000
"""How many questions of a run are asked again at one look."""
LOOK_EVERY_S = 0.5
"""How often the store is read without a sign: another replica may have received the reply."""


class ModelReplies:
    """The replies to one service's questions, by the id of the response."""

    def __init__(self, records: Records, key_prefix: str) -> None:
        self._records = records
        self._key_prefix = key_prefix
        self._kept = asyncio.Event()

    async def keep(self, batch: Sequence[Response]) -> list[Response]:
        """Write the replies to this service's questions into the store, and return them."""
        own = [
            response
            for response in batch
            if response.probe.purpose is Purpose.JUDGE
            and response.probe.key.startswith(self._key_prefix)
        ]
        if own:
            await in_thread(self._records.write, own)
            self._kept.set()
        return own

    def find(self, ids: Collection[str]) -> dict[str, Response]:
        """Return the replies that are there; it blocks."""
        return {response.id: response for response in self._records.get(Response, ids)}

    async def wait(self, ids: Collection[str], *, idle_s: float) -> dict[str, Response]:
        """Return the replies once all are there, or once none has come for so long."""
        found: dict[str, Response] = {}
        loop = asyncio.get_running_loop()
        last = loop.time()
        while missing := sorted(set(ids) - found.keys()):
            self._kept.clear()
            if new := await in_thread(self.find, missing):
                last = loop.time()
                found |= new
            elif loop.time() - last >= idle_s:
                break
            else:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_EVERY_S):
                        await self._kept.wait()
        return found


@dataclass(frozen=True)
class QuestionSet:
    """Questions that are waited for together."""

    key: str
    """Its name; sets of one run begin with `<run>/`."""
    probes: Sequence[Probe]
    context: Mapping[str, JsonValue] = field(default_factory=dict)
    """All that is needed to read the replies, whoever closes the set."""


class ModelQuestions:
    """Sets of questions; each is closed once: by its replies, its deadline or a cancellation."""

    def __init__(
        self,
        store: Store,
        stage: str,
        key_prefix: str,
        on_close: OnClose,
        *,
        now: Callable[[], datetime],
        deadline_s: float,
    ) -> None:
        self.replies = ModelReplies(store.records, key_prefix)
        self.gather = Gather(store.gathers(stage), on_close, now=now)
        self._records = store.records
        self._paused_targets = store.paused_targets
        self._gathers = store.gathers(stage)
        self._stage = stage
        self._now = now
        self._deadline_s = deadline_s

    async def expect(self, sets: Sequence[QuestionSet], *, reopen: bool = False) -> list[Probe]:
        """Wait for the replies to all questions, and return the questions that have none yet.

        Call it before anything is published. With `reopen`, a set that was given up before is
        waited for again.
        """
        unanswered = await in_thread(self.expect_now, sets, reopen)
        self.gather.wake()  # a set whose replies were all there has closed
        return unanswered

    def expect_now(self, sets: Sequence[QuestionSet], reopen: bool = False) -> list[Probe]:
        """Do the same; it blocks."""
        now = self._now()
        deadline = now + timedelta(seconds=self._deadline_s)
        ids = {response_id_of(probe) for each in sets for probe in each.probes}
        missing = self._records.missing(Response, ids)
        unanswered: list[Probe] = []
        for each in sets:
            by_id = {response_id_of(probe): probe for probe in each.probes}
            begun = self._gathers.expect(
                each.key,
                by_id,
                deadline=deadline,
                now=now,
                context=each.context,
                already=by_id.keys() - missing,
            )
            if reopen and not begun:
                self._gathers.reopen(each.key, deadline=deadline, now=now)
            unanswered += [probe for id_, probe in by_id.items() if id_ in missing]
        return unanswered

    async def arrive(self, replies: Sequence[Response]) -> None:
        """Note replies that are in the store; a set that is complete closes."""
        if replies:
            await self.gather.arrive([reply.id for reply in replies])

    async def cancel(self, run_id: str) -> None:
        """Close the open sets of a run with the replies that are there."""
        await in_thread(lambda: self.close_now(self._open_sets(run_id)))
        self.gather.wake()

    def close_now(self, keys: Iterable[str]) -> None:
        """Close these sets, where they are open, with the replies that are there; it blocks."""
        for key in keys:
            self._gathers.cancel(key, self._now())

    def _cancelled(self, run_id: str) -> bool:
        """Close the sets of a run whose cancellation the store has; its message was lost."""
        cancellations = list(self._records.read(Cancellation, run_id=run_id))
        ended = [
            key
            for key in self._open_sets(run_id)
            if (opened := self._gathers.opened_at(key))
            and any(each.came_after(opened) for each in cancellations)
        ]
        for key in ended:
            self._gathers.cancel(key, self._now())
        return bool(ended)

    def _open_sets(self, run_id: str) -> list[str]:
        return [key for key in self._gathers.open_keys() if key.startswith(f"{run_id}/")]

    def follow_up(self, on_close: OnClose) -> FollowUp:
        """Return the job that publishes again what closed sets led to, until the store has it."""

        def not_stored(closing: Closing) -> list[Record]:
            led_to = [each for each in on_close(closing) if not isinstance(each, Probe)]
            return [each for each in led_to if self._records.missing(type(each), [each.id])]

        def lacking(closing: Closing) -> int:
            return len(not_stored(closing))

        return FollowUp(self._gathers, lacking, not_stored, now=self._now, stage=self._stage)

    def reconciliation(self, probes_of_run: Callable[[str], Iterable[Probe]]) -> Reconciliation:
        """Return the job that asks again what no model answers."""

        def ask_again(run_id: str, ids: set[str]) -> list[Record]:
            if self._cancelled(run_id):
                return []
            arrived = ids - self._records.missing(Response, ids)
            if arrived:  # the replies are there; only the news of them was lost
                self._gathers.arrive(arrived, self._now())
            silent = ids - arrived
            paused = {each.lane for each in self._paused_targets.read()}
            unanswered = (
                each
                for each in probes_of_run(run_id)
                if response_id_of(each) in silent and each.lane not in paused
            )
            probes: list[Record] = list(islice(unanswered, MOST_ASKED_AGAIN))
            if probes:
                log(self._stage).warning(
                    "no model replies: asking again", run=run_id, questions=len(probes)
                )
            return probes

        return Reconciliation(self._waited_for, ask_again, now=self._now)

    def _waited_for(self) -> dict[str, set[str]]:
        waiting: dict[str, set[str]] = {}
        for key in self._gathers.open_keys():
            waiting.setdefault(key.partition("/")[0], set()).update(self._gathers.waiting_for(key))
        return waiting
